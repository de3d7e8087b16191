"""How long one request keeps the server from answering the others: the longest gap in its event loop.

    python bench/loop.py [--only WORDS,WORDS]

Large and hostile things go through each door of a server, from a process of their own, while a task in the server's
event loop notes how long the loop's thread has worked since it last came by, and another thread where it is stuck. What
the machine does for others meanwhile does not count, and is told beside it. Each door is opened once before, with
something small: what is loaded once is no gap. Ends with 1 where a gap is longer than 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import http.server
import io
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.hostile import multiplying_robots, swelling_pdf, swelling_workbook
from tests.interfaces.server.serving import Served, served

LIMIT = 0.1
BEAT = 0.005
NOTED = LIMIT / 2
MOST_SECONDS = 600
WORDS = "harbour lantern copper meadow winter engine paper garden signal orchard".split()


class Loop:
    """The event loop of the server, watched: by a task in it, and by a thread that sees where it is stuck."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._beat = time.perf_counter()
        self._longest = self._waited = 0.0
        self._where: Counter[str] = Counter()
        self._thread_id = server.do(self._begin)
        threading.Thread(target=self._watch, daemon=True).start()

    async def _begin(self, _: object) -> int:
        self._task = asyncio.create_task(self._tick())
        return threading.get_ident()

    async def _tick(self) -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(BEAT)
            now, worked = time.perf_counter(), time.thread_time()
            self._longest = max(self._longest, worked - before)
            self._waited = max(self._waited, now - self._beat - BEAT)
            self._beat, before = now, worked

    def _watch(self) -> None:
        while True:
            time.sleep(BEAT)
            if time.perf_counter() - self._beat > NOTED and (frame := sys._current_frames().get(self._thread_id)):
                self._where[place_of(frame)] += 1

    def begin(self) -> None:
        self._longest = self._waited = 0.0
        self._where.clear()

    def told(self) -> tuple[float, float, list[tuple[str, int]]]:
        """The longest gap, the longest with what the machine did for others, and where it was stuck."""
        return self._longest, self._waited, self._where.most_common(3)


def place_of(frame: FrameType) -> str:
    """The innermost function, and the innermost of ours."""
    at: FrameType | None = frame
    ours = []
    while at is not None:
        if "/tablewright/" in at.f_code.co_filename:
            ours.append(f"{Path(at.f_code.co_filename).name}:{at.f_lineno} {at.f_code.co_name}")
        at = at.f_back
    inner = f"{Path(frame.f_code.co_filename).name} {frame.f_code.co_name}"
    return " < ".join([inner, *ours[:3]])


# ── a web with large pages ───────────────────────────────────────────────────────────────────────────────────────────


def large_page(size: int = 2_000_000) -> str:
    """Ends nowhere, says much, and has a table, a list, structured data and many marks."""
    facts = "".join(f"<tr><td>{word} {at}</td><td>{at * 7}</td></tr>" for at in range(4_000) for word in WORDS[:2])
    prose = "".join(f"<div><p>{' '.join(WORDS)} Acme {at} was founded in 19{at % 90 + 10}.</p>" for at in range(20_000))
    data = json.dumps([{"@type": "Organization", "name": f"Acme {at}", "foundingDate": "1951"} for at in range(2_000)])
    start = f'<html><head><title>Acme</title><script type="application/ld+json">{data}</script></head><body>'
    return (start + f"<table>{facts}</table>" + prose)[:size]


