"""What comes back for a question about the documents: the answer, what it stands on, and what it does not know."""

from __future__ import annotations

from tablewright.domain.corpus import Completeness, Intent
from tablewright.domain.form import Form
from tablewright.domain.model import Noun
from tablewright.domain.text import plural
from tablewright.messages.catalogue import AskText, translate, translate_count


class Citation(Noun, frozen=True):
    """[source N]: the passage at `start:end` of the stored text of a document. `quote` is that passage; of a long one
    the lines that matter, with " … " between them."""

    number: int
    document_id: str
    title: str
    path: str
    quote: str
    page: int | None = None
    start: int = 0
    end: int = 0
    content_hash: str = ""


COMPLETENESS: AskText[tuple[Completeness, ...]] = ("exact", "approximate", "incomplete")


class ToolUse(Noun, frozen=True):
    """One use of a tool, in words: what was asked of it, how much it found, and what counted as found."""

    tool: str
    asked: str
    matches: int
    threshold: str = ""
    note: str = ""
    seconds: float = 0.0


class Ledger(Noun, frozen=True):
    """Every thing that was asked about, accounted for: none is lost between what matches and what does not."""

    things: str = "document"
    total: int = 0
    matched: int = 0
    no_match: int = 0
    not_stated: int = 0
    unreadable: int = 0
    undecided: tuple[tuple[str, str], ...] = ()
    """Some of those that are not stated: the thing, and why."""

    def __str__(self) -> str:
        return self.text()

    def text(self, language: str = "") -> str:
        """ "matched 37 of 412 receipts; 3 undecided; 6 documents could not be read": of those nobody knows what they
        are."""
        total = self.total - self.unreadable
        matched: AskText[str] = "matched {matched} of {total} {things}"
        unread: AskText[str] = "{count} document could not be read|{count} documents could not be read"
        things = plural(self.things, total)
        parts = (
            translate("ask", matched, language, matched=self.matched, total=total, things=things),
            translate_count("ask", "{count} undecided", self.not_stated, language),
            translate_count("ask", unread, self.unreadable, language),
        )
        return "; ".join(filter(None, parts))


class ReplyRow(Noun, frozen=True):
    """A thing that matches. `source` is the number of its citation."""

    document_id: str
    title: str
    values: tuple[str, ...]
    page: int | None = None
    source: int = 0


class Reply(Noun, frozen=True):
    """`completeness` says whether the answer is all there is; `reason` why it is not. `relaxed` says which filters were
    dropped and what that added. `result_id` is the kept set of all rows, of which `rows` may be a part."""

    question: str
    answer: str
    intent: Intent = "conceptual"
    citations: tuple[Citation, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[ReplyRow, ...] = ()
    count: int | None = None
    completeness: Completeness = "approximate"
    reason: str = ""
    ledger: Ledger | None = None
    route: str = ""
    route_reason: str = ""
    fallbacks: tuple[str, ...] = ()
    attempts: tuple[ToolUse, ...] = ()
    relaxed: tuple[str, ...] = ()
    result_id: str = ""
    more: int = 0
    """Rows of the kept set that come after these."""
    export: str = ""
    """The file that the person asked to have all rows in, if any."""
    clarification: str = ""
    contradictions: tuple[str, ...] = ()
    """Statements of the answer that say where documents contradict each other."""
    form: Form | None = None
    """The form that was looked up, or as much of one as was understood of a question without a model."""
    not_understood: tuple[str, ...] = ()
    """Words of the question that were not understood without a model."""
    language: str = ""
    """Of the question, as a code, where a model has told it."""
    degraded: str = ""
    """Why it was answered without the model although there is one."""
    conversation: str = ""

    def completeness_text(self) -> str:
        """Return how much was matched, how complete the answer is and why, or "" if it is no list and has no reason."""
        if self.ledger is None and not self.reason:
            return ""
        counted = self.ledger.text(self.language) if self.ledger else ""
        word = translate("ask", self.completeness, self.language)
        complete = translate("ask", "Completeness: {word}", self.language, word=word)
        because = f" ({self.reason})" if self.reason else ""
        return f"{counted[:1].upper()}{counted[1:]}. {complete}{because}.".removeprefix(". ")
