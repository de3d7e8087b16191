"""How nouns become database texts and back, and small shared things of the store."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from tablewright.domain.model import PENDING, Cell, Field, Noun, Step, Value, given

_encoder = msgspec.json.Encoder()


class GivenRow(Noun, frozen=True, array_like=True):
    """A row as its owner gave it, by field number: the values, and the original texts where they differ."""

    values: dict[int, Value]
    raw: dict[int, str]

    def cells(self, names: Mapping[int, str]) -> dict[str, Cell]:
        values, raw = self.values, self.raw
        return {
            name: given(values[field_id], raw.get(field_id)) for field_id, name in names.items() if field_id in values
        }


_given = msgspec.json.Decoder(GivenRow)
_cell = msgspec.json.Decoder(Cell)
_field = msgspec.json.Decoder(Field)
_fields = msgspec.json.Decoder(tuple[Field, ...])
_steps = msgspec.json.Decoder(tuple[Step, ...])


def to_text(noun: object) -> str:
    return _encoder.encode(noun).decode()


decode_given = _given.decode
decode_cell = _cell.decode
decode_field = _field.decode
decode_fields = _fields.decode
decode_steps = _steps.decode


FORGOTTEN = "forgotten"
"""The kind of an edit of a row that was removed with its document: all that it said is gone."""


def split_given(cells: Sequence[tuple[int, Cell]]) -> tuple[GivenRow, list[tuple[int, Cell]]]:
    """The given part of a new row, and the cells that carry more than a given value (evidence, a status, …)."""
    values: dict[int, Value] = {}
    raw: dict[int, str] = {}
    others: list[tuple[int, Cell]] = []
    for field_id, cell in cells:
        if cell == PENDING:
            continue
        if cell.value is not None and cell == given(cell.value, cell.raw_value):
            values[field_id] = cell.value
            if cell.raw_value is not None:
                raw[field_id] = cell.raw_value
        else:
            others.append((field_id, cell))
    return GivenRow(values=values, raw=raw), others


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def printable(text: str) -> str:
    """Without what no database takes: NULs, and the half characters that stand for undecodable bytes of file names."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def new_id(prefix: str) -> str:
    """Short enough to type, random enough for many machines to choose at once."""
    return prefix + "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(9))


def slug(name: str) -> str:
    """ "Sales 2024 (final)" → "sales-2024-final", the start of a table's id."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:40].strip("-") or "table"
