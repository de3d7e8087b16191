"""What a person has decided about a proposal and not applied yet: whoever is cut off finds it when they are back."""

from __future__ import annotations

import msgspec

from tablewright.app import CellAt
from tablewright.domain.model import Cell
from tablewright.doors.server.context import Visit
from tablewright.doors.web.server_memory import ServerMemory

REMEMBERED = 100


class ReviewVerdict(msgspec.Struct, frozen=True):
    """What is to become of a cell; `own` is what the person wrote in its place."""

    word: str
    own: Cell | None = None


Verdicts = dict[CellAt, ReviewVerdict]

_verdicts: ServerMemory[Verdicts] = ServerMemory(Verdicts, most=REMEMBERED)


def verdicts_of(seen: Visit, proposal_id: str) -> Verdicts:
    """Each person has their own; to be emptied once they are applied."""
    return _verdicts.of(seen, (seen.person.id, proposal_id))
