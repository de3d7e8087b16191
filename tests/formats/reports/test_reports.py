from __future__ import annotations

import io
import re
import sys
import zipfile
from itertools import chain, pairwise
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html

from tablewright.documents.parse.docx import parse_docx as parse_docx
from tablewright.domain.model import Evidence, Label, Stance
from tablewright.domain.research import (
    Reference,
    Report,
    ReportCell,
    ReportFormat,
    ReportTable,
    Section,
    Sentence,
    SourceStatus,
    UnfoundTopic,
    Verdict,
)
from tablewright.errors import BadFile, UsageError
from tablewright.formats.reports.tidy import map_texts
from tablewright.formats.reports.write import render_report, report_format
from tablewright.text import clean_one_line
from tests.formats.reports.example import EMPTY_HANDED, HOSTILE, REPORT
from tests.formats.reports.reading import (
    W,
    contrast,
    docx_hyperlinks,
    docx_part,
    docx_text,
    html_of,
    html_text,
    markdown_html,
    pdf_links,
    pdf_outline,
    shown_numbers,
    shown_text,
)

MARKUP: tuple[ReportFormat, ...] = ("md", "html", "docx")
FOR_PEOPLE: tuple[ReportFormat, ...] = (*MARKUP, "pdf")
PARTS = (
    REPORT.title,
    REPORT.question,
    "Five providers were found",
    "The budget was spent in round 2",
    "Hartman Realty: 31% more viewings",
    "Chatmere: no price",
    "How they charge",
    "Claims checked",
    "What we could not find, and where we looked",
    "Two independent passes",
    "References",
    "Every source seen",
    "Round 2: Filling gaps",
    "What it cost",
)


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_the_parts_stand_in_their_order(format: ReportFormat) -> None:
    text = shown_text(render_report(REPORT, format), format)
    if format == "html":  # its contents name the headings before they come
        text = text.replace(html_text(html_of(render_report(REPORT, "html")).find(".//nav")), "", 1)
    places = [text.find(part) for part in PARTS]
    assert -1 not in places, PARTS[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_every_kind_of_mark_is_a_word(format: ReportFormat) -> None:
    text = shown_text(render_report(REPORT, format), format)
    for word in ("Supported", "Contradicted", "Qualified", "Not checked", "high", "medium", "low"):
        assert word in text
    for status in ("Blocked by the site", "Not allowed to open", "Failed", "Empty"):
        assert status in text
    assert "Sources disagree: $500 (comparely.example)" in text
    assert "Not found: its pricing page refused us" in text
    assert "about 80% of order questions, though complaints still reach a person" in text
    assert "the budget of $0.50 was spent" in text
    assert "page 4" in text
    assert "12 November 2026" in text


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_a_report_with_nothing_found_says_so_and_shows_where_it_looked(format: ReportFormat) -> None:
    text = shown_text(render_report(EMPTY_HANDED, format), format)
    assert text.count("Nothing was found that answers the question.") == 1
    assert "4 searches, 6 pages" in text
    for heading in ("In short", "At a glance", "Claims checked", "References", "How the research went", "What it cost"):
        assert heading not in text


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_what_was_found_is_never_called_nothing(format: ReportFormat) -> None:
    table = ReportTable(columns=("Name",), rows=((ReportCell(text="Leadwell"),),))
    report = Report(title="Names", question="Which names?", report_type="catalog", table=table)
    assert "Nothing was found" not in shown_text(render_report(report, format), format)


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_parts_of_nothing_but_space_are_left_out(format: ReportFormat) -> None:
    report = Report(
        title="",
        question="Why?",
        report_type="narrative",
        answer=Sentence(text=" \u200b"),
        sections=(Section(heading="Ghost heading", sentences=(Sentence(text="\x00"),)),),
        table=ReportTable(columns=("Ghost column",), rows=()),
        notes=("", "  "),
        unfound=(UnfoundTopic(what=""),),
    )
    text = shown_text(render_report(report, format), format)
    assert " ".join(text.split()) == "Why? Nothing was searched yet."


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_a_number_that_leads_nowhere_is_not_shown(format: ReportFormat) -> None:
    report = msgspec.structs.replace(REPORT, answer=Sentence(text="Who knows.", citations=(1, 77, 1)))
    text = shown_text(render_report(report, format), format)
    assert "[77]" not in text
    assert "[1]" in text


def test_a_row_with_too_few_cells_keeps_the_others_in_their_columns() -> None:
    table = ReportTable(columns=("A", "B"), rows=((ReportCell(text="one"),), (ReportCell(text="two"),) * 3))
    rows = html_of(render_report(Report(title="T", question="Q", report_type="catalog", table=table), "html")).findall(
        ".//tbody/tr"
    )
    assert [len(row) for row in rows] == [3, 3]


# ── names of files ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.md", "md"), ("a.MARKDOWN", "md"), ("a.htm", "html"), ("b.Docx", "docx"), ("b.pdf", "pdf"), ("c.json", "json")],
)
def test_the_name_says_the_format(name: str, format: str) -> None:
    assert report_format(Path(name)) == format


