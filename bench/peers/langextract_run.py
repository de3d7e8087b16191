"""langextract: the texts as documents, one example, all in one batch, which is the fastest it can be told to be."""

from __future__ import annotations

import gc
import warnings

import langextract
from task import QUESTION, Job, Measured, rows_of

EXAMPLE = langextract.data.ExampleData(
    text="Company A was founded in 1899 in a barn.",
    extractions=[langextract.data.Extraction(extraction_class="founded", extraction_text="1899")],
)


def main(job: Job) -> None:
    measured = Measured()
    warnings.simplefilter("ignore")
    for file in job.files():
        documents = [langextract.data.Document(text=row["About"], document_id=row["Company"]) for row in rows_of(file)]
        config = langextract.factory.ModelConfig(
            model_id="bench",
            provider="openai",
            provider_kwargs={"api_key": "x", "base_url": f"{job.base_url}/v1", "max_workers": job.concurrency},
        )
        gc.collect()
        gc.freeze()
        with measured.timed():
            found = langextract.extract(
                documents,
                prompt_description=QUESTION.format(Company="the company"),
                examples=[EXAMPLE],
                config=config,
                batch_length=job.rows,
                max_workers=job.concurrency,
                show_progress=False,
            )
    grounded = {
        document.document_id: extraction.extraction_text
        for document in found
        for extraction in document.extractions or []
        if extraction.char_interval is not None
    }
    measured.report(job, grounded)


if __name__ == "__main__":
    main(Job.from_arguments())
