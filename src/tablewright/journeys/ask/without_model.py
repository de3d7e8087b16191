"""A question without a model: a command to the kept result, a form where every word of it was understood, or else the
passages that share most with it, called what they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tablewright.citations.quotes import is_near_injection
from tablewright.conditions.evaluate import Spellings
from tablewright.corpus.search import CorpusHit
from tablewright.decisions.plan_question import QuestionPlan, texts_for
from tablewright.domain.form import Form
from tablewright.domain.reply import Reply, ToolUse
from tablewright.domain.text import normalize_whitespace
from tablewright.errors import UsageError
from tablewright.journeys.ask.answering import Sources
from tablewright.journeys.ask.members import Inventory, QueryScope
from tablewright.journeys.ask.question_form import Understood, read_question
from tablewright.journeys.ask.tables import reply_of
from tablewright.journeys.ask.turn import QuestionTurn, go_on
from tablewright.journeys.ask.where import known_groups, looked_up

PASSAGES = 8
DEEP = 200
REST = frozenset({"rest", "show the rest"})
_EXPORT = re.compile(r"export(?: it| that table)?(?: to (?P<path>\S.*))?", re.IGNORECASE)


async def answer_without_model(asking: QuestionTurn, things: Inventory) -> Reply:
    said = normalize_whitespace(asking.text)
    if said.casefold() in REST:
        asking.plan = texts_for(said).model_copy(update={"action": "rest"})
        return await go_on(asking)
    if export := _EXPORT.fullmatch(said):
        path = (export["path"] or "").strip("\"'“” ")
        asking.plan = texts_for(said).model_copy(update={"action": "export", "path": path})
        return await go_on(asking)
    understood = read_question(said, await known_groups(asking.context.store, things))
    if not understood.is_whole:
        return await passages(asking, understood)
    try:
        looked = await looked_up(asking.context.store, asking.context.corpus, understood.form, things)
    except UsageError:  # such as a comparison that the values of the column do not take
        return await passages(asking, understood)
    return await from_form(asking, things, understood.form, looked)


async def from_form(
    asking: QuestionTurn, things: Inventory, form: Form, looked: tuple[QuestionPlan, QueryScope]
) -> Reply:
    """Every condition is applied by code to what is known."""
    asking.form = form
    asking.plan, scope = looked
    asking.context = replace(asking.context, model=None)
    reply = await reply_of(asking, things, scope, Spellings())
    assert reply is not None
    return reply


async def passages(asking: QuestionTurn, understood: Understood) -> Reply:
    """The best that have a word of the question: what is merely nearest in meaning may be anything."""
    search = asking.context.corpus.search
    worded = {hit.id for hit in (await search.search_text(asking.text, DEEP)).hits}
    found = (await search.hybrid(asking.text, PASSAGES)).hits
    hits = [hit for hit in found if hit.id in worded and not is_near_injection(hit.text, 0, len(hit.text))]
    asking.tried.append(
        ToolUse(
            tool="search_text + search_vector(segment)",
            asked=asking.text,
            matches=len(hits),
            threshold=f"top {PASSAGES}",
        )
    )
    asking.segments += [hit.id for hit in hits]
    sources = Sources(corpus=asking.context.corpus)
    for hit in hits:
        await sources.cite(hit.document.id, [(hit.start, hit.end)], in_lines=False)
    return await asking.remember(
        Reply(
            question=asking.text,
            answer=headline(hits, understood),
            citations=tuple(sources.citations),
            completeness="incomplete",
            reason="without a model the question is searched for, not answered",
            route="passages",
            form=understood.form if understood.form != Form() else None,
            not_understood=understood.left,
        )
    )


def headline(hits: Sequence[CorpusHit], understood: Understood) -> str:
    words = ", ".join(f"“{word}”" for word in understood.left)
    unread = f" Not understood: {words}." if words else " It names no kind of document, and no table, that is known."
    unread = unread if understood.form != Form() else ""
    count = len(hits)
    matches = "passage matches" if count == 1 else "passages match"
    told = f"{count} {matches} the question's words." if hits else "No passage matches the question's words."
    return f"Without a model this cannot be answered.{unread} {told}"
