"""Render a tidy report as a Word document, written as the few XML parts that it consists of. No I/O."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from html import escape

from tablewright.domain.research import Report
from tablewright.formats.reports.outline import (
    Block,
    Heading,
    Item,
    OutlineTable,
    Paragraph,
    Runs,
    TextRun,
    outline_report,
)

# Namespaces and addresses that the format prescribes; Word opens no part without them.
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# A4, in twentieths of a point.
_PORTRAIT, _LANDSCAPE = (11906, 16838), (16838, 11906)
# 2 cm, in twentieths of a point.
_MARGIN_TWIPS = 1134


def render_docx_report(report: Report) -> bytes:
    """Return the document; the same report gives the same bytes."""
    body = DocxBody(report)
    parts = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>'
            f'<Override PartName="/word/styles.xml" ContentType="{_WORD}.styles+xml"/>'
            f'<Override PartName="/word/numbering.xml" ContentType="{_WORD}.numbering+xml"/>'
            '<Override PartName="/docProps/core.xml" '
            'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="document" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
            f'<Relationship Id="core" Type="{_PACKAGE}/relationships/metadata/core-properties" '
            'Target="docProps/core.xml"/>'
            "</Relationships>"
        ),
        "docProps/core.xml": _write_core_properties(report),
        "word/document.xml": body.document(),
        "word/_rels/document.xml.rels": body.relations(),
        "word/styles.xml": _write_styles(),
        "word/numbering.xml": (
            f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="singleLevel"/>'
            '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/>'
            '<w:lvlJc w:val="left"/>'
            '<w:pPr><w:ind w:left="360" w:hanging="360"/></w:pPr></w:lvl></w:abstractNum>'
            '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
        ),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, xml in parts.items():
            # The earliest time that a zip archive can hold: with the real one, the same report would give other bytes.
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            declared = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{xml}'
            archive.writestr(about, declared, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


class DocxBody:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._links: dict[str, str] = {}
        self._bookmarks: set[int] = set()
        columns = len(report.table.columns) if report.table and report.table.rows else 0
        # A wider table turns the page, so that its cells keep more than a word per line.
        self._page = _LANDSCAPE if columns > 4 else _PORTRAIT

    def document(self) -> str:
        blocks = "".join(self._block(block) for block in outline_report(self._report))
        width, height = self._page
        orientation = ' w:orient="landscape"' if width > height else ""
        sides = " ".join(f'w:{side}="{_MARGIN_TWIPS}"' for side in ("top", "right", "bottom", "left"))
        return (
            f'<w:document {_W} xmlns:r="{_OFFICE}"><w:body>{blocks}'
            f'<w:sectPr><w:pgSz w:w="{width}" w:h="{height}"{orientation}/>'
            f'<w:pgMar {sides} w:header="567" w:footer="567" w:gutter="0"/></w:sectPr></w:body></w:document>'
        )

    def relations(self) -> str:
        """Return the relations part; call it after `document`, which collects the links."""
        links = "".join(
            f'<Relationship Id="{name}" Type="{_OFFICE}/hyperlink" Target="{escape(url)}" TargetMode="External"/>'
            for url, name in self._links.items()
        )
        return (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/>'
            f'<Relationship Id="numbering" Type="{_OFFICE}/numbering" Target="numbering.xml"/>{links}</Relationships>'
        )

    def _block(self, block: Block) -> str:
        match block:
            case Heading():
                style = "Title" if block.level == 1 else f"Heading{block.level - 1}"
                return _write_paragraph(_text_run(block.text), style)
            case Paragraph():
                return _write_paragraph(self._inline(block.runs))
            case Item():
                return self._item(block)
            case OutlineTable():
                return self._table(block)

    def _item(self, item: Item) -> str:
        quotes = "".join(_write_paragraph(self._inline(quote), "Quote") for quote in item.quotes)
        if not item.number:
            return _write_paragraph(self._inline(item.runs), "ListBullet") + quotes
        number = self._bookmarked(item.number, _text_run(f"[{item.number}]"))
        return _write_paragraph(f"{number}<w:r><w:tab/></w:r>{self._inline(item.runs)}", "Reference") + quotes

    def _bookmarked(self, number: int, xml: str) -> str:
        """Wrap the XML in a bookmark, once per number: Word rejects duplicate names."""
        if number in self._bookmarks:
            return xml
        self._bookmarks.add(number)
        place = len(self._bookmarks)
        return f'<w:bookmarkStart w:id="{place}" w:name="reference_{number}"/>{xml}<w:bookmarkEnd w:id="{place}"/>'

    def _table(self, grid: OutlineTable) -> str:
        columns = max(len(grid.header), 1)
        width = (self._page[0] - 2 * _MARGIN_TWIPS) // columns
        rows = "".join(_write_table_row([self._inline(cell) for cell in row], width) for row in grid.rows)
        return (
            '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/>'
            '<w:tblLook w:val="0420" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" '
            f'w:noVBand="1"/></w:tblPr><w:tblGrid>{f"""<w:gridCol w:w="{width}"/>""" * columns}</w:tblGrid>'
            f"{_write_table_row([_text_run(name, 'bold') for name in grid.header], width, header=True)}{rows}</w:tbl>"
            # Word joins two tables that have no paragraph between them.
            f"{_write_paragraph('')}"
        )

    def _inline(self, runs: Runs) -> str:
        space = '<w:r><w:t xml:space="preserve"> </w:t></w:r>'
        return space.join(self._run(run) for run in runs if run.text)

    def _run(self, run: TextRun) -> str:
        if run.cites:
            number = _text_run(run.text, style="Hyperlink")
            return f'<w:hyperlink w:anchor="reference_{run.cites}" w:history="1">{number}</w:hyperlink>'
        if run.link:
            name = self._links.setdefault(run.link, f"link{len(self._links) + 1}")
            return (
                f'<w:hyperlink r:id="{name}" w:history="1">{_text_run(run.text, run.look, "Hyperlink")}</w:hyperlink>'
            )
        return _text_run(run.text, run.look)


def _text_run(text: str, look: str = "", style: str = "") -> str:
    about = f'<w:rStyle w:val="{style}"/>' if style else ""
    about += {"bold": "<w:b/>", "italic": "<w:i/>"}.get(look, "")
    properties = f"<w:rPr>{about}</w:rPr>" if about else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text, quote=False)}</w:t></w:r>'


def _write_paragraph(xml: str, style: str = "") -> str:
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{about}{xml}</w:p>"


def _write_table_row(cells: list[str], width: int, *, header: bool = False) -> str:
    # A row stays on one page, and the header is repeated on each.
    about = f"<w:trPr><w:cantSplit/>{'<w:tblHeader/>' if header else ''}</w:trPr>"
    shade = '<w:shd w:val="clear" w:color="auto" w:fill="EEF1F5"/>' if header else ""
    inside = "".join(
        f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/>{shade}</w:tcPr>{_write_paragraph(cell, "TableText")}</w:tc>'
        for cell in cells
    )
    return f"<w:tr>{about}{inside}</w:tr>"


def _write_core_properties(report: Report) -> str:
    created = _format_w3c_time(report.created_at)
    return (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(report.title, quote=False)}</dc:title><dc:creator>Tablewright</dc:creator>"
        + (f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>' if created else "")
        + "</cp:coreProperties>"
    )


def _format_w3c_time(iso: str) -> str:
    """Return the time as Word reads it, or "" if it is invalid; without a zone it counts as UTC."""
    try:
        moment = datetime.fromisoformat(iso)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return ""
    # Windows counts time from 1601; an earlier date says nothing there.
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1601 else ""


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _style(name: str, title: str, paragraph: str = "", run: str = "", *, kind: str = "paragraph") -> str:
    based = '<w:basedOn w:val="Normal"/>' if kind == "paragraph" else ""
    after = '<w:next w:val="Normal"/>' if name.startswith(("Heading", "Title")) else ""
    about = f"<w:pPr>{paragraph}</w:pPr>" if paragraph else ""
    look = f"<w:rPr>{run}</w:rPr>" if run else ""
    return (
        f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{title}"/>{based}{after}<w:qFormat/>'
        f"{about}{look}</w:style>"
    )


def _heading(level: int, size: int, before: int) -> str:
    spacing = (
        f'<w:keepNext/><w:keepLines/><w:spacing w:before="{before}" w:after="100"/><w:outlineLvl w:val="{level - 1}"/>'
    )
    return _style(
        f"Heading{level}", f"heading {level}", spacing, f'<w:b/><w:color w:val="1F3A5F"/><w:sz w:val="{size}"/>'
    )


def _write_styles() -> str:
    edges = "".join(
        f'<w:{edge} w:val="single" w:sz="4" w:space="0" w:color="C3C9D1"/>'
        for edge in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    return (
        f"<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr>"
        '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>'
        # Sizes are half points: 11 pt text, 20 pt title, 14 and 11.5 pt headings; space is in twentieths of a point.
        '<w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault>'
        '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="276" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
        "</w:docDefaults>"
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>'
        + _style(
            "Title", "Title", '<w:spacing w:after="200" w:line="240" w:lineRule="auto"/>', '<w:b/><w:sz w:val="40"/>'
        )
        + _heading(1, 28, 360)
        + _heading(2, 23, 200)
        + _style(
            "ListBullet",
            "List Bullet",
            '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:spacing w:after="60"/>'
            '<w:ind w:left="360" w:hanging="360"/>',
        )
        + _style(
            "Reference",
            "Reference",
            '<w:tabs><w:tab w:val="left" w:pos="567"/></w:tabs><w:spacing w:before="120" w:after="40"/>'
            '<w:ind w:left="567" w:hanging="567"/>',
        )
        + _style(
            "Quote",
            "Quote",
            '<w:spacing w:after="60"/><w:ind w:left="850"/>',
            '<w:color w:val="4A525C"/><w:sz w:val="20"/>',
        )
        + _style(
            "TableText", "Table Text", '<w:spacing w:after="0" w:line="240" w:lineRule="auto"/>', '<w:sz w:val="18"/>'
        )
        + _style("Hyperlink", "Hyperlink", run='<w:color w:val="0B57B0"/><w:u w:val="single"/>', kind="character")
        + '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr>'
        f'<w:tblBorders>{edges}</w:tblBorders><w:tblCellMar><w:top w:w="60" w:type="dxa"/>'
        '<w:left w:w="100" w:type="dxa"/>'
        '<w:bottom w:w="60" w:type="dxa"/><w:right w:w="100" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>'
        "</w:styles>"
    )