@pytest.mark.parametrize("name", ["report.odt", "report", "md", ".html", "report.xlsx"])
def test_another_ending_is_refused_with_the_ones_that_work(name: str) -> None:
    with pytest.raises(BadFile, match=r"does not say in which format.*\.md, \.html, \.docx, \.pdf, \.json"):
        report_format(Path(name))


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_json_reads_back_as_the_same_report_with_every_name_there() -> None:
    content = render_report(REPORT, "json")
    assert msgspec.json.decode(content, type=Report) == REPORT
    bare = msgspec.json.decode(render_report(Report(title="T", question="Q", report_type="narrative"), "json"))
    assert set(bare) == set(Report.__struct_fields__)


def test_json_holds_hostile_text_as_it_is() -> None:
    report = msgspec.structs.replace(REPORT, notes=HOSTILE)
    read = msgspec.json.decode(render_report(report, "json"), type=Report)
    assert read.notes == tuple(text.replace("\ud800", "?") for text in HOSTILE)


# ── HTML ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_html_loads_and_runs_nothing() -> None:
    page = html_of(render_report(REPORT, "html"))
    tags = {element.tag for element in page.iter(etree.Element)}
    assert not tags & {"script", "img", "link", "iframe", "object", "embed", "form", "input", "svg", "video", "base"}
    assert "url(" not in page.find(".//style").text
    assert "@import" not in page.find(".//style").text
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "default-src 'none'" in policy[0]


def test_html_headings_go_down_by_one_and_begin_with_the_title() -> None:
    for report in (REPORT, EMPTY_HANDED):
        page = html_of(render_report(report, "html"))
        levels = [int(element.tag[1]) for element in page.iter("h1", "h2", "h3", "h4")]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert page.get("lang") == "en"
        assert page.findtext(".//title") == report.title


def test_html_tables_say_what_their_headers_are_for() -> None:
    page = html_of(render_report(REPORT, "html"))
    assert {element.get("scope") for element in page.iter("th")} == {"col", "row"}
    assert page.xpath("//tr[1]/td[4]")[0].get("data-column") == "Case study"


def test_html_links_have_text_and_lead_somewhere() -> None:
    page = html_of(render_report(REPORT, "html"))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    for link in page.iter("a"):
        assert html_text(link).strip()
        address = link.get("href")
        assert address[1:] in ids if address.startswith("#") else address.startswith("https://")
    assert not page.xpath("//a[contains(@href, 'hartman')]"), "a document is no address"


def test_pointing_at_a_citation_shows_the_quote_that_the_sentence_rests_on() -> None:
    page = html_of(render_report(REPORT, "html"))
    section = page.xpath("//section[h2='How they charge']")[0]
    peeks = [html_text(peek) for peek in section.find_class("peek")]
    assert any("From $99 a month. No setup fee." in peek for peek in peeks)
    assert not any("Alder Dental" in peek for peek in peeks)
    style = page.find(".//style").text
    assert ".cite:hover .peek, .cite:focus-within .peek" in style


def test_html_colours_can_be_read_by_day_by_night_and_on_paper() -> None:
    style = html_of(render_report(REPORT, "html")).find(".//style").text
    themes = [dict(re.findall(r"--(\w+): (#\w+)", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)]
    assert len(themes) == 3
    for theme in themes:
        for ground in ("paper", "raised", "tint", "warn"):
            for ink in ("ink", "soft", "link", "good", "fair", "poor", "plain"):
                assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground, theme)


def test_a_long_list_of_sources_is_folded() -> None:
    many = msgspec.structs.replace(REPORT, sources=REPORT.sources * 4)
    assert html_of(render_report(REPORT, "html")).find(".//details").get("open") is not None
    assert html_of(render_report(many, "html")).find(".//details").get("open") is None


# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reference_in_markdown_has_its_number_and_its_link() -> None:
    page = markdown_html(render_report(REPORT, "md"))
    (plans,) = [point for point in page.iter("li") if html_text(point).strip().startswith("[3]")]
    assert [link.get("href") for link in plans.iter("a")] == [REPORT.references[2].url]
    assert not page.xpath("//a[contains(@href, 'hartman')]"), "a document is no address"


def test_a_price_in_markdown_stays_as_it_is_written() -> None:
    assert "Leadwell's plans run from $149 to $449 a month. [2] [7]" in render_report(REPORT, "md").decode()


# ── DOCX ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_docx_has_headings_a_title_and_a_table_whose_header_is_repeated() -> None:
    content = render_report(REPORT, "docx")
    document = docx_part(content, "word/document.xml")
    styles = document.xpath("//w:pStyle/@w:val", namespaces=W)
    assert styles[0] == "Title"
    assert {"Heading1", "Heading2", "ListBullet", "Reference", "Quote", "TableText"} <= set(styles)
    known = docx_part(content, "word/styles.xml").xpath("//w:style/@w:styleId", namespaces=W)
    assert set(styles) <= set(known)
    for table in document.iterfind(".//w:tbl", W):
        rows = table.findall("w:tr", W)
        assert [row.find("w:trPr/w:tblHeader", W) is not None for row in rows] == [True] + [False] * (len(rows) - 1)
        columns = len(table.findall("w:tblGrid/w:gridCol", W))
        assert all(len(row.findall("w:tc", W)) == columns for row in rows)
    assert docx_part(content, "docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title") == REPORT.title


def test_docx_links_are_declared_and_citations_lead_to_their_reference() -> None:
    content = render_report(REPORT, "docx")
    document = docx_part(content, "word/document.xml")
    bookmarks = document.xpath("//w:bookmarkStart/@w:name", namespaces=W)
    assert set(document.xpath("//w:hyperlink/@w:anchor", namespaces=W)) <= set(bookmarks)
    assert bookmarks == [f"reference_{reference.number}" for reference in REPORT.references]
    addresses = docx_hyperlinks(content)
    assert "https://sienadesk.example/plans?currency=usd&period=month" in addresses
    assert all(address.startswith("https://") for address in addresses)


def test_docx_is_read_back_by_our_own_reader() -> None:
    parsed = parse_docx(render_report(REPORT, "docx"), "report.docx")
    assert parsed.title == REPORT.title
    assert "Leadwell's plans run from $149 to $449 a month. [2] [7]" in parsed.text


def test_docx_declares_each_of_its_parts_and_is_the_same_each_time() -> None:
    content = render_report(REPORT, "docx")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        types = etree.fromstring(archive.read("[Content_Types].xml"))
        overrides = {element.get("PartName", "").lstrip("/") for element in types if element.get("PartName")}
    assert names[0] == "[Content_Types].xml"
    assert overrides == {name for name in names if name.endswith(".xml")} - {"[Content_Types].xml"}
    assert render_report(REPORT, "docx") == content


# ── PDF ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pdf_links_lead_to_references_and_addresses_and_headings_are_its_outline() -> None:
    content = render_report(REPORT, "pdf")
    addresses, places = pdf_links(content)
    assert REPORT.references[2].url in addresses
    assert all(address.startswith("https://") for address in addresses)
    assert len(places) == len(shown_numbers(render_report(REPORT, "docx"), "docx"))
    outline = pdf_outline(content)
    assert outline[0] == REPORT.title
    assert {"In short", "At a glance", "References"} <= set(outline)
    assert render_report(REPORT, "pdf") == content


def test_pdf_writes_every_alphabet_and_turns_wide_tables() -> None:
    text = "Größe in Łódź, Αθήνα, Москва: ≥ 5 €"
    wide = ReportTable(columns=tuple("ABCDE"), rows=(tuple(ReportCell(text="word " * 40) for _ in range(5)),) * 30)
    report = Report(title=text, question="Q", report_type="catalog", table=wide)
    content = render_report(report, "pdf")
    assert text in shown_text(content, "pdf")
    assert b"/MediaBox [ 0 0 841" in content


