"""Our model client alone: the same questions asked with `LanguageModel.ask`, without engine, store and cache."""

from __future__ import annotations

import asyncio
import gc

from tablewright_run import INSTRUCTIONS, Founded, prompt, settings_for
from task import QUESTION, Job, Measured, rows_of

from tablewright.llm.build import build_model


async def main(job: Job) -> None:
    measured = Measured()
    model = build_model(settings_for(job))
    assert model is not None
    years: dict[str, str] = {}

    async def work(waiting: list[dict[str, str]]) -> None:
        while waiting:
            row = waiting.pop()
            question = QUESTION.format(**row)
            said = await model.ask(instructions=INSTRUCTIONS, prompt=prompt(question, row["About"]), output=Founded)
            years[row["Company"]] = said.value

    async with model:
        for file in job.files():
            waiting = rows_of(file)
            gc.collect()
            gc.freeze()
            with measured.timed():
                await asyncio.gather(*(work(waiting) for _ in range(job.concurrency)))
    measured.report(job, years)


if __name__ == "__main__":
    asyncio.run(main(Job.from_arguments()))
