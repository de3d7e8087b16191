"""Amounts in workbooks: the number is in the cell, the currency only in its format. calamine does not tell formats, so
they are read here, and only from workbooks that have a format with a currency in it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from tablewright.domain.model import Money

MAX_STYLES_BYTES = 16 * 1024**2
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
# "GBP" or [$GBP] or [$£-809]; a dollar or yen sign alone does not say which.
_CODE = re.compile(r'"\s*([A-Z]{3})\s*"|\[\$([A-Z]{3})(?:-[0-9A-Fa-f]+)?\]')
_SIGN = re.compile(r'"\s*([€£])\s*"|\[\$([€£])(?:-[0-9A-Fa-f]+)?\]|([€£])')
_CURRENCIES = {"€": "EUR", "£": "GBP"}
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]+)")

MoneyFormat: TypeAlias = tuple[str, bool]
"""A currency, and whether its amounts have cents."""
Place: TypeAlias = tuple[int, int]
"""Row and column, from 0."""


def money_cells(path: Path, member: str) -> dict[Place, MoneyFormat]:
    """The cells of a sheet whose number is an amount of a stated currency; none in a workbook we cannot follow."""
    try:
        with zipfile.ZipFile(path) as archive:
            styles = _money_styles(archive)
            return _cells_with(archive, member, styles) if styles else {}
    except (KeyError, ElementTree.ParseError, zipfile.BadZipFile, ValueError):
        return {}


def with_money(record: list[Any], row: int, first_column: int, formats: dict[Place, MoneyFormat]) -> list[Any]:
    """The record with amounts in place of the numbers that are formatted as such."""
    return [amount(value, formats.get((row, column))) for column, value in enumerate(record, start=first_column)]


def amount(value: Any, format: MoneyFormat | None) -> Any:
    if format is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    currency, has_cents = format
    whole = not has_cents and float(value).is_integer()
    return Money(amount=int(value) if whole else float(value), currency=currency)


def currency_of(code: str) -> str:
    """The currency that a number format names, or nothing."""
    if found := _CODE.search(code):
        return found[1] or found[2]
    if found := _SIGN.search(code):
        return _CURRENCIES[found[1] or found[2] or found[3]]
    return ""


def _money_styles(archive: zipfile.ZipFile) -> dict[str, MoneyFormat]:
    """By the number by which cells refer to their style."""
    with archive.open("xl/styles.xml") as file:
        tree = ElementTree.fromstring(file.read(MAX_STYLES_BYTES))
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in tree.iter(f"{_MAIN}numFmt")}
    formats = {number: (currency, "." in code) for number, code in codes.items() if (currency := currency_of(code))}
    used = tree.find(f"{_MAIN}cellXfs")
    styles = enumerate(used if used is not None else ())
    return {str(at): formats[style.get("numFmtId")] for at, style in styles if style.get("numFmtId") in formats}


def _cells_with(archive: zipfile.ZipFile, member: str, styles: dict[str, MoneyFormat]) -> dict[Place, MoneyFormat]:
    places: dict[Place, MoneyFormat] = {}
    with archive.open(member) as file:
        for _, element in ElementTree.iterparse(file):
            if element.tag == f"{_MAIN}c":
                format = styles.get(element.get("s", ""))
                if format is not None:
                    places[_place(element.get("r", ""))] = format
            elif element.tag == f"{_MAIN}row":
                element.clear()
    return places


def _place(reference: str) -> Place:
    """ "B3" is (2, 1)."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise ValueError(reference)
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1
