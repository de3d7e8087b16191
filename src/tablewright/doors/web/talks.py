"""What the advisor replied beyond words: cards, tables, links, files. The words are in the database; these stay as long
as the server does, for whoever opens the conversation again."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from tablewright.doors.server.context import Visit
from tablewright.table.shortlist import ChatReply

REMEMBERED = 100
LARGEST = 20 * 1024 * 1024


class Talk:
    """By the number of the message."""

    def __init__(self) -> None:
        self.replies: dict[int, ChatReply] = {}
        self.files: dict[int, tuple[str, bytes]] = {}
        self.asked = ""

    def keep(self, number: int, reply: ChatReply) -> None:
        """With the file that it wrote, which is gone after the turn."""
        self.replies[number] = reply
        path = Path(reply.file)
        if reply.file and path.stat().st_size <= LARGEST:
            self.files[number] = (path.name, path.read_bytes())


_talks: WeakKeyDictionary[Any, OrderedDict[str, Talk]] = WeakKeyDictionary()


def talk_of(seen: Visit, shortlist_id: str) -> Talk:
    talks = _talks.setdefault(seen.tablewright.jobs, OrderedDict())
    talk = talks.setdefault(shortlist_id, Talk())
    talks.move_to_end(shortlist_id)
    while len(talks) > REMEMBERED:
        talks.popitem(last=False)
    return talk
