"""Results are written by strangers: what passes is plain text and web addresses."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tablewright.web.search.http import RawResult, clean_hits, clean_result_text
from tablewright.web.source import Hit, Query
from tests.web.search.loopback import Loopback
from tests.web.search.shapes import SHAPES, Shape

QUERY = Query(text="acme", limit=5)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_every_provider_cleans_its_results(shape: Shape, server: Loopback, client: httpx2.AsyncClient) -> None:
    good = shape.result("https://acme.example/", "<b>Acme</b> &amp; Co", "Founded in <i>1949</i>.\x00\n\tIn Ulm.", None)
    server.answers(
        shape.answer(
            [
                None,
                "text",
                {},
                shape.result(None, "no address", "x", "x"),
                shape.result(["https://list.example/"], "a list", "x", "x"),
                shape.result("javascript:alert(1)", "script", "x", "x"),
                shape.result("file:///etc/passwd", "file", "x", "x"),
                good,
                shape.result("https://acme.example", "the same page", "x", "x"),
                shape.result("https://bare.example/", None, None, 5),
                shape.result("https://huge.example/", "T" * 9_000, "word " * 9_000, "d" * 500),
            ]
        )
    )
    hits = await shape.provider(server.url, "key", client).search(QUERY)
    assert [hit.origin for hit in hits] == ["https://acme.example/", "https://bare.example/", "https://huge.example/"]
    assert (hits[0].title, hits[0].snippet) == ("Acme & Co", "Founded in 1949. In Ulm.")
    assert (hits[1].title, hits[1].snippet) == ("", "")
    assert [len(hits[2].title), len(hits[2].snippet) <= 1_000, len(hits[2].published)] == [300, True, 60]
    assert hits[2].snippet.endswith("word…")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        " data:text/html,x",
        "ftp://acme.example/",
        "//acme.example/",
        "/relative",
        "https://",
        "https:///path",
        "https://acme.example:99999/",
        "https://acme.example:0/",
        "https://[::1/",
        "https://bank.example@evil.example/",
        "https://acme.example/a b",
        "https://acme.example/\u202egpj.exe",
        "https://acme.example/" + "x" * 3_000,
        "",
    ],
)
def test_what_is_no_web_address_is_dropped(url: str) -> None:
    assert clean_hits(QUERY, [RawResult(url, "t")]) == ()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/x", "https://münchen.example/straße", "HTTPS://A.example/%20?q#f"]
)
def test_web_addresses_stay_as_they_are(url: str) -> None:
    assert clean_hits(QUERY, [RawResult(f" {url} ")]) == (Hit(origin=url),)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x onerror=alert(1)>Acme", "Acme"),
        ("<script>steal()</script>Acme <style>b{}</style>", "Acme"),
        ("&lt;script&gt;alert(1)&lt;/script&gt; Acme", "Acme"),
        ("<strong>Ac</strong>me, <p>Inc.</p><p>Ulm</p>", "Acme, Inc. Ulm"),
        ("AT&amp;T &#x27;s &nbsp; 5 &lt; 6 and 7 > 6", "AT&T 's 5 < 6 and 7 > 6"),
        ("revenue <USD 5m in 2020", "revenue <USD 5m in 2020"),
        ("a\u202eb\u200bc\x07d\x7f\ufeff\ud800e", "abcde"),
        ("hidden\U000e0041\U000e0042 letters", "hidden letters"),
        ("línea\r\n\tuno\u2028dos", "línea uno dos"),
        ("می‌خواهم 👩‍🔬", "می‌خواهم 👩‍🔬"),
        (5, ""),
        (None, ""),
        (["a"], ""),
    ],
)
def test_texts_become_plain(text: Any, shown: str) -> None:
    assert clean_result_text(text, longest=300) == shown


def test_a_text_made_to_take_long_does_not() -> None:
    for trap in ("<script " * 200_000, "<a" * 500_000, "&lt;" * 300_000, "<" * 1_000_000):
        assert len(clean_result_text(trap, longest=1_000)) <= 1_000


def test_no_more_than_asked_and_each_page_once() -> None:
    urls = ["https://a.example/x", "https://A.example/x/", "http://a.example/x#part", "https://a.example/x?page=2"]
    urls += [f"https://b.example/{n}" for n in range(20)]
    hits = clean_hits(QUERY, [RawResult(url, str(n)) for n, url in enumerate(urls)])
    assert [hit.title for hit in hits] == ["0", "3", "4", "5", "6"]


def test_results_of_other_sites_are_dropped() -> None:
    urls = [
        "https://acme.example/",
        "https://www.acme.example/a",
        "https://notacme.example/",
        "https://acme.example.evil/",
    ]
    hits = clean_hits(Query(text="x", site="https://www.ACME.example/en"), [RawResult(url) for url in urls])
    assert [hit.origin for hit in hits] == urls[:2]
