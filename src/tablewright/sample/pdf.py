"""Writes plain PDF files: pages of text in Helvetica, which every reader of PDF knows without a font being embedded."""

from __future__ import annotations

from collections.abc import Sequence

# A4 in points.
WIDTH, HEIGHT = 595, 842
# 2 cm in points.
MARGIN = 56
# In points: a size that is read on paper and on a screen alike.
SIZE, LEADING = 10.5, 15.0


def write_pdf(title: str, pages: Sequence[Sequence[str]]) -> bytes:
    """Each page is a sequence of lines that are short enough already; characters outside Windows-1252 become "?"."""
    # Objects 1 to 3 are the catalogue, the list of pages and the font; each page then takes two.
    first_page = 4
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        content = first_page + 2 * number + 1
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            _page_stream(lines),
        ]
    objects.append(b"<< /Title " + _pdf_string(title) + b" >>")
    return _assemble_file(objects)


def _page_stream(lines: Sequence[str]) -> bytes:
    top = HEIGHT - MARGIN
    shown = b"\n".join(_pdf_string(line) + b" Tj T*" for line in lines)
    text = f"BT /F1 {SIZE} Tf {LEADING} TL {MARGIN} {top} Td\n".encode() + shown + b"\nET"
    return f"<< /Length {len(text)} >>\nstream\n".encode() + text + b"\nendstream"


def _pdf_string(text: str) -> bytes:
    raw = text.encode("cp1252", "replace")
    return b"(" + raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


def _assemble_file(objects: Sequence[bytes]) -> bytes:
    # Four bytes beyond ASCII tell programs that the file is binary.
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    # Entries of exactly 20 bytes, as the format demands.
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
    return bytes(out + f"{trailer}startxref\n{start}\n%%EOF\n".encode())
