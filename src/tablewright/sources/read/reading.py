"""What comes out of reading a page or a file from the web."""

from __future__ import annotations

from tablewright.domain.model import Noun

MAX_CHARS = 1_000_000
MAX_LINKS = 200


class Reading(Noun, frozen=True):
    """`text` is what is stored: plain lines, nothing that a visitor would not see, the same for the same bytes."""

    text: str
    title: str = ""
    links: tuple[str, ...] = ()
    """Absolute http(s) addresses, those of the main text first."""
    canonical: str = ""
    language: str = ""
    """The primary subtag of what the page says of itself ("en", "de"), or empty."""
    published: str = ""
    """`YYYY-MM-DD`, only where the page states it in its markup."""
    page_starts: tuple[int, ...] = ()


class UnreadablePage(Exception):
    """There is nothing to read in these bytes; the message is the reason, as a part of a sentence ("is encrypted")."""
