"""How a person looks at a table: which rows, in which order, and how its columns are laid out."""

from __future__ import annotations

from tablewright.domain.condition import Condition
from tablewright.domain.model import Noun


class ColumnLayout(Noun, frozen=True):
    name: str
    width: int = 0
    hidden: bool = False


class View(Noun, frozen=True):
    """`columns` are in the order in which they are shown; those that it does not name follow."""

    name: str = ""
    columns: tuple[ColumnLayout, ...] = ()
    sort: str = ""
    descending: bool = False
    only: str = ""
    find: str = ""
    filters: tuple[Condition, ...] = ()
    wrap: bool = False