@contextmanager
def web(page: bytes, kind: str = "text/html") -> Iterator[str]:
    """A search engine of which each result is the same large page."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = f"http://127.0.0.1:{self.server.server_address[1]}"
            if self.path.startswith("/search"):
                found = [{"url": f"{address}/{at}", "title": f"Acme {at}", "content": "Acme"} for at in range(3)]
                content, said = json.dumps({"results": found}).encode(), "application/json"
            elif self.path == "/robots.txt":
                content, said = multiplying_robots().encode(), "text/plain"
            else:
                content, said = page, kind
            self.send_response(200)
            self.send_header("Content-Type", said)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────

Send = Callable[[httpx2.Client], Any]


def large_csv() -> bytes:
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow([f"Column {at}" for at in range(20)])
    rows.writerows([f"{WORDS[at % 10]} {row}-{at}" for at in range(20)] for row in range(50_000))
    return file.getvalue().encode()


def wide_csv(columns: int = 10_000) -> bytes:
    line = ",".join(f"{WORDS[at % 10]} {at}" for at in range(columns))
    return "\n".join([line] * 21).encode()


def deep_markdown() -> bytes:
    nested = "".join(f"{'  ' * at}- {'> ' * at}item {at}\n" for at in range(400))
    return (nested + "*_" * 50_000 + "[" * 20_000 + "`" * 2_048 + "\n|a|b|\n|-|-|\n" + "|x|y|\n" * 10_000).encode()


def importing(name: str, content: bytes) -> Send:
    return lambda http: http.post("/api/v1/tables/import", files={"file": (name, content)})


def documents(name: str, content: bytes) -> Send:
    return lambda http: http.post("/api/v1/documents", files={"files": (name, content)})


def workbook(rows: int = 20_000) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in range(rows):
        sheet.append([f"{WORDS[at]} {row}" for at in range(10)])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def table_of(value: str) -> Send:
    """A table with one cell, and a run over it that only computes."""
    return lambda http: http.post("/api/v1/tables", json={"name": "t", "rows": [{"A": value}]})


def rows_of_json(http: httpx2.Client) -> Any:
    rows = [{"A": f"{WORDS[at % 10]} {at}", "B": at, "C": "x" * 20} for at in range(25_000)]
    return http.post("/api/v1/tables", json={"name": "many rows", "rows": rows})


def coerced(http: httpx2.Client) -> Any:
    """Values that a number, a date and a list are to be read from."""
    hostile = ["```" * 700, "1,1" * 700, "(" * 2_000, "9" * 2_000, "- " * 1_000, "a" * 2_000, "\t \n" * 700 + "x"]
    made = http.post("/api/v1/tables", json={"name": "odd", "rows": [{"A": value} for value in hostile]})
    table_id = made.json()["table_id"]
    answers = []
    for kind in ("number", "date", "money", "list", "boolean", "url"):
        http.post(f"/api/v1/tables/{table_id}/fields", json={"name": kind, "type": kind})
        for at, value in enumerate(hostile, start=1):
            answers.append(http.put(f"/api/v1/tables/{table_id}/rows/{at}/cells/{kind}", json={"value": value}))
    return answers[-1]


def run(http: httpx2.Client, asked: dict[str, Any], rows: list[dict[str, Any]], name: str) -> Any:
    made = http.post("/api/v1/tables", json={"name": name, "rows": rows})
    begun = http.post(f"/api/v1/tables/{made.json()['table_id']}/runs", json=asked)
    if begun.status_code >= 400:
        return begun
    until = time.monotonic() + MOST_SECONDS
    while time.monotonic() < until:
        answer = http.get(f"/api/v1/runs/{begun.json()['run_id']}")
        if answer.json()["status"] not in ("running", "stopping"):
            return answer
        time.sleep(0.2)
    return answer


def formula(text: str, rows: int = 5_000) -> Send:
    asked = {"fields": [{"name": "B", "type": "number", "question": text}], "strategy": "computation"}
    return lambda http: run(http, asked, [{"A": at} for at in range(rows)], f"formula of {len(text)} {text[:4]}")


def fetched(http: httpx2.Client) -> Any:
    asked = {"fields": ["Founded:number=What year was {Company} founded?"]}
    return run(http, asked, [{"Company": f"Acme {at}"} for at in range(3)], "fetched")


def question(text: str) -> Send:
    return lambda http: http.post("/api/v1/ask", json={"question": text})


def exported(http: httpx2.Client, table: str = "large") -> Any:
    """What was imported before, as each kind of file."""
    for kind in ("csv", "xlsx", "json", "md"):
        answer = http.get(f"/api/v1/tables/{table}/export", params={"format": kind})
    return answer


def researched(text: str) -> Send:
    return lambda http: http.post("/api/v1/research/plan", json={"question": text})


def shortlist(text: str) -> Send:
    return lambda http: http.post("/api/v1/shortlists", json={"message": text})


CASES: dict[str, Send] = {
    "a CSV file of 50,000 × 20": importing("large.csv", large_csv()),
    "a CSV file of 20 × 10,000": importing("wide.csv", wide_csv()),
    "rows of 10,000 columns": lambda http: http.get("/api/v1/tables/wide/rows"),
    "a value of 3 MB of apostrophes": importing("marks.csv", b"A,B\n" + b"'" * 3_000_000 + b",1\n"),
    "a workbook of 20,000 × 10": importing("book.xlsx", workbook()),
    "a workbook that swells": importing("swelling.xlsx", swelling_workbook()),
    "1.5 MB of rows as JSON": rows_of_json,
    "JSON 100,000 deep": lambda http: http.post(
        "/api/v1/tables", content='{"name": "x", "rows": ' + "[" * 100_000 + "]" * 100_000 + "}"
    ),
    "a cell of 1.9 MB": table_of("x" * 1_900_000),
    "2 KB of fences, digits and marks to coerce": coerced,
    "a formula of 490 sums": formula("+".join(["{A}"] * 490)),
    "a formula 990 deep": formula("(" * 990 + "{A}" + ")" * 990),
    "a formula with powers": formula("9^9^9^9^9"),
    "a document of deep Markdown": documents("deep.md", deep_markdown()),
    "a document of 1 MB of text": documents("long.txt", (" ".join(WORDS) + ".\n").encode() * 15_000),
    "a document of 2 MB of HTML": documents("page.html", large_page().encode()),
    "a PDF that swells": documents("swelling.pdf", swelling_pdf()),
    "a question of 500 words": question(" ".join(WORDS * 50)),
    "a question of marks": question("((((" * 500),
    "a question about the documents": question("When was Acme founded?"),
    "a research question of 500 words": researched(" ".join(WORDS * 50)),
    "a shortlist wish of 500 words": shortlist(" ".join(WORDS * 50)),
    "exports": exported,
    "pages of 2 MB, fetched and read": fetched,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="Cases with one of these in their name; separated by commas.")
    parser.add_argument("--send", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.send:
        send_cases()
        return 0
    command = [sys.executable, __file__, "--send"]
    longest = []
    with (
        tempfile.TemporaryDirectory(prefix="loop-") as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender,
    ):
        assert sender.stdin is not None
        assert sender.stdout is not None
        search = f"searxng:{sender.stdout.readline().strip()}"
        with served(Path(folder), search=search, fetch_allow="127.0.0.1", works=True) as server:
            loop = Loop(server)
            print(server.url, file=sender.stdin, flush=True)
            sender.stdout.readline()
            for name in (name for name in CASES if any(words in name for words in given.only.split(","))):
                loop.begin()
                began = time.perf_counter()
                print(name, file=sender.stdin, flush=True)
                answer = sender.stdout.readline().strip()
                longest.append(told(loop, name, answer, time.perf_counter() - began))
        sender.stdin.close()
    return 0 if max(longest) <= LIMIT else 1


def told(loop: Loop, name: str, answer: str, seconds: float) -> float:
    gap, waited, where = loop.told()
    held = "holds" if gap <= LIMIT else "DOES NOT HOLD"
    print(f"{held}: {name}: {gap * 1000:.0f} ms ({waited * 1000:.0f} with others) of {seconds:.1f} s; {answer[:150]}")
    for place, times in where if gap > LIMIT else []:
        print(f"    {times} × {place}")
    sys.stdout.flush()
    return gap


def send_cases() -> None:
    """In a process of its own: the web, and whoever asks the server for what its input says."""
    with web(large_page().encode()) as address:
        print(address, flush=True)
        with httpx2.Client(base_url=sys.stdin.readline().strip(), trust_env=False, timeout=MOST_SECONDS) as http:
            open_doors(http)
            print("ready", flush=True)
            for line in sys.stdin:
                answer = CASES[line.strip()](http)
                print(answer.status_code, answer.text[:200].replace("\n", " ") if answer.is_error else "", flush=True)


def open_doors(http: httpx2.Client) -> None:
    importing("small.csv", b"A,B\n1,2\n")(http)
    importing("small.xlsx", workbook(2))(http)
    for name in ("small.md", "small.html", "small.txt"):
        documents(name, b"Acme was founded in 1951.")(http)
    formula("{A} + 1", rows=2)(http)
    question("When was Acme founded?")(http)
    researched("When was Acme founded?")(http)
    shortlist("a kettle")(http)
    exported(http, "small")
    fetched(http)


if __name__ == "__main__":
    sys.exit(main())
