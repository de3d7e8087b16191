"""accrue: one LLMStep over the rows, cache on as it is by default, without progress bar."""

from __future__ import annotations

import gc

import pandas
from accrue import EnrichmentConfig, LLMStep, Pipeline
from task import QUESTION, Job, Measured


def main(job: Job) -> None:
    measured = Measured()
    config = EnrichmentConfig(
        max_workers=job.concurrency, cache_dir=str(job.folder / "accrue"), enable_progress_bar=False, log_level="ERROR"
    )
    for file in job.files():
        rows = pandas.read_csv(file)
        step = LLMStep(
            "founded",
            fields={"founded": {"prompt": QUESTION.format(Company="the company"), "type": "Number"}},
            model="bench",
            base_url=f"{job.base_url}/v1",
            api_key="x",
            structured_outputs=True,
        )
        gc.collect()
        gc.freeze()
        with measured.timed():
            result = Pipeline([step]).run(rows, config)
    found = zip(result.data["Company"], result.data["founded"], strict=True)
    measured.report(job, {name: int(year) for name, year in found})


if __name__ == "__main__":
    main(Job.from_arguments())
