"""Answer from texts: search the documents' own words and compose an answer from quotes, in rounds. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tablewright.documents.corpus import Corpus
from tablewright.documents.search import CorpusHit
from tablewright.domain.documents import Document
from tablewright.domain.reply import Reply, ToolUse
from tablewright.domain.retrieved import track_documents
from tablewright.domain.text import pluralize_noun
from tablewright.llm.tasks.compose import AnswerToCompose, ComposeAnswer, Passage, TextAnswer
from tablewright.llm.tasks.decision import decide
from tablewright.store.schema import number_of_part
from tablewright.store.snapshot import Snapshot
from tablewright.workflows.ask.answering import CitationList
from tablewright.workflows.ask.query_rows import Inventory
from tablewright.workflows.ask.turn import QuestionTurn, append_sources


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """An answer from passages. `looked` says how much was read, `widened` that the search went beyond the named
    documents, `degraded` why the model gave no answer."""

    said: TextAnswer
    passages: Sequence[Passage]
    looked: str
    widened: str = ""
    degraded: str = ""


async def answer_from_texts(asking: QuestionTurn, things: Inventory, *, instead: str = "") -> Reply | None:
    """Answer from texts, or return None if the model does not (`asking.degraded`); `instead` says which lookup did not
    tell before."""
    read = await read_texts(asking, things)
    if read.degraded:
        asking.degraded = read.degraded
        return None
    return await reply_from_texts(asking, read, instead)


async def read_texts(
    asking: QuestionTurn,
    things: Inventory,
    *,
    rounds: int = 3,
    lookup: str = "",
    documents: Collection[str] | None = None,
) -> TextReading:
    """Read passages for the question. If it names kinds or documents, they are searched first, and all others only in
    the last round, or if they have no further search. Each round asks for what the one before left open, and shows what
    was quoted and what is new. `lookup` is what code has found in tables; `documents` restricts the search."""
    context, plan = asking.context, asking.plan
    assert context.model is not None
    queries = [query for query in plan.queries if query.strip()] or [plan.question]
    named = {each.name: [each] for members in things.kinds.values() for each in members} | dict(things.kinds)
    meant = [name for name in plan.of if name in named] if plan.action == "text" else []
    called = [pluralize_noun(name, 2) if name in things.kinds else name for name in meant]
    within = documents or {each.id for name in meant for each in named[name]} or None
    searched: list[str] = []
    said, passages, seen = TextAnswer(), list[Passage](), list[Passage]()
    widened = ""
    for number in range(rounds):
        searched += [query for query in queries if query not in searched]
        places = {quote.source for statement in said.statements for quote in statement.quotes}
        quoted = [passages[place] for place in sorted(places)]
        best, found = await find_passages(
            context.corpus, queries, context.model.text_room, within, kept=quoted, known=seen
        )
        asking.segments += found
        new = [each for each in best if not any(each.is_within(known) for known in seen)]
        where = f" in {', '.join(called)}" if within and called else ""
        asking.tried.append(
            ToolUse(
                tool="search_text + search_vector(segment)",
                asked=f"{' · '.join(queries)}{where}",
                matches=len(best),
                threshold="the best that fit",
                note=f"{len(new)} new" if seen else "",
            )
        )
        if not seen or new:
            passages, seen = best, [*seen, *new]
            asked = AnswerToCompose(
                question=plan.question,
                passages=tuple(passages),
                searched=tuple(searched),
                today=asking.today,
                lookup=lookup,
            )
            with track_documents([each.document_id for each in passages]):
                outcome = await decide(ComposeAnswer(), asked, context.model, context.tell)
            if outcome.degraded:
                return TextReading(said=TextAnswer(), passages=(), looked="", degraded=outcome.degraded)
            said = outcome.decided
            if said.answered == "yes":
                break
        queries = [query for query in said.queries if query not in searched]
        # Widened only if another round can use it; then all searches are new.
        if within and number + 1 < rounds and (not queries or number + 2 == rounds):
            widened = asking.translate("Searched in all documents, not only in {where}.", where=", ".join(called))
            within, queries = None, [*searched, *queries]
        if not queries:
            break
    scope = set(within or ()) or {each.id for members in things.kinds.values() for each in members}
    count = len({each.document_id for each in seen})
    looked = asking.translate(
        "{passages} of {count} document were read|{passages} of {count} documents were read",
        passages=asking.translate("{count} passage|{count} passages", count=len(seen)),
        count=count,
    )
    sizes = {each.id: each.characters for members in things.kinds.values() for each in members}
    if scope <= {
        each.document_id for each in seen if not each.start and len(each.text) >= sizes.get(each.document_id, 0)
    }:
        looked = asking.translate("the document was read whole|all {count} documents were read whole", count=len(scope))
    elif said.statements:
        looked = asking.translate("the best passages were read, not all: {read}", read=looked)
    return TextReading(said=said, passages=passages, looked=looked, widened=widened)


async def cite_statements(
    asking: QuestionTurn, said: TextAnswer, passages: Sequence[Passage], sources: CitationList
) -> list[str]:
    """Return a line for each statement, with its sources."""
    lines = []
    for statement in said.statements:
        cited = []
        for quote in statement.quotes:
            place = passages[quote.source]
            span = (place.start + quote.start, place.start + quote.end)
            cited.append(await sources.cite(place.document_id, [span], in_lines=False))
        lines.append(append_sources(asking.calculated(statement.text, statement.calculations), cited))
    return lines


async def reply_from_texts(asking: QuestionTurn, read: TextReading, instead: str) -> Reply:
    said, sources = read.said, CitationList(corpus=asking.context.corpus)
    lines = await cite_statements(asking, said, read.passages, sources)
    if not lines:
        lines.append(asking.translate("The documents do not say."))
    lines += asking.what_is_missing(said.missing if said.answered != "yes" else "", said.left_out)
    ask = ""
    # Say what was tried, and what would help.
    if not said.statements:
        tried = "; ".join(
            f"{each.asked} ({asking.translate('{count} passage|{count} passages', count=each.matches)})"
            for each in asking.tried
        )
        ask = f"{asking.translate('Searched for: {tried}.', tried=tried)} {said.ask}".strip()
    return await asking.remember(
        Reply(
            question=asking.text,
            answer="\n".join(lines),
            citations=tuple(sources.citations),
            completeness="approximate" if said.statements else "incomplete",
            reason=read.looked,
            route="long-text",
            route_reason=asking.plan.question,
            relaxed=tuple(filter(None, (instead, read.widened))),
            clarification=ask,
            contradictions=tuple(each.text for each in said.statements if each.contradiction),
        )
    )


# ── passages: the best of several searches, with their neighbours ────────────────────────────────────────────────────


async def find_passages(
    corpus: Corpus,
    queries: Sequence[str],
    room: int,
    documents: Collection[str] | None = None,
    *,
    kept: Sequence[Passage] = (),
    known: Sequence[Passage] = (),
) -> tuple[list[Passage], list[int]]:
    """Return the passages that are `kept`, then the best that are not `known`, until `room` characters are full, and
    the segments found. Adjacent segments are one passage."""
    rankings = [
        # Hits per search that enter the fusion; further down they hardly count.
        [hit for hit in (await corpus.search.hybrid(query, 40, documents=documents)).hits if not is_known(hit, known)]
        for query in queries
    ]
    best = fuse_hits(rankings)[:24]
    # Quoted passages stay at the front with their order, because the statements refer to them by place.
    made = list(kept)
    room -= sum(len(each.text) for each in kept)
    headings = {(hit.document.id, hit.start): hit.heading for hit in best}
    for document, start, end in await corpus.documents.run_on_snapshot(lambda moment: select_spans(moment, best, room)):
        if any(each.document_id == document.id and each.start <= start < each.end for each in kept):
            continue
        text = await corpus.documents.retrieved(document.id)
        made.append(
            Passage(
                document_id=document.id,
                title=document.full_title,
                text=text.text[start:end],
                start=start,
                page=text.page_at(start),
                heading=next(
                    (said for (id, at), said in headings.items() if id == document.id and start <= at < end), ""
                ),
            )
        )
    return made, [hit.id for hit in best]


def is_known(hit: CorpusHit, passages: Sequence[Passage]) -> bool:
    return any(
        each.document_id == hit.document.id and each.start <= hit.start < each.start + len(each.text)
        for each in passages
    )


def fuse_hits(rankings: Sequence[Sequence[CorpusHit]]) -> list[CorpusHit]:
    """Return all hits, the best of each search in turn: what is first in one search is read, wherever others put it.
    Of equals those that more searches found come first; the id makes the order repeatable."""
    hits = {hit.id: hit for ranking in rankings for hit in ranking}
    places: dict[int, list[int]] = {}
    for ranking in rankings:
        for place, hit in enumerate(ranking):
            places.setdefault(hit.id, []).append(place)
    return [hits[id] for id in sorted(places, key=lambda id: (min(places[id]), -len(places[id]), id))]


def select_spans(moment: Snapshot, hits: Sequence[CorpusHit], room: int) -> list[tuple[Document, int, int]]:
    """Return spans to read: short documents whole, long ones around their hits, until `room` characters are full."""
    stretches: dict[str, list[tuple[int, int]]] = {}
    order: list[tuple[str, int]] = []
    documents: dict[str, Document] = {}
    left = room
    for hit in hits:
        document = hit.document
        documents[document.id] = document
        taken = stretches.setdefault(document.id, [])
        if any(first <= hit.start < last for first, last in taken):
            continue
        # A document up to this length is shown whole, so that no context is missing.
        start, end = 0, document.characters
        if end > 3_500:
            number = number_of_part(hit.id)
            near = moment.segments_of(document.id, max(0, number - 1), number + 1)
            start, end = min(each.segment.start for each in near), max(each.segment.end for each in near)
        if end - start > left:
            continue
        taken.append((start, end))
        order.append((document.id, start))
        left -= end - start
    made: dict[tuple[str, int], tuple[Document, int, int]] = {}
    for id, start in order:
        first, last = next(each for each in merge_spans(stretches[id]) if each[0] <= start < each[1])
        made.setdefault((id, first), (documents[id], first, last))
    return list(made.values())


def merge_spans(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        # Neighbours are separated by at most a line end or two; joined, they are one quote.
        if joined and start <= joined[-1][1] + 2:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
