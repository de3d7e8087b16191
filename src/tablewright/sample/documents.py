"""The papers of the sample world: receipts, data sheets of solar panels, and one long manual."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from importlib.resources import files as resources
from typing import Literal, TypeAlias

import msgspec

from tablewright.domain.model import Struct
from tablewright.sample.pdf import write_pdf
from tablewright.sample.site import read_topic, slugify

Kind: TypeAlias = Literal["receipt", "datasheet", "manual"]

# Each kind of data sheet names the same facts in other words, as makers do.
LABELS = {
    "pdf": ("Peak power (STC)", "Width", "Height", "Depth", "Weight", "Module efficiency", "Cells", "Power warranty"),
    "html": ("Nominal power Pmax", "Module width", "Module length", "Frame", "Mass", "Efficiency", "Cells", "Warranty"),
    "txt": ("Rated output", "Width", "Length", "Thickness", "Net weight", "Efficiency", "Cell type", "Warranty"),
}


class SampleFile(Struct, frozen=True):
    """`name` is a relative path with its ending; `text` is what a person reads in the file."""

    name: str
    kind: Kind
    title: str
    text: str
    content: bytes

    @property
    def media_type(self) -> str:
        ending = self.name.rpartition(".")[2]
        return {"pdf": "application/pdf", "html": "text/html; charset=utf-8"}.get(ending, "text/plain; charset=utf-8")


class Receipt(Struct, frozen=True):
    no: str
    shop: str
    place: str
    date: str
    currency: str
    style: Literal["till", "invoice", "note"]
    items: tuple[tuple[str, int, Decimal | int], ...]

    @property
    def total(self) -> Decimal | int:
        return sum(count * price for _, count, price in self.items)


@cache
def sample_files() -> tuple[SampleFile, ...]:
    """All documents; the same ones are what some pages of the sample web serve."""
    return (*_make_receipts(), *_make_datasheets(), _make_manual())


def _make_receipts() -> Iterator[SampleFile]:
    for receipt in msgspec.convert(read_topic("receipts")["receipt"], list[Receipt]):
        text = {"till": _till_slip, "invoice": _invoice_text, "note": _handwritten_note}[receipt.style](receipt)
        name = f"receipts/{receipt.no.lower()}-{slugify(receipt.shop)}.txt"
        yield SampleFile(
            name=name, kind="receipt", title=f"Receipt {receipt.no}, {receipt.shop}", text=text, content=text.encode()
        )


def _till_slip(receipt: Receipt) -> str:
    items = [
        f"{what:<28.40}{count * price:>9}" + (f"\n   {count} x {price}" if count > 1 else "")
        for what, count, price in receipt.items
    ]
    # The width of a till roll, in characters.
    lines = [receipt.shop.upper().center(37), receipt.place.center(37), "", *items, "-" * 37]
    paid = f"{'TOTAL ' + receipt.currency:<28}{receipt.total:>9}"
    return "\n".join([*lines, paid, "", f"{receipt.date} 14:{receipt.no[-2:]}   No. {receipt.no}", "Thank you!"]) + "\n"


def _invoice_text(receipt: Receipt) -> str:
    items = [f"{count:>4}  {what:<36}{price:>10}{count * price:>12}" for what, count, price in receipt.items]
    return (
        f"{receipt.shop}\n{receipt.place}\n\nInvoice no. {receipt.no}\nDate: {receipt.date}\nCurrency: "
        f"{receipt.currency}\n\n Qty  {'Description':<36}{'Unit price':>10}{'Amount':>12}\n"
        + "\n".join(items)
        + f"\n\n{'Total due':<52}{receipt.total:>10}\nPaid by card.\n"
    )


def _handwritten_note(receipt: Receipt) -> str:
    items = ", ".join(f"{count} x {what} at {price}" for what, count, price in receipt.items)
    return (
        f"Receipt {receipt.no}\n\nReceived on {receipt.date} for {items}: {receipt.currency} {receipt.total} in cash."
        f"\n\n{receipt.shop}, {receipt.place}\n"
    )


def _make_datasheets() -> Iterator[SampleFile]:
    for sheet in read_topic("solar")["sheet"]:
        kind: str = sheet["kind"]
        for model, maker, *facts in sheet["rows"]:
            title = model if model.startswith(maker) else f"{maker} {model}"
            stated = list(zip(LABELS[kind], facts, strict=True))
            yield SampleFile(
                name=f"datasheets/{slugify(title)}.{kind}",
                kind="datasheet",
                title=f"{title} data sheet",
                text=_sheet_text(title, stated),
                content=_sheet_content(kind, title, stated),
            )


def _sheet_text(title: str, stated: list[tuple[str, str]]) -> str:
    intro = f"{title}\nData sheet of the photovoltaic module, edition 2026\n"
    notes = "Values at 1,000 W/m2, 25 °C, AM 1.5. Tolerance of power: 0 to +5 W. Largest system voltage: 1,000 V."
    return "\n".join([intro, *(f"{label}: {fact}" for label, fact in stated), "", notes]) + "\n"


def _sheet_content(kind: str, title: str, stated: list[tuple[str, str]]) -> bytes:
    text = _sheet_text(title, stated)
    if kind == "pdf":
        return write_pdf(f"{title} data sheet", [[part for line in text.split("\n") for part in _wrap_line(line)]])
    if kind == "html":
        rows = "".join(f"<tr><th>{label}</th><td>{fact}</td></tr>\n" for label, fact in stated)
        body = f"<h1>{title}</h1>\n<p>Photovoltaic module, edition 2026</p>\n<table>\n{rows}</table>"
        return f'<!doctype html><meta charset="utf-8"><title>{title} data sheet</title>\n{body}\n'.encode()
    return text.encode()


def _make_manual() -> SampleFile:
    """One page for each section, as the `# ` lines of manual.txt divide it."""
    written = (resources("tablewright.sample") / "world" / "manual.txt").read_text(encoding="utf-8")
    title = "Helioscrest HX8 hot-water station: installation and service manual"
    pages = [
        [part for line in section.strip().split("\n") for part in _wrap_line(line)]
        for section in written.split("# ")[1:]
    ]
    footed = [[*page, "", "", f"Helioscrest HX8 · page {number}"] for number, page in enumerate(pages, 1)]
    return SampleFile(
        name="manuals/helioscrest-hx8.pdf",
        kind="manual",
        title=title,
        text=written.replace("# ", ""),
        content=write_pdf(title, footed),
    )


def _wrap_line(line: str) -> list[str]:
    # As many as fit between the margins of the PDF pages.
    return textwrap.wrap(line, 88) or [""]
