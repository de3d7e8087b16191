"""The task every product is given, and how each is measured. Standard library only: it runs in every environment.

A file of companies, each with a sentence that says when it was founded; wanted is the year, for every row.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

QUESTION = "In which year was {Company} founded?"
# The number of a company that stands alone in a file of its own: what is imported at the first call is not timed.
WARM_UP = 999_999


def year_of(number: int) -> int:
    return 1500 + number * 7 % 500


def company(number: int) -> dict[str, str]:
    name = f"Company {number}"
    about = f"{name} was founded in {year_of(number)} by two sisters. It makes kettles, and it exports most of them."
    return {"Company": name, "About": about}


def write_file(path: Path, numbers: range) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["Company", "About"])
        writer.writeheader()
        writer.writerows(company(number) for number in numbers)


@dataclass(frozen=True)
class Job:
    """What a script of this folder is told on its command line."""

    base_url: str
    folder: Path
    rows: int
    concurrency: int

    @classmethod
    def from_arguments(cls) -> Job:
        base_url, folder, rows, concurrency = sys.argv[1:5]
        return cls(base_url, Path(folder), int(rows), int(concurrency))

    def files(self) -> tuple[Path, Path]:
        """The warm-up and the real one, newly written."""
        warm_up, companies = self.folder / "warm_up.csv", self.folder / "companies.csv"
        write_file(warm_up, range(WARM_UP, WARM_UP + 1))
        write_file(companies, range(self.rows))
        return warm_up, companies


class Measured:
    """Wall time, and CPU time of all threads, of what happens inside `timed`."""

    seconds = cpu = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        started, worked = time.perf_counter(), time.process_time()
        yield
        self.seconds, self.cpu = time.perf_counter() - started, time.process_time() - worked

    def report(self, job: Job, years: Mapping[str, object]) -> None:
        """`years` by the company's name. Years are compared as texts: some give 1917, some "1917"."""
        right = sum(str(years.get(f"Company {number}")) == str(year_of(number)) for number in range(job.rows))
        print(json.dumps({"seconds": self.seconds, "cpu": self.cpu, "right": right}))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
