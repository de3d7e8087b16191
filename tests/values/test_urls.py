"""Web addresses in texts."""

from __future__ import annotations

import pytest

from tablewright.values.coerce import read_web_address


@pytest.mark.parametrize(
    ("text", "url", "label"),
    [
        ("https://example.com", "https://example.com", "high"),
        ("HTTP://Example.COM/Path?Q=A#B", "http://example.com/Path?Q=A#B", "high"),
        ("https://en.wikipedia.org/wiki/A_(b)", "https://en.wikipedia.org/wiki/A_(b)", "high"),
        ("https://münchen.de/ä", "https://münchen.de/ä", "high"),
        ("https://example.com:8080/x", "https://example.com:8080/x", "high"),
        ("https://192.168.0.1/x", "https://192.168.0.1/x", "high"),
        ("example.com", "https://example.com", "medium"),
        ("www.Example.co.uk/a", "https://www.example.co.uk/a", "medium"),
        ("münchen.de", "https://münchen.de", "medium"),
        ("see https://x.org/a.", "https://x.org/a", "medium"),
        ("(https://x.org/a)", "https://x.org/a", "medium"),
        ("https://x.org/a,", "https://x.org/a", "medium"),
        ("[the site](https://x.org/a_(b))", "https://x.org/a_(b)", "medium"),
        ("<https://x.org>", "https://x.org", "medium"),
        ("Website: example.com.", "https://example.com", "medium"),
        ("https://x.org/a and https://y.org/b", "https://x.org/a", "medium"),
    ],
)
def test_an_address_is_found(text: str, url: str, label: str) -> None:
    assert read_web_address(text)[:2] == (url, label)


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)", "JavaScript:alert('https://x.org')", "data:text/html,x", "file:///etc/passwd",
        "mailto:a@x.org", "ftp://x.org", "[x](javascript:alert(1))", "a@example.com", "localhost", "no address",
        "https://x", "https://", "report.pdf", "e.g. this", "https://999.1.1.1/", "1.5", "end.Next sentence",
    ],
)  # fmt: skip
def test_what_is_no_web_address_gives_none(text: str) -> None:
    assert read_web_address(text)[:2] == (None, "none")
