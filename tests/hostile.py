"""Small files that swell, crash or occupy whoever opens them; and what they must leave unharmed."""

from __future__ import annotations

import asyncio
import resource
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

from tests.documents.parse.making import pdf_file, zipped

MB = 1024**2
MOST_GROWTH = 300 * MB


def swelling_pdf() -> bytes:
    """A page that shows one packed stream of drawing operators, packed twice, hundreds of times."""
    once = zlib.compress(b"0 0 m 1 1 l S\n" * 300_000, 9)
    packed = zlib.compress(once, 9)
    contents = b"4 0 R " * 200
    return pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents [%s] >>" % contents,
            b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
        ]
    )


def swelling_workbook(rows: int = 20_000, length: int = 1_000_000) -> bytes:
    """One text, stored once, that every row has."""
    office = "http://schemas.openxmlformats.org"
    main, link = f"{office}/spreadsheetml/2006/main", f"{office}/officeDocument/2006/relationships"

    def links(**targets: str) -> str:
        found = "".join(
            f'<Relationship Id="{at}" Target="{at}.xml" Type="{link}/{kind}"/>' for at, kind in targets.items()
        )
        return f'<Relationships xmlns="{office}/package/2006/relationships">{found}</Relationships>'

    cells = "".join(f'<row r="{at}"><c r="A{at}" t="s"><v>0</v></c></row>' for at in range(1, rows + 1))
    sheet = '<sheet name="S" sheetId="1" r:id="worksheets/sheet1"/>'
    parts = {
        "_rels/.rels": links(**{"xl/workbook": "officeDocument"}),
        "xl/_rels/workbook.xml.rels": links(**{"worksheets/sheet1": "worksheet", "sharedStrings": "sharedStrings"}),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{link}"><sheets>{sheet}</sheets></workbook>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}"><si><t>{"A" * length}</t></si></sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
    }
    return zipped({name: content.encode() for name, content in parts.items()})


def swelling_parquet(rows: int = 20_000, length: int = 1_000_000) -> bytes:
    """A dictionary with one text that every row refers to."""
    import pyarrow
    import pyarrow.parquet

    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows, "int32"), ["A" * length])
    file = BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"name": column}), file, compression="gzip", store_schema=False)
    return file.getvalue()


def endless_parquet(rows: int = 20_000_000) -> bytes:
    """Rows without a value, which take no room at all."""
    import pyarrow
    import pyarrow.parquet

    file = BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"name": pyarrow.nulls(rows)}), file, row_group_size=rows)
    return file.getvalue()


def multiplying_robots() -> str:
    """Each rule holds for each of the agents above it."""
    agents = "".join(f"User-agent: a{at}\n" for at in range(14_000))
    return agents + "".join(f"Disallow: /*{at}\n" for at in range(14_000))


@asynccontextmanager
async def unharmed() -> AsyncIterator[None]:
    """What happens inside leaves this process as it was: it goes on serving others, and does not grow."""
    ticks = 0

    async def serve() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    serving = asyncio.create_task(serve())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:
        yield
    finally:
        serving.cancel()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < MOST_GROWTH
    assert ticks > 10


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path