def test_without_reportlab_a_pdf_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "reportlab", None)
    for refused in (lambda: render_report(REPORT, "pdf"), lambda: report_format(Path("a.pdf"))):
        with pytest.raises(UsageError, match=r"needs reportlab.*tablewright\[pdf\]"):
            refused()


# ── languages ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_our_own_words_are_in_the_language_of_the_report(format: ReportFormat) -> None:
    text = shown_text(render_report(msgspec.structs.replace(REPORT, language="German"), format), format)
    for said in ("Kurz gesagt", "Geprüfte Aussagen", "Belege", "Runde 2", "12. November 2026", "Widerlegt", "mittel"):
        assert said in text, said
    for said in ("In short", "Claims checked", "References", "Round 2", "12 November", "Contradicted"):
        assert said not in text, said


# ── hostile texts ────────────────────────────────────────────────────────────────────────────────────────────────────

_WORDS_OF_OURS = frozenset(("narrative", "catalog", *chain(*map(get_args, (Label, Verdict, Stance, SourceStatus)))))


def _with_everywhere(text: str) -> Report:
    return map_texts(REPORT, lambda old: old if old in _WORDS_OF_OURS else text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_html_stays_text(text: str) -> None:
    page = html_of(render_report(_with_everywhere(text), "html"))
    plain = html_of(render_report(_with_everywhere("words"), "html"))
    assert [element.tag for element in page.iter(etree.Element)] == [
        element.tag for element in plain.iter(etree.Element)
    ]
    for element in page.iter(etree.Element):
        assert not [name for name in element.attrib if name.startswith("on")]
    assert all(address.startswith("#") for address in page.xpath("//@href"))
    assert page.findtext(".//h1") == clean_one_line(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_markdown_stays_text(text: str) -> None:
    page = markdown_html(render_report(_with_everywhere(text), "md"))
    plain = markdown_html(render_report(_with_everywhere("words"), "md"))
    assert [element.tag for element in page.iter()] == [element.tag for element in plain.iter()]
    assert not list(page.iter("a"))
    assert clean_one_line(text) in " ".join(html_text(page).split())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_pdf_stays_text(text: str) -> None:
    assert pdf_links(render_report(_with_everywhere(text), "pdf"))[0] == set()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_docx_stays_text(text: str) -> None:
    content = render_report(_with_everywhere(text), "docx")
    plain = render_report(_with_everywhere("words"), "docx")
    assert [element.tag for element in docx_part(content, "word/document.xml").iter()] == [
        element.tag for element in docx_part(plain, "word/document.xml").iter()
    ]
    assert docx_hyperlinks(content) == []
    assert clean_one_line(text) in docx_text(content)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_on_a_link_does_not_change_where_it_leads(text: str) -> None:
    def links(words: str) -> tuple[list[str], list[str], list[str]]:
        report = map_texts(REPORT, lambda old: old if old in _WORDS_OF_OURS or old.startswith("https://") else words)
        page, paper = html_of(render_report(report, "html")), markdown_html(render_report(report, "md"))
        assert not page.xpath("//img | //script | //*[@onmouseover]")
        return page.xpath("//@href"), paper.xpath("//@href"), docx_hyperlinks(render_report(report, "docx"))

    assert links(text) == links("words")


@pytest.mark.parametrize("format", FOR_PEOPLE)
def test_characters_that_hide_or_turn_text_are_gone(format: ReportFormat) -> None:
    text = shown_text(
        render_report(_with_everywhere("a\u202eb\u2066c\x00d\x1be\u200bf\ufeffg\ud800h\uffffi"), format), format
    )
    assert "abcdefghi" in text
    assert not re.search("[\x00-\x08\x0e-\x1f\u200b\u202a-\u202e\u2066-\u2069\ufeff\uffff]", text)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JAVASCRIPT://x.example/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "//evil.example/x",
        "https://bank.example@evil.example/",
        "https://",
        "http://[broken",
        "https://a..example/",
        'https://x.example/"onmouseover="alert(1)',
        "doc_12",
    ],
)
def test_only_plain_web_addresses_become_links(address: str) -> None:
    evidence = Evidence(origin=address, quote="words")
    checked = msgspec.structs.replace(REPORT.claims[0], evidence=(evidence,))
    report = Report(
        title="T",
        question="Q",
        report_type="catalog",
        answer=Sentence(text="Yes.", citations=(1,)),
        references=(Reference(number=1, url=address, title="Title", quotes=("words",)),),
        table=ReportTable(columns=("Site",), rows=((ReportCell(text=address, citations=(1,)),),)),
        claims=(msgspec.structs.replace(checked, claim=msgspec.structs.replace(checked.claim, source_url=address)),),
        sources=(msgspec.structs.replace(REPORT.sources[0], url=address),),
    )
    assert all(link.startswith("#") for link in html_of(render_report(report, "html")).xpath("//@href"))
    assert not list(markdown_html(render_report(report, "md")).iter("a"))
    assert docx_hyperlinks(render_report(report, "docx")) == []


