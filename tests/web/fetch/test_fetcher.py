from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tablewright.domain.retrieved import Refusal
from tablewright.domain.run import measure_usage
from tablewright.web.fetch.fetcher import Fetched, Fetcher, FetchPolicy, SiteDeadline
from tests.patience import PATIENCE
from tests.web.fetch.site import PAGE, Asked, Handler, Site, answer, cut, in_turn, redirect

POLICY = FetchPolicy(allow=frozenset({"127.0.0.1"}), robots=False, max_bytes=1_000_000, timeout=PATIENCE)


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with Fetcher(POLICY) as opened:
        yield opened


async def refused(fetcher: Fetcher, url: str) -> Refusal:
    refusal = await fetcher.fetch(url)
    assert isinstance(refusal, Refusal)
    assert refusal.origin == url
    return refusal


async def fetched(fetcher: Fetcher, url: str, **validators: str) -> Fetched:
    page = await fetcher.fetch(url, **validators)
    assert isinstance(page, Fetched), page
    return page


def endless(piece: bytes, head: bytes = b"", pause: float = 0.0) -> Handler:
    """A body without an end."""

    async def handle(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 Said\r\ncontent-type: text/html\r\n" + head + b"\r\n")
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return handle


async def test_a_page_comes_as_it_is(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer("<p>Grüße", etag='"1"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT", x_served_by="cache")
    page = await fetched(fetcher, f"{site.url}/#top")
    assert page.body == "<p>Grüße".encode()
    assert (page.url, page.final_url, page.status) == (f"{site.url}/#top", f"{site.url}/", 200)
    assert (page.content_type, page.charset) == ("text/html", "utf-8")
    assert (page.etag, page.last_modified) == ('"1"', "Mon, 01 Jan 2024 00:00:00 GMT")
    assert page.headers["x-served-by"] == "cache"
    assert site.asked[0].headers["user-agent"].startswith("Tablewright/")


# Types and encodings


@pytest.mark.parametrize(
    ("told", "charset"),
    [
        ("text/html; charset=ISO-8859-1", "iso8859-1"),
        ('text/html; charset="utf-8"', "utf-8"),
        ("text/html;Charset='Shift_JIS'; x=y", "shift_jis"),
        ("text/html; charset=no-such-thing", ""),
        ("text/html", ""),
    ],
)
async def test_the_charset_is_the_headers_if_it_is_a_known_one(
    site: Site, fetcher: Fetcher, told: str, charset: str
) -> None:
    site.pages["/"] = answer("x", content_type=told)
    assert (await fetched(fetcher, site.url)).charset == charset


@pytest.mark.parametrize(
    "content_type",
    ["application/xhtml+xml", "application/pdf", "text/csv", "application/ld+json", "application/rss+xml", "TEXT/HTML"],
)
async def test_types_with_text_in_them_are_read(site: Site, fetcher: Fetcher, content_type: str) -> None:
    site.pages["/"] = answer("x", content_type=content_type)
    assert (await fetched(fetcher, site.url)).content_type == content_type.lower()


@pytest.mark.parametrize(
    "content_type", ["image/png", "video/mp4", "application/zip", "image/svg+xml", "application/x-executable"]
)
async def test_other_types_are_left_alone_before_their_body_is_read(
    site: Site, fetcher: Fetcher, content_type: str
) -> None:
    site.pages["/"] = answer(b"x", content_type=content_type, content_length="900000")
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail) == ("forbidden", f"its type is {content_type}, which is not read")


async def test_a_site_cannot_make_a_refusal_long(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer("x", content_type="image/" + "x" * 50_000)
    assert len((await refused(fetcher, site.url)).detail) <= 300


@pytest.mark.parametrize(
    ("told", "body", "content_type"),
    [
        ("", b"<!DOCTYPE html><p>x", "text/html"),
        ("application/octet-stream", b"%PDF-1.7 \0\1", "application/pdf"),
        ("", b"name,year\n", "text/plain"),
        ("application/octet-stream", b"PK\3\4\0\0", None),
        ("", b"\x7fELF\0", None),
    ],
)
async def test_where_the_type_is_not_told_the_first_bytes_tell(
    site: Site, fetcher: Fetcher, told: str, body: bytes, content_type: str | None
) -> None:
    site.pages["/"] = answer(body, content_type=told)
    page = await fetcher.fetch(site.url)
    assert (page.content_type if isinstance(page, Fetched) else None) == content_type


@pytest.mark.parametrize(
    ("name", "body"),
    [("gzip", gzip.compress(b"<p>small", mtime=0)), ("deflate", zlib.compress(b"<p>small"))],
    ids=["gzip", "deflate"],
)
async def test_a_compressed_page_is_unpacked(site: Site, fetcher: Fetcher, name: str, body: bytes) -> None:
    site.pages["/"] = answer(body, content_encoding=name)
    assert (await fetched(fetcher, site.url)).body == b"<p>small"


@pytest.mark.parametrize("name", ["br", "gzip, gzip"])
async def test_a_compression_that_was_not_asked_for_is_an_error(site: Site, fetcher: Fetcher, name: str) -> None:
    site.pages["/"] = answer(gzip.compress(gzip.compress(b"x")), content_encoding=name)
    assert (await refused(fetcher, site.url)).reason == "error"


async def test_broken_compression_is_an_error(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer(b"no gzip at all", content_encoding="gzip")
    assert (await refused(fetcher, site.url)).reason == "error"


# Caps


async def test_a_body_that_never_ends_is_cut_off(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = endless(b"x" * 65_536)
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail) == ("forbidden", "it is larger than 1 MB")


async def test_a_body_that_says_it_is_too_large_is_not_read(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = endless(b"", b"content-length: 1000001\r\n", pause=60)
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail) == ("forbidden", "it is larger than 1 MB")


async def test_a_body_of_just_the_limit_is_read(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer(b"x" * 1_000_000)
    assert len((await fetched(fetcher, site.url)).body) == 1_000_000


async def test_a_small_body_that_unpacks_to_a_huge_one_is_cut_off(site: Site, fetcher: Fetcher) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    site.pages["/"] = answer(bomb, content_encoding="gzip")
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail) == ("forbidden", "it is larger than 1 MB")


async def test_a_site_that_drips_is_given_up(site: Site) -> None:
    site.pages["/"] = endless(b"x", pause=0.02)
    async with Fetcher(FetchPolicy(allow=POLICY.allow, robots=False, timeout=0.3)) as fetcher:
        started = time.monotonic()
        refusal = await refused(fetcher, site.url)
    assert time.monotonic() >= started + 0.3
    assert (refusal.reason, refusal.detail) == ("error", "the site did not answer in full within 0.3 s")


async def test_the_deadline_is_for_all_redirects_together(site: Site) -> None:
    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.15)
        await redirect(f"{asked.path}x")(asked, writer)

    site.pages |= {"/" + "x" * hop: slow for hop in range(6)}
    async with Fetcher(FetchPolicy(allow=POLICY.allow, robots=False, timeout=0.35)) as fetcher:
        assert "within 0.35 s" in (await refused(fetcher, site.url)).detail
    assert len(site.asked) <= 3


async def test_waiting_in_line_does_not_count_against_a_site(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    arrived, held, left = asyncio.Event(), asyncio.Event(), []
    running = SiteDeadline.running

    def watched(patience: SiteDeadline) -> AbstractAsyncContextManager[None]:
        left.append(patience._left)
        return running(patience)

    monkeypatch.setattr(SiteDeadline, "running", watched)

    async def first(asked: Asked, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await held.wait()
        await PAGE(asked, writer)

    site.pages["/first"] = first
    async with Fetcher(FetchPolicy(allow=POLICY.allow, robots=False, timeout=PATIENCE, per_domain=1)) as fetcher:
        in_front = asyncio.create_task(fetcher.fetch(f"{site.url}/first"))
        await arrived.wait()
        waiting = asyncio.create_task(fetcher.fetch(site.url))
        await asyncio.sleep(0.1)
        held.set()
        assert isinstance(await in_front, Fetched)
        assert isinstance(await waiting, Fetched)
    assert left == [PATIENCE, PATIENCE], "what the first took is not taken from the next"


async def test_a_fetch_can_be_cancelled_and_leaves_its_turn_to_others(site: Site) -> None:
    arrived = asyncio.Event()

    async def never(_asked: Asked, _writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await asyncio.sleep(60)

    site.pages["/slow"] = never
    async with Fetcher(FetchPolicy(allow=POLICY.allow, robots=False, per_domain=1)) as fetcher:
        task = asyncio.create_task(fetcher.fetch(f"{site.url}/slow"))
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert isinstance(await fetcher.fetch(site.url), Fetched)


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed(site: Site, fetcher: Fetcher, status: int) -> None:
    site.pages["/old"] = redirect("/page", status)
    page = await fetched(fetcher, f"{site.url}/old")
    assert (page.url, page.final_url) == (f"{site.url}/old", f"{site.url}/page")


async def test_five_redirects_are_followed_and_not_six(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {f"/{hop}": redirect(f"/{hop + 1}") for hop in range(6)} | {"/6": PAGE}
    assert (await fetched(fetcher, f"{site.url}/1")).final_url == f"{site.url}/6"
    refusal = await refused(fetcher, f"{site.url}/0")
    assert (refusal.reason, refusal.detail) == ("error", "it redirects more than 5 times")


async def test_redirects_in_a_circle_end(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": redirect("/b"), "/b": redirect("/a")}
    assert (await refused(fetcher, f"{site.url}/a")).reason == "error"
    assert len(site.asked) == 6


async def test_a_site_that_sets_a_cookie_and_comes_back_is_read_and_the_cookie_forgotten(
    site: Site, fetcher: Fetcher
) -> None:
    async def wants_cookie(asked: Asked, writer: asyncio.StreamWriter) -> None:
        handler = PAGE if asked.headers.get("cookie") == "seen=1" else redirect("/", set_cookie="seen=1")
        await handler(asked, writer)

    site.pages["/"] = wants_cookie
    await fetched(fetcher, site.url)
    await fetched(fetcher, f"{site.url}/page")
    assert [asked.headers.get("cookie") for asked in site.asked] == [None, "seen=1", None]


# Validators


async def test_a_page_that_is_still_the_same_comes_without_its_body(site: Site, fetcher: Fetcher) -> None:
    async def versioned(asked: Asked, writer: asyncio.StreamWriter) -> None:
        same = asked.headers.get("if-none-match") == '"v1"'
        await (answer("", 304, content_length="", etag='"v1"') if same else answer("x", etag='"v1"'))(asked, writer)

    site.pages["/"] = versioned
    first = await fetched(fetcher, site.url)
    second = await fetched(fetcher, site.url, etag=first.etag)
    third = await fetched(fetcher, site.url, etag='"v0"')
    assert [page.not_modified for page in (first, second, third)] == [False, True, False]
    assert (second.status, second.body, second.etag) == (304, b"", '"v1"')


async def test_the_date_of_a_page_is_asked_for_too(site: Site, fetcher: Fetcher) -> None:
    date = "Mon, 01 Jan 2024 00:00:00 GMT"
    await fetched(fetcher, site.url, last_modified=date)
    assert site.asked[0].headers["if-modified-since"] == date


async def test_a_304_that_nobody_asked_for_is_an_error(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer("", 304, content_length="")
    assert (await refused(fetcher, site.url)).reason == "error"


async def test_a_validator_cannot_smuggle_a_header_in(site: Site, fetcher: Fetcher) -> None:
    await fetched(fetcher, site.url, etag='"1"\r\nx-smuggled: yes')
    assert "if-none-match" not in site.asked[0].headers
    assert "x-smuggled" not in site.asked[0].headers


# Failures and the one retry


@pytest.mark.parametrize(
    ("status", "reason", "detail"),
    [
        (401, "blocked", "the site asks for a login (401)"),
        (403, "blocked", "the site refuses to show it (403)"),
        (429, "blocked", "the site says that we ask too often (429)"),
        (451, "blocked", "the site may not show it for legal reasons (451)"),
        (404, "error", "the page does not exist (404)"),
        (410, "error", "the page does not exist (410)"),
        (500, "error", "the site answered with an error (500)"),
        (503, "error", "the site answered with an error (503)"),
    ],
)
async def test_a_status_is_told_in_words_and_not_retried(
    site: Site, fetcher: Fetcher, status: int, reason: str, detail: str
) -> None:
    site.pages["/"] = answer("no", status)
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail, refusal.status) == (reason, detail, status)
    assert len(site.asked) == 1


async def test_a_challenge_is_blocked(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = answer("<title>Just a moment...</title>", 503)
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.status) == ("blocked", 503)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_site_that_asks_for_a_moment_gets_it(site: Site, fetcher: Fetcher, status: int) -> None:
    site.pages["/"] = in_turn(answer("wait", status, retry_after="1"), PAGE)
    await fetched(fetcher, site.url)
    assert site.asked[1].at - site.asked[0].at >= 1.0


async def test_the_moment_may_be_told_as_a_date(site: Site, fetcher: Fetcher) -> None:
    soon = format_datetime(datetime.now(UTC) - timedelta(seconds=1), usegmt=True)
    site.pages["/"] = in_turn(answer("wait", 503, retry_after=soon), PAGE)
    await fetched(fetcher, site.url)


@pytest.mark.parametrize("told", ["11", "3600", "soon", "-1", "Fri, 31 Dec 2999 23:59:59 GMT"])
async def test_a_site_that_asks_for_longer_is_left_alone(site: Site, fetcher: Fetcher, told: str) -> None:
    site.pages["/"] = answer("wait", 429, retry_after=told)
    assert (await refused(fetcher, site.url)).reason == "blocked"
    assert len(site.asked) == 1


async def test_there_is_only_one_retry(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = in_turn(cut, answer("wait", 503, retry_after="0"), PAGE)
    assert (await refused(fetcher, site.url)).status == 503
    assert len(site.asked) == 2


async def test_a_retry_is_for_the_whole_way_and_not_for_each_redirect(site: Site, fetcher: Fetcher) -> None:
    site.pages |= {"/a": in_turn(cut, redirect("/b")), "/b": in_turn(cut, PAGE)}
    assert (await refused(fetcher, f"{site.url}/a")).detail == "the connection was cut"
    assert site.paths == ["/a", "/a", "/b"]


async def test_a_cut_connection_is_tried_again(site: Site, fetcher: Fetcher) -> None:
    site.pages["/"] = in_turn(cut, PAGE)
    await fetched(fetcher, site.url)
    assert len(site.asked) == 2


async def test_a_connection_cut_in_the_middle_of_a_page_is_no_page(site: Site, fetcher: Fetcher) -> None:
    async def half(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 Said\r\ncontent-type: text/html\r\ncontent-length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    site.pages["/"] = half
    refusal = await refused(fetcher, site.url)
    assert (refusal.reason, refusal.detail) == ("error", "the connection was cut")
    assert len(site.asked) == 2


async def test_where_nobody_listens_there_is_no_connection(fetcher: Fetcher) -> None:
    async with Site().open() as gone:
        url = gone.url
    refusal = await refused(fetcher, url)
    assert refusal.reason == "error"
    assert refusal.detail.startswith("no connection")


async def test_a_name_without_an_address_is_an_error() -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    async with Fetcher(FetchPolicy(robots=False), resolve=unknown) as fetcher:
        refusal = await refused(fetcher, "http://www.example.com/")
    assert (refusal.reason, refusal.detail) == ("error", "no connection (www.example.com has no address)")


async def test_page_requests_are_counted_and_robots_txt_is_not(site: Site) -> None:
    site.pages["/old"] = redirect("/page")
    async with Fetcher(FetchPolicy(allow=POLICY.allow)) as fetcher:
        with measure_usage() as meter:
            await fetched(fetcher, f"{site.url}/old")
            await refused(fetcher, "http://127.1/")
    assert site.paths == ["/robots.txt", "/old", "/page"]
    assert meter.usage.fetches == 2
