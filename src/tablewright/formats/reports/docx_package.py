"""The parts of a Word document that are the same for every report: its types, its looks, its bullet."""

from __future__ import annotations

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"

CONTENT_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_WORD}.styles+xml"/>'
    f'<Override PartName="/word/numbering.xml" ContentType="{_WORD}.numbering+xml"/>'
    '<Override PartName="/docProps/core.xml" '
    'ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'
)

PACKAGE_RELATIONS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="document" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    f'<Relationship Id="core" Type="{_PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    "</Relationships>"
)

NUMBERING = (
    f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="singleLevel"/>'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/><w:lvlJc w:val="left"/>'
    '<w:pPr><w:ind w:left="360" w:hanging="360"/></w:pPr></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
)


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


_EDGES = "".join(
    f'<w:{edge} w:val="single" w:sz="4" w:space="0" w:color="C3C9D1"/>'
    for edge in ("top", "left", "bottom", "right", "insideH", "insideV")
)

STYLES = (
    f"<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr>"
    '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>'
    '<w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault>'
    '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="276" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
    "</w:docDefaults>"
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>'
    + _style("Title", "Title", '<w:spacing w:after="200" w:line="240" w:lineRule="auto"/>', '<w:b/><w:sz w:val="40"/>')
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
    + _style("TableText", "Table Text", '<w:spacing w:after="0" w:line="240" w:lineRule="auto"/>', '<w:sz w:val="18"/>')
    + _style("Hyperlink", "Hyperlink", run='<w:color w:val="0B57B0"/><w:u w:val="single"/>', kind="character")
    + '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr>'
    f'<w:tblBorders>{_EDGES}</w:tblBorders><w:tblCellMar><w:top w:w="60" w:type="dxa"/><w:left w:w="100" w:type="dxa"/>'
    '<w:bottom w:w="60" w:type="dxa"/><w:right w:w="100" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style></w:styles>'
)
