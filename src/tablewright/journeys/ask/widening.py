"""Where nothing matches, the same is looked up again with less asked for: without each condition, in documents of other
kinds, and, with a model, in the texts of the other documents. The reply says what was given up, and what that found."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from tablewright.conditions.evaluate import Spellings
from tablewright.corpus.results import FoundItems
from tablewright.decisions.plan_question import QuestionPlan
from tablewright.domain.condition import describe_condition
from tablewright.domain.form import Form
from tablewright.domain.reply import ToolUse
from tablewright.domain.text import plural
from tablewright.journeys.ask.answering import NAMED, Sources, ledger_of
from tablewright.journeys.ask.members import Inventory, Member, QueryScope
from tablewright.journeys.ask.query import answer, asked_of
from tablewright.journeys.ask.texts import cited_statements, read_texts
from tablewright.journeys.ask.turn import QuestionTurn
from tablewright.journeys.ask.where import looked_up, members_of
from tablewright.messages.catalogue import AskText, translate


async def looser(asking: QuestionTurn, things: Inventory, scope: QueryScope, said: Spellings) -> tuple[str, ...]:
    """What each condition, and the kind, keeps out, so that nobody must guess which one was wrong."""
    plan = asking.plan
    without: AskText[str] = "Without “{condition}” {count} would match{named}."
    of_others: AskText[str] = (
        "Of documents that are not {things}, {count} matches{named}.|"
        "Of documents that are not {things}, {count} match{named}."
    )
    told = []
    for condition in plan.conditions:
        rest = [each for each in plan.conditions if each is not condition]
        wider_plan = plan.model_copy(update={"conditions": rest})
        told.append(
            looked_again(asking, wider_plan, scope, said, without, condition=describe_condition(condition.condition))
        )
    if plan.conditions and (others := await of_other_kinds(asking, things, scope)):
        wider = QueryScope(members=others)
        told.append(looked_again(asking, plan, wider, said, of_others, things=plural(scope.called, 2)))
    return tuple(filter(None, told))


def looked_again(
    asking: QuestionTurn, plan: QuestionPlan, scope: QueryScope, said: Spellings, text: str, **values: str
) -> str:
    found, _ = answer(plan.model_copy(update={"aggregate": "", "limit": 0}), scope, said)
    count = len(found.matches)
    asking.tried.append(
        ToolUse(tool="annotations_search", asked=asked_of(scope.called, plan), matches=count, note="wider")
    )
    if not count:
        return ""
    names = f": {', '.join(each.title for each in found.matches)}" if count <= NAMED else ""
    return translate("ask", text, plan.language, count=count, named=names, **values)


async def of_other_kinds(asking: QuestionTurn, things: Inventory, scope: QueryScope) -> Sequence[Member]:
    """The documents that were left out for their kind, with what is known of them."""
    if any(each.row for each in scope.members):
        return ()
    if asking.form is not None:
        form = structs.replace(asking.form, kind="")
        members = (await looked_up(asking.context.store, asking.context.corpus, form, things))[1].members
    else:
        members = (await members_of(asking.context.store, Form(), things))[0]
    known = {each.document.id for each in scope.members}
    return [each for each in members if each.document.id not in known]


async def beside_the_table(
    asking: QuestionTurn, things: Inventory, scope: QueryScope, found: FoundItems, sources: Sources
) -> tuple[list[str], str]:
    """What passages of documents that were not looked up say to it, and how much was read for that. A model that does
    not answer costs only this."""
    wanted = "; ".join(map(describe_condition, asking.plan.where)) or asking.plan.question
    whole = {each.document.id for each in scope.members if not each.row}
    others = {each.id for members in things.kinds.values() for each in members} - whole
    if not others:
        return [], ""
    read = await read_texts(asking, things, rounds=1, lookup=f"{wanted}: {ledger_of(found)}", documents=others)
    if read.degraded:
        return [], asking.translate("other documents were not searched for it: {why}", why=read.degraded)
    lines = await cited_statements(asking, read.said, read.passages, sources)
    return lines, asking.translate("beside the lookup, {read}", read=read.looked) if lines else ""
