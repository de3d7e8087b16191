"""For `chaos.py`: what hostile input costs `tablewright serve`, in memory, on disk and for everybody else.

Each case has a server of its own, started as people start it. While it computes over the input, which came by REST,
another client asks `/health` again and again, and the memory of the server and of all its workers is added up.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from chaos_places import Options, hold

MB = 1024**2
# Of the server and its workers together.
HOLD_GROWTH = 500 * MB
HOLD_HEALTH = 0.2
HOLD_DISK = 100 * MB
# Of address space, for each process: what takes more must not cost the machine its others.
CAP = 6 * 1024 * MB
EVERY = 0.02
LONGEST = 300.0
OVER = ("done", "failed", "cancelled", "paused", "over_budget")

Send = Callable[[httpx2.Client], str]


@dataclass
class Watched:
    """The most memory of a process with all that it started, and how long `/health` took."""

    pid: int
    url: str
    peak: int = 0
    slowest: float = 0.0
    answers: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def add_up(self) -> None:
        while not self.over.wait(EVERY):
            self.peak = max(self.peak, memory_of(self.pid))

    def ask(self) -> None:
        with httpx2.Client(base_url=self.url, trust_env=False, timeout=LONGEST) as client:
            while not self.over.wait(EVERY):
                began = time.monotonic()
                client.get("/health").raise_for_status()
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.answers += 1


def memory_of(pid: int) -> int:
    """Resident bytes of a process and of all that it started."""
    total, waiting = 0, [pid]
    while waiting:
        at = Path("/proc") / str(waiting.pop())
        try:
            total += int((at / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (at / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
    return total


@contextmanager
def watching(pid: int, url: str) -> Iterator[Watched]:
    watched = Watched(pid, url)
    threads = [threading.Thread(target=work, daemon=True) for work in (watched.add_up, watched.ask)]
    for thread in threads:
        thread.start()
    try:
        yield watched
    finally:
        watched.over.set()
        for thread in threads:
            thread.join(LONGEST)


@contextmanager
def serving(home: Path) -> Iterator[tuple[str, int]]:
    """The address of a server, and its process's id."""
    settings = {"HOME": str(home), "SEARCH": "sample", "MODEL": "builtin", "FETCH_DELAY": "0"}
    environ = {**os.environ, **{f"TABLEWRIGHT_{name}": value for name, value in settings.items()}}
    command = [str(Path(sys.executable).with_name("tablewright")), "serve", "--port", "0"]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (CAP, CAP))

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ, preexec_fn=limited) as process:  # noqa: PLW1509
        assert process.stderr is not None
        said = ""
        try:
            while not (address := re.search(r"http://[\d.:]+", said)):
                line = process.stderr.readline()
                if not line:
                    raise RuntimeError(f"The server did not start: {said}")
                said += line
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield address[0].rstrip(".:"), process.pid
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def disk_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def compute(name: str, formula: str, rows: list[dict[str, Any]], kind: str = "text") -> Send:
    """A run over a table; says what became of its cells."""

    def send(http: httpx2.Client) -> str:
        table = http.post("/api/v1/tables", json={"name": name, "rows": rows}).raise_for_status().json()
        asked = {"fields": [{"name": "Out", "type": kind, "question": formula}], "strategy": "computation"}
        run = http.post(f"/api/v1/tables/{table['table_id']}/runs", json=asked).raise_for_status().json()
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            report = http.get(f"/api/v1/runs/{run['run_id']}").raise_for_status().json()
            if report["status"] in OVER:
                return f"{report['status']}: {report['found']} cells, empty {report['empty']}, {report['error']}"
            time.sleep(0.1)
        return "not over"

    return send


def document(name: str, content: str) -> Send:
    def send(http: httpx2.Client) -> str:
        answer = http.post("/api/v1/documents", files={"files": (name, content.encode())})
        return f"{answer.status_code} {answer.text[:120]}"

    return send


LETTERS = 60_000
WIDE = "x" * 100_000
CHINESE = "这台逆变器把太阳能电池板的直流电转换成交流电并且必须始终保持干燥"
CASES: dict[str, Send] = {
    "60,000 letters in SUBSTITUTE": compute(
        "letters", "SUBSTITUTE({A}, 'x', {B})", [{"A": "x" * LETTERS, "B": "y" * LETTERS}]
    ),
    "a template × 600 over cells of 100,000 letters": compute(
        "template", f"'{'{A}' * 600}'", [{"A": WIDE} for _ in range(15)]
    ),
    "70 texts made by one formula": compute(
        "many", f"CONCAT({','.join(['SUBSTITUTE({A},1,22)'] * 70)})", [{"A": WIDE} for _ in range(15)]
    ),
    "250 columns added up in 5,000 rows": compute(
        "sums", f"SUM({','.join(['{A}'] * 250)})", [{"A": at} for at in range(5_000)], "number"
    ),
    "800 KB of a[": document("brackets.txt", "a[" * 400_000),
    "800 KB of one letter": document("letter.txt", "x" * 800_000),
    "800 KB of Chinese without a sentence's end": document("chinese.txt", CHINESE * (800_000 // len(CHINESE.encode()))),
    "800 KB of words": document("words.txt", "The harbour was built of grey stone in 1874. " * 18_000),
}


def governors_part(options: Options) -> bool:
    held = [is_governed(name, send) for name, send in CASES.items()]
    return all(held)


def is_governed(name: str, send: Send) -> bool:
    with tempfile.TemporaryDirectory(prefix="governors-") as folder, serving(Path(folder)) as (url, pid):
        with httpx2.Client(base_url=url, trust_env=False, timeout=LONGEST) as http:
            compute("small", "{A} & 'b'", [{"A": "a"}])(http)  # what is loaded once is no growth
            document("small.txt", "The harbour was built of grey stone in 1874.")(http)
            before, empty = memory_of(pid), disk_of(Path(folder))
            began = time.monotonic()
            with watching(pid, url) as watched:
                try:
                    said = send(http)
                except httpx2.HTTPError as error:
                    said = f"{type(error).__name__}: {error}"
            seconds = time.monotonic() - began
        grown, written = max(0, watched.peak - before), disk_of(Path(folder)) - empty
    print(f"{name}: {seconds:.1f} s; {said}")
    slowest = f"/health took {watched.slowest:.3f} s at most, of {watched.answers:,} times"
    return all(
        [
            hold(f"{grown / MB:,.0f} MB more memory, with all workers", grown <= HOLD_GROWTH),
            hold(f"{written / MB:,.0f} MB more on disk", written <= HOLD_DISK),
            hold(slowest, watched.slowest <= HOLD_HEALTH),
        ]
    )
