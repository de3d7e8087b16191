"""The sample web over real HTTP: one loopback server that is every site at once, and their search engine.

It runs in threads of its own, so it answers whatever the event loop of the visitor is doing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tablewright.domain.model import Struct
from tablewright.sample.documents import sample_files
from tablewright.sample.layouts import render_consent_wall, render_page
from tablewright.sample.search import sample_index
from tablewright.sample.site import SamplePage, Site, site_address
from tablewright.sample.world import sample_edition, sample_world

# Sites differ by the Host header, which a browser cannot set: under this path the site is in the address.
BROWSING = "/_/"
# Addresses in links: of another site with its name, or of this one without.
_ADDRESS = re.compile(r'(?<=href=")(?:http://www\.([a-z0-9-]+)\.example)?(/[^"]*)?(?=")')


class SampleResponse(Struct, frozen=True):
    body: bytes
    media_type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""

    @property
    def etag(self) -> str:
        # Twenty digits are 80 bits: two pages never share a tag.
        return f'"{hashlib.sha256(self.body).hexdigest()[:20]}"'


class SampleWeb:
    """`async with SampleWeb() as web:` and the sites answer at 127.0.0.1:PORT, distinguished by the Host header.

    `requests` counts what was asked for by kind (search, robots, page, other), `fetched` pages by their URL.
    """

    def __init__(self, port: int = 0) -> None:
        self._wanted_port = port
        self._server: SampleWebServer | None = None
        self._thread: threading.Thread | None = None
        self._counting = threading.Lock()
        self.requests: Counter[str] = Counter()
        self.fetched: Counter[str] = Counter()

    @property
    def port(self) -> int:
        assert self._server is not None, "the sample web is not open"
        return int(self._server.server_address[1])

    @property
    def search_url(self) -> str:
        """For `searxng:URL`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def names(self) -> dict[str, str]:
        """The address for the host names of this web: every host ending in .example is this server."""
        return {"example": f"127.0.0.1:{self.port}"}

    @property
    def edition(self) -> str:
        """The edition of the sample world: texts cached from another one may differ."""
        return sample_edition()

    def count(self, kind: str, url: str = "") -> None:
        with self._counting:
            self.requests[kind] += 1
            if url:
                self.fetched[url] += 1

    def open(self) -> None:
        self._server = SampleWebServer(("127.0.0.1", self._wanted_port), SampleWebHandler)
        self._server.web = self
        # Looks every 20 ms whether it should end: tests open and close many webs.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="sample-web", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = self._thread = None

    async def __aenter__(self) -> SampleWeb:
        self.open()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await asyncio.to_thread(self.close)


