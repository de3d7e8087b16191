"""The sources that a report cites, numbered in the order in which they are first cited.

Before a report leaves, every quote is looked up in the stored text that it is said to be from.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.citations.quotes import locate_evidence
from tablewright.domain.model import Evidence
from tablewright.domain.research import Reference
from tablewright.domain.retrieved import is_document
from tablewright.store.store import Store


class References:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[tuple[str, str], tuple[str | None, str]] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._cited: dict[int, list[Evidence]] = {}

    async def cite(self, evidence: Evidence) -> int | None:
        """The number of its source; None where the quote does not stand in the text that was stored."""
        if not await self.holds(evidence):
            return None
        key = evidence.origin, evidence.content_hash
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        quotes = self._cited.setdefault(number, [])
        if not any(evidence.quote in other.quote for other in quotes):
            quotes[:] = [other for other in quotes if other.quote not in evidence.quote] + [evidence]
        return number

    async def cite_all(self, evidence: Sequence[Evidence]) -> tuple[int, ...]:
        numbers = [await self.cite(each) for each in evidence]
        return tuple(sorted({number for number in numbers if number is not None}))

    async def holds(self, evidence: Evidence) -> bool:
        key = evidence.origin, evidence.content_hash
        if key not in self._texts:
            self._texts[key] = await self._stored(*key)
        text, title = self._texts[key]
        if text is None or not evidence.quote:
            return False
        if evidence.is_title:
            return evidence.quote in title
        return locate_evidence(evidence, text) is not None

    async def _stored(self, origin: str, hash: str) -> tuple[str | None, str]:
        """The text and the title of the page as it was opened, or of a document; what only a search result said is
        neither."""
        if is_document(origin):
            return await self._store.pages.text(hash), ""
        page = await self._store.pages.version(origin, hash)
        return (page.text, page.title) if page is not None else (None, "")

    def listed(self) -> tuple[Reference, ...]:
        return tuple(
            Reference(
                number=number,
                url=cited[0].origin,
                title=cited[0].title,
                domain=cited[0].domain,
                quotes=tuple(each.quote for each in cited if not each.is_title),
                title_cited=any(each.is_title for each in cited),
                page=cited[0].page,
                retrieved_at=cited[0].retrieved_at,
                content_hash=cited[0].content_hash,
            )
            for number, cited in sorted(self._cited.items())
        )
