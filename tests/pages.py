"""A loopback web made of a few pages, with a SearXNG-shaped search that finds pages that have a word of the query."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from tablewright.settings import Settings


@dataclass
class Page:
    title: str
    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    snippet: str = ""
    found_by: str = ""
    """The word that a query must have to find it, if not any of its words will do."""
    heading: str = ""
    """If it is not the title."""

    @property
    def html(self) -> str:
        head = f"<head><title>{self.title}</title></head>"
        return f"<html>{head}<body><article><h1>{self.heading or self.title}</h1>{self.body}</article></body></html>"

    @property
    def words(self) -> set[str]:
        return set(re.findall(r"\w+", re.sub(r"<[^>]+>", " ", f"{self.title} {self.body}").lower()))


class SmallWeb:
    """`pages` by their path; all are found, those with more words of the query first."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = dict(pages)
        self.requests: Counter[str] = Counter()
        self.queries: list[str] = []
        self.search_status = 200
        self.address = ""
        self.others: list[SmallWeb] = []
        """Other sites, on other ports, that the search of this one knows too."""
        self.serving: set[asyncio.Task[None]] = set()

    @property
    def settings(self) -> Callable[[Path], Settings]:
        hosts = ",".join([self.address, *(other.address for other in self.others)])
        search = f"searxng:http://{self.address}"
        return lambda home: Settings(home=str(home), search=search, fetch_allow=hosts, fetch_delay="0")

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def found(self, query: str) -> list[dict[str, str]]:
        asked = set(re.findall(r"\w+", query.lower()))
        known = [(site.url(path), page) for site in (self, *self.others) for path, page in site.pages.items()]
        ranked = sorted(known, key=lambda entry: -len(asked & entry[1].words))
        return [
            {
                "url": url,
                "title": page.title,
                "content": page.snippet or re.sub(r"<[^>]+>", " ", page.body)[:200],
            }
            for url, page in ranked
            if ({page.found_by} if page.found_by else page.words) & asked
        ]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                status, body, kind, headers = self.reply(head)
                lines = [
                    f"HTTP/1.1 {status} X",
                    f"Content-Type: {kind}",
                    f"Content-Length: {len(body)}",
                    *(f"{name}: {value}" for name, value in headers.items()),
                ]
                writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.serving.discard(task)
            writer.close()

    def reply(self, head: str) -> tuple[int, bytes, str, Mapping[str, str]]:
        target = urlsplit(head.split(" ")[1])
        path = unquote(target.path)
        self.requests[path] += 1
        if path == "/search":
            query = parse_qs(target.query).get("q", [""])[0]
            self.queries.append(query)
            found = {"query": query, "results": self.found(query)}
            return self.search_status, json.dumps(found).encode(), "application/json", {}
        page = self.pages.get(path)
        if page is None:
            return 404, b"nothing here", "text/plain", {}
        etag = page.headers.get("ETag")
        if etag and f"if-none-match: {etag}".lower() in head.lower():
            return 304, b"", "text/html", page.headers
        return page.status, page.html.encode(), "text/html; charset=utf-8", page.headers


@asynccontextmanager
async def small_web(pages: Mapping[str, Page], port: int = 0) -> AsyncIterator[SmallWeb]:
    web = SmallWeb(pages)
    server = await asyncio.start_server(web.answer, "127.0.0.1", port)
    host, port = server.sockets[0].getsockname()[:2]
    web.address = f"{host}:{port}"
    try:
        yield web
    finally:
        server.close()
        for task in web.serving:
            task.cancel()
        await asyncio.gather(*web.serving, return_exceptions=True)
