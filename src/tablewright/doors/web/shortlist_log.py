"""What the advisor replied beyond words: cards, tables, links, files. The words are in the database; these stay as long
as the server does, for whoever opens the conversation again."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.shortlist import ChatReply
from tablewright.doors.server.context import Visit
from tablewright.doors.web.server_memory import ServerMemory

REMEMBERED = 100
LARGEST = 20 * 1024 * 1024


class ShortlistLog:
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


_talks = ServerMemory(ShortlistLog, most=REMEMBERED)


def talk_of(seen: Visit, shortlist_id: str) -> ShortlistLog:
    return _talks.of(seen, shortlist_id)