def test_an_awkward_address_is_still_the_same_address() -> None:
    address = "https://x.example/a_(b)*c*?q=1&copy=2;&amp;x=[y]~z~$1$"
    table = ReportTable(columns=("Site",), rows=((ReportCell(text=address, citations=(1,)),),))
    references = (Reference(number=1, url=address, title="Title"),)
    report = Report(title="T", question="Q", report_type="catalog", table=table, references=references)
    encoded = {address, address.translate({ord(mark): f"%{ord(mark):02X}" for mark in "()*~$[]"})}
    assert address in html_of(render_report(report, "html")).xpath("//@href")
    assert docx_hyperlinks(render_report(report, "docx")) == [address]
    for link in markdown_html(render_report(report, "md")).iter("a"):
        shown = link.get("href").translate({ord(mark): f"%{ord(mark):02X}" for mark in "()*~$[]"})
        assert shown in encoded


# ── whatever the report ──────────────────────────────────────────────────────────────────────────────────────────────

_TEXT = st.text(st.characters(), min_size=0, max_size=30) | st.sampled_from(HOSTILE)
_NUMBERS = st.lists(st.integers(1, 8), max_size=4).map(tuple)
_SENTENCE = st.builds(Sentence, text=_TEXT, citations=_NUMBERS)
_CELL = st.builds(ReportCell, text=_TEXT, citations=_NUMBERS, note=_TEXT)
_REPORTS = st.builds(
    Report,
    title=_TEXT,
    question=_TEXT,
    report_type=st.sampled_from(["narrative", "catalog"]),
    answer=st.none() | _SENTENCE,
    sections=st.lists(
        st.builds(Section, heading=_TEXT, sentences=st.lists(_SENTENCE, max_size=3).map(tuple)), max_size=2
    ).map(tuple),
    table=st.none()
    | st.builds(
        ReportTable,
        columns=st.lists(_TEXT, max_size=3).map(tuple),
        rows=st.lists(st.lists(_CELL, max_size=3).map(tuple), max_size=3).map(tuple),
        others=st.lists(_TEXT, max_size=2).map(tuple),
    ),
    references=st.lists(
        st.builds(
            Reference, number=st.integers(1, 8), url=_TEXT, title=_TEXT, quotes=st.lists(_TEXT, max_size=2).map(tuple)
        ),
        unique_by=lambda reference: reference.number,
        max_size=5,
    ).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(_REPORTS)
def test_every_number_shown_has_its_reference_and_every_quote_is_shown(report: Report) -> None:
    numbers = {reference.number for reference in report.references}
    for format in MARKUP:
        content = render_report(report, format)
        assert shown_numbers(content, format) <= numbers
        text = shown_text(content, format)
        for reference in report.references:
            for quote in reference.quotes:
                assert clean_one_line(quote) in text


@settings(max_examples=30, deadline=None)
@given(_REPORTS)
def test_any_report_makes_files_that_can_be_read(report: Report) -> None:
    assert html_of(render_report(report, "html")).findtext(".//h1")
    with zipfile.ZipFile(io.BytesIO(render_report(report, "docx"))) as archive:
        for name in archive.namelist():
            etree.fromstring(archive.read(name))
    assert pdf_outline(render_report(report, "pdf"))
    assert msgspec.json.decode(render_report(report, "json"), type=Report).report_type == report.report_type


def test_lxml_reads_our_pages_without_repairing_them() -> None:
    parser = lxml_html.HTMLParser(recover=True)
    lxml_html.document_fromstring(render_report(REPORT, "html"), parser=parser)
    known = ("Tag main invalid", "Tag header invalid", "Tag nav invalid", "Tag section invalid", "Tag article invalid")
    known += ("Tag footer invalid", "Tag details invalid", "Tag summary invalid")
    assert [error.message for error in parser.error_log if error.message not in known] == []
