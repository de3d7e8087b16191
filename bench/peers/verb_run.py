"""Ours as a program calls it, in a new process: `tablewright.enrich`, from its call to its result, nothing warmed up.

The argument after the usual ones is the number of rows a call; 0 leaves it to the product.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from task import QUESTION, Job, rows_of, year_of

import tablewright as tw


class FirstConnection:
    """How much CPU this process had used when it first connected to the model."""

    def __init__(self, base_url: str) -> None:
        self.cpu = 0.0
        self._port = urlsplit(base_url).port
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and not self.cpu and arguments[1][1] == self._port:
            self.cpu = time.process_time()


def main(job: Job, rows_a_call: int) -> None:
    _, file = job.files()
    rows = rows_of(file)
    question = f"{QUESTION} It stands in {{About}}."
    first = FirstConnection(job.base_url)
    called, worked = time.time(), time.process_time()
    table = tw.enrich(
        rows,
        {"Founded:number": question},
        strategy="transform",
        params={"rows_a_call": rows_a_call} if rows_a_call else None,
        model="openai:bench",
        model_base_url=f"{job.base_url}/v1",
        model_api_key="x",
        concurrency=job.concurrency,
        progress=False,
    )
    seconds, cpu = time.time() - called, time.process_time() - worked
    right = sum(str(row["Founded"]) == str(year_of(number)) for number, row in enumerate(table.rows))
    told = {"seconds": seconds, "cpu": cpu, "right": right, "called": called, "first_cpu": first.cpu - worked}
    print(json.dumps(told))


if __name__ == "__main__":
    main(Job.from_arguments(), int(sys.argv[5]))