class SampleWebServer(ThreadingHTTPServer):
    """Keeps its connections in sight: visitors keep them open, and closing the web must not wait for them."""

    # A visitor who never hangs up must not keep the process alive.
    daemon_threads = True
    # Visitors open many connections at once; the default of 5 would refuse some.
    request_queue_size = 256
    web: SampleWeb

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        self.closing = threading.Event()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore visitors who hang up."""

    def server_close(self) -> None:
        self.closing.set()
        with self._changed:
            for connection in self._open:
                with suppress(OSError):  # the visitor may have been quicker
                    connection.shutdown(socket.SHUT_RDWR)
            # A thread that still answers ends by itself; a test must not hang on one that does not.
            self._changed.wait_for(lambda: not self._open, 5.0)
        super().server_close()


class SampleWebHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "SampleWeb"
    # Without it, small answers wait 40 ms for an acknowledgement; a buffered writer sends each in one piece.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: BaseServer

    def do_GET(self) -> None:
        self._reply(self._answer())

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the web counts its requests instead."""

    def _answer(self) -> SampleResponse:
        web, url = self._web.web, urlsplit(self.path)
        # .example is reserved (RFC 2606), so no name of the sample is a real site.
        host = re.fullmatch(r"(?:www\.)?([a-z0-9-]+)\.example(?::\d+)?", self.headers.get("Host", ""), re.IGNORECASE)
        if url.path == "/search":
            web.count("search")
            return search_answer({name: values[0] for name, values in parse_qs(url.query).items()})
        if not host and url.path.startswith(BROWSING):
            site, _, path = url.path.removeprefix(BROWSING).partition("/")
            return rewrite_for_browsing(site, self._site_answer(site, f"/{path}"))
        if not host:
            web.count("other")
            return contents_page() if url.path == "/" else not_found_page()
        return self._site_answer(host[1].lower(), url.path)

    def _site_answer(self, name: str, path: str) -> SampleResponse:
        web, site = self._web.web, sample_world().get(name)
        if path == "/robots.txt" and site:
            web.count("robots")
            return robots_txt(site)
        web.count("page", site_address(name) + path)
        page = find_site_page(site, path) if site else None
        if site is None or page is None:
            return not_found_page()
        if page.delay:
            # Not sleep: closing the web ends the delay as well.
            self._web.closing.wait(page.delay)
        # The cookie that the button of the consent wall would set.
        agreed = "consent=yes" in self.headers.get("Cookie", "")
        return page_answer(page, agreed=agreed)

    @property
    def _web(self) -> SampleWebServer:
        assert isinstance(self.server, SampleWebServer)
        return self.server

    def _reply(self, answer: SampleResponse) -> None:
        # Real sites answer a known page without its text, and our reader has to cope with that.
        unchanged = answer.status == 200 and answer.etag in self.headers.get("If-None-Match", "")
        self.send_response(HTTPStatus.NOT_MODIFIED if unchanged else answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        if answer.status == 200:
            self.send_header("ETag", answer.etag)
        if not unchanged:
            self.send_header("Content-Type", answer.media_type)
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if not unchanged and self.command != "HEAD":
            self.wfile.write(answer.body)


def search_answer(asked: Mapping[str, str]) -> SampleResponse:
    """The shape of SearXNG's JSON."""
    query = asked.get("q", "").strip()
    if not query or asked.get("format", "json") != "json":
        return SampleResponse(
            body=b'{"error": "q is needed, and format=json"}', media_type="application/json", status=400
        )
    number = int(asked["pageno"]) if asked.get("pageno", "").isdecimal() else 1
    # Ten a page, as the engines whose answers this one imitates, so that visitors have to ask for a second page.
    skip = 10 * max(0, number - 1)
    found = sample_index().search(query, time_range=asked.get("time_range", ""), skip=skip, limit=10)
    results = [
        {
            "url": result.page.url,
            "title": result.title,
            "content": result.snippet,
            "engine": "sample",
            "engines": ["sample"],
            "category": "general",
            "score": round(result.score, 4),
            "publishedDate": f"{result.page.published}T00:00:00",
        }
        for result in found.results
    ]
    answer = {
        "query": query,
        "number_of_results": found.total,
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }
    return SampleResponse(body=json.dumps(answer, ensure_ascii=False).encode(), media_type="application/json")


def find_site_page(site: Site, path: str) -> SamplePage | None:
    """Escaped or not: visitors spell brackets in both ways."""
    return next((page for page in site.pages.values() if unquote(page.path) == unquote(path)), None)


@cache
def page_answer(page: SamplePage, *, agreed: bool) -> SampleResponse:
    site = sample_world()[page.site]
    if page.redirect:
        return SampleResponse(body=b"", status=page.status, location=site_address(site.name) + page.redirect)
    if page.status != 200:
        reason = HTTPStatus(page.status).phrase
        return SampleResponse(body=f"<h1>{page.status} {reason}</h1>".encode(), status=page.status)
    if page.document:
        paper = next(paper for paper in sample_files() if paper.name == page.document)
        return SampleResponse(body=paper.content, media_type=paper.media_type)
    text = render_page(site, page) if agreed or not page.consent else render_consent_wall(site)
    return SampleResponse(
        # Old charsets lack characters; real sites write them as references.
        body=text.encode(site.charset, "xmlcharrefreplace"),
        media_type=f"text/html; charset={site.charset}",
    )


def robots_txt(site: Site) -> SampleResponse:
    lines = ["User-agent: *", *(f"Disallow: {folder}" for folder in site.forbids)]
    return SampleResponse(body="\n".join([*lines, "Allow: /", ""]).encode(), media_type="text/plain; charset=utf-8")


def not_found_page() -> SampleResponse:
    return SampleResponse(body=b"<h1>404 Not Found</h1><p>There is nothing here.</p>", status=404)


def contents_page() -> SampleResponse:
    """All sites and pages, as links that work in a browser without any DNS."""
    parts = []
    for site in sample_world().values():
        links = "".join(
            f'<li><a href="{BROWSING}{site.name}{page.path}">{escape(page.title)}</a></li>'
            for page in site.pages.values()
        )
        parts.append(f"<h2>{escape(site.title)}</h2><p>{site_address(site.name)}</p><ul>{links}</ul>")
    title = "<title>The sample web</title><h1>The sample web</h1><p>Everything here is invented.</p>"
    return SampleResponse(body=f'<!doctype html><meta charset="utf-8">{title}{"".join(parts)}'.encode())


def rewrite_for_browsing(site: str, answer: SampleResponse) -> SampleResponse:
    """The same page with its links leading back through this server."""

    def local(match: re.Match[str]) -> str:
        to_site, path = match[1] or site, match[2] or ""
        return f"{BROWSING}{to_site}{path or '/'}" if match[0] else ""

    # Dressed as a link, so that one pattern rewrites both; the slice takes the address out again.
    location = _ADDRESS.sub(local, f'href="{answer.location}"')[6:-1] if answer.location else ""
    charset = answer.media_type.rpartition("charset=")[2]
    if not answer.media_type.startswith("text/html"):
        return answer
    body = _ADDRESS.sub(local, answer.body.decode(charset)).encode(charset)
    return SampleResponse(body=body, media_type=answer.media_type, status=answer.status, location=location)
