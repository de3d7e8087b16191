"""The result of reading a page or a file from the web, and the exception if nothing can be read."""

from __future__ import annotations

from tablewright.domain.model import Struct


class PageLimits(Struct, frozen=True):
    # About three novels; a longer page is data, whose beginning must do.
    characters: int = 1_000_000
    # More lines than fit into the characters unless they are nearly empty.
    lines: int = 50_000
    # A larger page is data, and parsing it would take more memory than a worker has.
    html_characters: int = 12_000_000
    # Browsers look for a charset in the first 1,024 bytes; some pages state it later.
    charset_bytes: int = 4_096
    # No author writes a longer inline style; the rule that hides could be beyond the part that is read, so the text of
    # such an element counts as hidden.
    style_characters: int = 10_000
    # A price or a label for screen readers is at most this long; a longer hidden text is not worth the risk.
    hidden_label_characters: int = 40
    # A longer text next to a value is a sentence.
    label_characters: int = 60
    # A longer block is running text.
    block_characters: int = 80


PAGE_LIMITS = PageLimits()


class Reading(Struct, frozen=True):
    """The text as it is stored: plain lines that a visitor can see, always the same for the same bytes."""

    text: str
    title: str = ""
    links: tuple[str, ...] = ()
    """Absolute http(s) addresses, those of the main text first."""
    canonical: str = ""
    language: str = ""
    """The primary subtag of the language that the page declares ("en", "de"), or empty."""
    published: str = ""
    """`YYYY-MM-DD` if the page states it in its markup, else empty."""
    page_starts: tuple[int, ...] = ()
    is_product: bool = False
    """True if its markup says that it is about one product; many product pages do not say so."""


class UnreadablePage(Exception):
    """These bytes have no readable text; the message is the reason, as part of a sentence ("is encrypted")."""
