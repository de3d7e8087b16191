"""Documents written by hand, so that every byte and every place is known."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from io import BytesIO

# From the left, from the top, the text.
Placed = tuple[float, float, str]
WIDTH, HEIGHT = 612, 792


def pdf(*pages: Sequence[Placed], size: float = 10, extra: str = "", catalog: str = "", annots: str = "") -> bytes:
    """Helvetica at the given places; `extra` are further objects, numbered from 4 + 2 * pages."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, placed in enumerate(pages):
        shown = "\n".join(f"BT /F1 {size} Tf {x} {HEIGHT - y} Td ({text}) Tj ET" for x, y, text in placed)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R {annots} >>"
        )
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream")
    if extra:
        objects.append(extra)
    return pdf_file([content.encode("latin-1") for content in objects])


def pdf_file(objects: Sequence[bytes], trailer: str = "") -> bytes:
    body, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    body += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(body)


def pdf_of_an_image() -> bytes:
    pixels = zlib.compress(b"\x80" * 100 * 100)
    content = b"q 600 0 0 700 0 0 cm /Im1 Do Q"
    return pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /XObject << /Im1 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            b"<< /Type /XObject /Subtype /Image /Width 100 /Height 100 /ColorSpace /DeviceGray /BitsPerComponent 8 "
            b"/Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(pixels), pixels),
        ]
    )


def pdf_with_a_swollen_stream(megabytes: int) -> bytes:
    """A page whose content is a few kilobytes and unpacks to as much as you like."""
    packer = zlib.compressobj(1)
    operators = b"0 0 m 1 1 l S\n" * 74_899
    packed = b"".join(packer.compress(operators) for _ in range(megabytes)) + packer.flush()
    return pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
            b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(packed), packed),
        ]
    )


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, **parts: str) -> bytes:
    """`parts` are further members of the folder word: styles="<w:styles …"."""
    return zipped(
        {
            "[Content_Types].xml": b"<Types/>",
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>".encode(),
            **{f"word/{name}.xml": xml.encode() for name, xml in parts.items()},
        }
    )


def paragraph(text: str, style: str = "") -> str:
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{about}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(*rows: Sequence[str]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def zipped(members: dict[str, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()
