"""Which kind bytes are, and that no bytes do harm."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.text import TEXT_LIMITS
from tablewright.web.read import Reading, UnreadablePage, read_bytes
from tests.growth import grows_in_proportion


def reading(body: bytes, content_type: str = "text/html", charset: str = "") -> Reading:
    return read_bytes(body, content_type=content_type, charset=charset, url="https://example.org/")


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>Größe: 12 €</p>".encode(), ""),
        ("<p>Größe: 12 €</p>".encode(), "iso-8859-1; q=1"),
        ("<p>Größe: 12 €</p>".encode(), "no-such-charset"),
        ("<p>Größe: 12 €</p>".encode("utf-8-sig"), "cp1252"),
        ("<p>Größe: 12 €</p>".encode("utf-16"), ""),
        ("<p>Größe: 12 €</p>".encode("utf-16-le"), ""),
        ("<p>Größe: 12 €</p>".encode("cp1252"), "ISO-8859-1"),
        ("<p>Größe: 12 €</p>".encode("cp1252"), '"windows-1252"'),
        ("<meta charset=windows-1252><p>Größe: 12 €</p>".encode("cp1252"), ""),
        ("<meta http-equiv=x content='text/html; charset=cp1252'><p>Größe: 12 €</p>".encode("cp1252"), ""),
        ("<?xml version='1.0' encoding='iso-8859-15'?><html><p>Größe: 12 €</p></html>".encode("iso-8859-15"), ""),
        ("<meta charset=utf-16><p>Größe: 12 €</p>".encode(), ""),
    ],
)
def test_the_charset_is_found(body: bytes, charset: str) -> None:
    assert reading(body, charset=charset).text == "Größe: 12 €"


def test_a_charset_that_nobody_stated_is_guessed() -> None:
    russian = "Компания была основана в тысяча девятьсот девяностом году в городе Москве. " * 5
    assert reading(f"<p>{russian}</p>".encode("cp1251")).text == russian.strip()


def test_a_wrong_header_gives_way_to_what_the_bytes_are() -> None:
    assert reading("<p>日本語の文章です</p>".encode("cp932"), charset="shift_jis").text == "日本語の文章です"
    assert reading("<p>Größe</p>".encode(), charset="ascii").text in ("Größe", "GrÃ¶ÃŸe")


def test_a_few_broken_bytes_are_damage_and_the_rest_stays() -> None:
    body = "<p>Größe und Höhe für Überfälle, schöne Grüße aus Köln und Münster, außerdem Äpfel</p>" * 3
    found = reading(body.encode() + b"<p>bad \xff byte</p>", charset="utf-8").text
    assert "Größe und Höhe" in found
    assert "bad \ufffd byte" in found


def test_the_bytes_decide_the_kind_where_the_label_is_missing_or_vague() -> None:
    for label in ("", "application/octet-stream", "binary/octet-stream"):
        assert reading(b"<!DOCTYPE html><p>Hello <b>you</b></p>", label).text == "Hello you"
        assert reading(b'{"a": 1}', label).text == "a: 1"
        assert reading(b"plain words", label).text == "plain words"


@pytest.mark.parametrize(
    ("body", "label", "reason"),
    [
        (b"", "text/html", "empty"),
        (b" \n\t ", "text/plain", "empty"),
        (b"\x89PNG\r\n\x1a\n", "text/html", "image"),
        (b"PK\x03\x04....", "application/zip", "ZIP or Office"),
        (b"\x1f\x8b\x08", "", "compressed"),
        (b"abc", "video/mp4", "video/mp4"),
        (bytes(range(32)) * 50, "application/octet-stream", "binary"),
        (b"not a pdf", "application/pdf", "broken PDF"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(body: bytes, label: str, reason: str) -> None:
    with pytest.raises(UnreadablePage, match=reason):
        reading(body, label)


def test_plain_text_and_markdown_keep_their_lines() -> None:
    body = b"# Acme\r\n\r\nFounded   in\t1990\r<b>not markup</b>\n"
    for label in ("text/plain", "text/markdown; charset=utf-8"):
        assert reading(body, label).text == "# Acme\nFounded in 1990\n<b>not markup</b>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"sep=;\nName;Size\nHeron;12,5\n", "Name | Size\nHeron | 12,5"),
        (b"Size, all, in m;Name\n12,5;Heron\n13,5;Egret\n", "Size, all, in m | Name\n12,5 | Heron\n13,5 | Egret"),
        (b'sep="\nName;Size\n', 'sep="\nName;Size'),
    ],
)
def test_the_separator_of_a_csv_is_found_as_in_an_imported_table(body: bytes, text: str) -> None:
    assert reading(body, "text/csv").text == text


def test_csv_rows_are_lines() -> None:
    assert reading(b'Name;City\n"Acme; Co";"Graz\nOst"\n', "text/csv").text == "Name | City\nAcme; Co | Graz Ost"
    assert reading(b"Name\tCity\nA,b\tc\n", "text/tab-separated-values").text == "Name | City\nA,b | c"


def test_json_is_paths_and_values() -> None:
    body = b'{"name": "Acme", "tags": ["a", "b"], "sites": [{"city": "Graz", "open": true, "x": null}], "n": 1.50}'
    assert reading(body, "application/json").text.split("\n") == [
        "name: Acme",
        "tags: a; b",
        "sites[0].city: Graz",
        "sites[0].open: true",
        "n: 1.5",
    ]
    assert reading(b'{"a": [broken', "application/ld+json").text == '{"a": [broken'


def test_xml_is_elements_and_values() -> None:
    item = b"<item><title>One</title><link href='x'/></item>"
    body = b"<?xml version='1.0'?><rss><channel><title>News</title>" + item + b"</channel></rss>"
    found = reading(body, "application/rss+xml")
    assert found.text == "title: News\ntitle: One\nlink href: x"
    assert found.title == "News"


def test_xml_entities_are_neither_expanded_nor_fetched() -> None:
    body = (
        b'<!DOCTYPE a [<!ENTITY b "boom"><!ENTITY f SYSTEM "file:///etc/hostname"><!ENTITY c "&b;&b;&b;&b;">]>'
        b"<a>text<x>&c;&f;</x></a>"
    )
    assert reading(body, "application/xml").text == "text"


def test_xhtml_is_read_as_a_page() -> None:
    body = (
        b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>Hello <i>you</i></p></body></html>"
    )
    assert reading(body, "application/xhtml+xml").text == "Hello you"
    assert reading(body, "application/xml").text == "Hello you"


@pytest.mark.parametrize(
    "unit",
    [
        b"<div>",
        b"<span>x",
        b"<table><tr><td>x</td><td>",
        b"<dl><dt>a<dd>b",
        b"<b class=label>x",
        b"<ul><li><b>x</b> y",
        b"<",
        b"<a href='#x'>o</a><p id=x hidden>h</p>",
        b"<p style='a:b'>x</p>",
        b"<span class=label>a</span> b ",
        b"[",
        b'{"a":',
        b"&#8203;&lt;",
    ],
)
@pytest.mark.parametrize("label", ["text/html", "application/json", "application/xml", "text/csv"])
def test_endless_or_deep_input_is_bounded(label: str, unit: bytes) -> None:
    def read(size: int) -> None:
        with suppress(UnreadablePage):
            found = reading(b"<p>Start</p>" * (label == "text/html") + unit * (size // len(unit)), label)
            assert len(found.text) <= 1_000_000

    assert grows_in_proportion(read, 600_000)


def test_a_text_ends_after_a_million_characters() -> None:
    for label in ("text/html", "text/plain"):
        assert 999_000 <= len(reading(b"<p>Some words of a page.</p>\n" * 100_000, label).text) <= 1_000_000


def test_the_same_bytes_give_the_same_reading() -> None:
    body = b"<main><p>One <a href=x>two</a></p><table><tr><td>a</td><td>b</td></tr></table></main>"
    assert reading(body) == reading(body)


_TAGS = st.sampled_from(
    [
        *(b"<div>", b"</div>", b"<p>", b"<table>", b"<tr>", b"<td>", b"</td>", b"</table>", b"<dl>", b"<dt>", b"<dd>"),
        *(
            b"<li>",
            b"<b>",
            b"</b>",
            b"<span class=label>",
            b"<div hidden id=a>",
            b"<a href='#a'>",
            b"<a href='http://['>",
        ),
        *(
            b"<style>.a{display:none",
            b"</style>",
            b"<script type='application/ld+json'>",
            b"</script>",
            b"<h1>",
            b"<pre>",
        ),
        *(b"<main>", b"</main>", b"<nav>", b"<html lang=>", b"<meta name=date content=>", b"<base href='::'>", b"<!--"),
        *(
            b"<p style='color:#;background:rgb(1'>",
            b"\x00",
            b"\xff",
            b"&#0;",
            b"&#x110000;",
            b"%PDF-",
            b"text ",
            b"a:b",
        ),
    ]
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    body=st.one_of(
        st.binary(max_size=400), st.lists(st.one_of(_TAGS, st.binary(max_size=5)), max_size=40).map(b"".join)
    ),
    label=st.sampled_from(
        ["text/html", "", "application/json", "application/xml", "text/csv", "text/plain", "application/pdf"]
    ),
    charset=st.sampled_from(["", "utf-8", "shift_jis", "utf-16", "idna", "base64", "\x00", "undefined"]),
)
def test_no_bytes_raise_anything_but_unreadable(body: bytes, label: str, charset: str) -> None:
    try:
        found = read_bytes(body, content_type=label, charset=charset, url="https://example.org/")
    except UnreadablePage:
        return
    assert found.text.strip("\n") == found.text != ""
    assert not any("\ud800" <= letter <= "\udfff" or "\U000e0000" <= letter <= "\U000e007f" for letter in found.text)


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/json"])
def test_no_line_is_longer_than_a_reader_takes_in(content_type: str) -> None:
    words = "word " * 10_000
    body = {
        "text/html": f"<html><body><p>{words}</p><p>{'a' * 30_000}</p></body></html>",
        "text/plain": f"{words}\n{'a' * 30_000}",
        "application/json": f'{{"a": "{words}", "b": "{"a" * 30_000}"}}',
    }[content_type]
    text = read_bytes(body.encode(), content_type=content_type).text
    assert max(map(len, text.split("\n"))) <= TEXT_LIMITS.line_characters
    assert text.count("word") == 10_000
    assert text.count("a") >= 30_000
