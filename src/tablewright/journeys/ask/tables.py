"""From tables: the columns that a plan needs are read from all documents of the kind, and code, or a second look of
the model, answers from the cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec import structs

from tablewright.conditions.evaluate import Rules, Spellings
from tablewright.corpus.results import FoundItem, FoundItems
from tablewright.decisions.conclude import Conclude, Conclusion, NumberedRow, ToConclude
from tablewright.decisions.decision import decide
from tablewright.decisions.plan_question import KIND, PlannedColumn, QuestionPlan
from tablewright.domain.condition import describe_condition
from tablewright.domain.corpus import Document
from tablewright.domain.form import Form
from tablewright.domain.model import Field, column_key
from tablewright.domain.reply import Ledger, Reply, ToolUse
from tablewright.domain.retrieved import concerning
from tablewright.domain.run import EstimateRange
from tablewright.domain.text import plural, shortened
from tablewright.engine.fill import Fill
from tablewright.errors import ModelError
from tablewright.journeys.ask.answering import (
    NAMED,
    ROWS,
    Sources,
    answer_text,
    calculations,
    kept_rows,
    ledger_of,
    listed,
    named,
    not_decided,
    shown_rows,
    values_of,
)
from tablewright.journeys.ask.kinds import KindTables, keys_of
from tablewright.journeys.ask.members import Inventory, Member, QueryScope, RowTable, Uncovered, table_members
from tablewright.journeys.ask.query import (
    answer,
    asked_of,
    evaluate_on_member,
    spellings_for,
    thing_of,
)
from tablewright.journeys.ask.texts import cited_statements, read_texts
from tablewright.journeys.ask.turn import QuestionTurn, with_sources
from tablewright.journeys.ask.where import looked_up, members_of
from tablewright.messages.catalogue import AskText, figure, translate
from tablewright.models.text_budget import AROUND_A_LINE, LISTED_ROW, take_fitting

NAMED_ROWS = 6
"""Things that an answer names; more are a table."""
TOO_MANY = 200
"""Rows beyond which one is asked to narrow the question."""
NARROWING = 3


async def answer_from_tables(asking: QuestionTurn, things: Inventory) -> Reply | None:
    """None where the members do not say, so that the texts must."""
    plan = asking.plan
    members: list[Member] = []
    is_of_tables = all(name in things.tables for name in plan.of)
    for name in plan.of:
        if name not in things.tables:
            read = await read_columns(asking, name, things.kinds[name], plan.columns, things)
        elif is_of_tables:
            read = await with_document_columns(asking, things.tables[name], things)
        else:
            read = list(things.tables[name].members)
        if isinstance(read, Reply):
            return read
        members += [replace(each, group=name) for each in read]
    said = await spellings_for(plan, members, asking.context.model, asking.context.tell)
    if plan.compare:
        return await concluded(asking, possible(plan, members, said), things)
    kinds = [name for name in plan.of if name not in things.tables]
    called = kinds[0] if len(kinds) == len(plan.of) == 1 else "row" if not kinds else "document"
    scope = QueryScope(
        members=members,
        called=called,
        unreadable=unreadable(plan.of, things),
        unsorted=things.unsorted if kinds else 0,
        of=things.readable,
        uncovered=uncovered(plan.of, things),
        totals=sum(len(things.tables[name].totals) for name in plan.of if name in things.tables),
    )
    if asking.context.model is not None and (unreckoned := not_reckoned(plan, scope, said)):
        return await concluded(asking, [each for each in members if each.key in unreckoned], things)
    return await reply_of(asking, things, scope, said)


def tabled(names: Sequence[str], things: Inventory) -> dict[str, Document]:
    """The documents that have these tables, by id."""
    return {each.id: each for name in names if name in things.tables for each in things.tables[name].documents}


def unreadable(names: Sequence[str], things: Inventory) -> int:
    """The documents that could not be read, where one of them may belong: to a kind, or to the documents that have such
    a table where several have it."""
    is_of_kind = any(name not in things.tables for name in names)
    return things.unreadable if is_of_kind or len(tabled(names, things)) > 1 else 0


def uncovered(names: Sequence[str], things: Inventory) -> Uncovered | None:
    """The documents of the same kinds that have no such table: what was asked about may stand in them, too."""
    there = tabled(names, things)
    kinds = sorted({each.kind for each in there.values() if each.kind_by and each.kind not in names})
    documents = [each.id for kind in kinds for each in things.kinds[kind]]
    count = len(set(documents) - there.keys())
    called = kinds[0] if len(kinds) == 1 else "document"
    return Uncovered(count=count, total=len(documents), called=called) if count else None


def not_reckoned(plan: QuestionPlan, scope: QueryScope, said: Spellings) -> set[tuple[str, int]]:
    """The matching members, where a figure is asked for and code reads none in what they state, such as in a race's
    3:12.6: then a reader must."""
    found, aggregated = answer(plan, scope, said)
    if plan.aggregate in ("", "count") or aggregated is None or any(group.amounts for group in aggregated.groups):
        return set()
    return {(each.document_id, each.row) for each in found.matches if each.all_of(found.question.of)}


async def with_document_columns(asking: QuestionTurn, table: RowTable, things: Inventory) -> list[Member] | Reply:
    """The rows of a table, each with those columns that only its document as a whole can tell."""
    own = {column_key(label) for label in table.labels}
    columns = [each for each in asking.plan.columns if column_key(each.name) not in own]
    if not columns:
        return list(table.members)
    kinds: dict[str, list[Document]] = {}
    for each in table.documents:
        kinds.setdefault(each.kind or "document", []).append(each)
    wholes: dict[str, Member] = {}
    for kind, documents in kinds.items():
        read = await read_columns(asking, kind, documents, columns, things)
        if isinstance(read, Reply):
            return read
        wholes |= {member.document.id: member for member in read}
    keys = {column_key(each.name) for each in columns}
    return [joined(row, wholes[row.document.id], keys) for row in table.members]


def joined(row: Member, whole: Member, keys: Collection[str]) -> Member:
    return replace(
        row,
        values={**row.values, **{key: each for key, each in whole.values.items() if key in keys}},
        missing={**row.missing, **{key: why for key, why in whole.missing.items() if key in keys}},
        doubts=row.doubts | whole.doubts.intersection(keys),
    )


async def read_columns(
    asking: QuestionTurn, kind: str, of: Sequence[Document], columns: Sequence[PlannedColumn], things: Inventory
) -> list[Member] | Reply:
    """Documents of a kind with these columns; or the question whether to read so many."""
    context, documents = asking.context, list(of)
    questions: list[str] = []

    async def confirm(fill: Fill) -> bool:
        estimate = await fill.estimate()
        if asking.agreed or estimate.rows <= context.unasked:
            return True
        names = ", ".join(column.name for column in columns)
        effort = effort_of(asking, estimate.calls, estimate.input_tokens, estimate.cost_usd)
        questions.append(
            asking.translate(
                "To answer this, {count} documents must be read for {columns}: {effort}. Shall I go on?",
                count=estimate.rows,
                columns=names,
                effort=effort,
            )
        )
        return False

    tables = KindTables(context, confirm)
    every = [each for all_ in things.kinds.values() for each in all_]
    table = await tables.table(kind, list(things.kinds[kind]), keys_of(every))
    fields = [
        Field(name=each.name, type=each.type, question=each.question, unit=each.unit)
        for each in columns
        if column_key(each.name) != KIND and (each.question.strip() or table.field(each.name))
    ]
    table, filled = await tables.fill(table, documents, fields)
    if questions:
        return await asking.reply_with(questions[0], clarification=questions[0], waits=True)
    if filled is not None:
        asking.tried.append(
            ToolUse(
                tool="read documents",
                asked=f"{len(documents)} × {', '.join(each.name for each in fields)}",
                matches=filled.found,
                note=filled.problem,
            )
        )
        if filled.problem:
            raise ModelError(filled.problem, kept="What was read is kept.")
    return await table_members(context.store, table, documents)


def effort_of(asking: QuestionTurn, calls: EstimateRange, tokens: EstimateRange, cost: EstimateRange | None) -> str:
    """Describe the effort: "about 20 to 40 model calls, 40,000 to 90,000 tokens, $0.12 to $0.30"."""

    def between(span: EstimateRange) -> str:
        low, high = round(span.low), round(span.high)
        return asking.translate("{low} to {high}", low=low, high=high) if low != high else figure(f"{low:,}", language)

    language = asking.plan.language
    said = asking.translate(
        "about {calls} model call, {tokens} tokens|about {calls} model calls, {tokens} tokens",
        calls=between(calls),
        tokens=between(tokens),
        count=round(calls.high),
    )
    if cost is None:
        return said
    low, high = (f"${figure(f'{each:,.2f}', language)}" for each in (cost.low, cost.high))
    return f"{said}, {asking.translate('{low} to {high}', low=low, high=high) if low != high else low}"


# ── by code ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def reply_of(asking: QuestionTurn, things: Inventory, scope: QueryScope, said: Spellings) -> Reply | None:
    """None where no member states what the conditions are about, and a model can look into the texts."""
    context, plan = asking.context, asking.plan
    found, aggregated = answer(plan, scope, said)
    asking.tried.append(
        ToolUse(
            tool="annotations_search",
            asked=asked_of(scope.called, plan),
            matches=len(found.matches),
            threshold=found.completeness,
        )
    )
    needed = {column_key(column) for condition in plan.where for column in condition.columns}
    is_stated = any(needed <= member.values.keys() for member in scope.members)
    if context.model is not None and found.undecided and not (found.matches or found.rejected or is_stated):
        return None
    sources = Sources(corpus=context.corpus)
    columns = found.question.show
    shown = listed(found, aggregated)
    kept = kept_rows(columns, shown)
    rows = await shown_rows(kept, shown, sources)
    lines = [await answer_text(found, aggregated, sources, plan.sentence, plan.language)]
    is_named = not plan.aggregate and 0 < len(shown) <= NAMED_ROWS
    if is_named:
        in_order = [column.name for column in plan.columns]
        for thing, row in zip(shown, rows, strict=True):
            said_of = named(thing, in_order if thing.row else columns, plan.language)
            lines.append(with_sources(f"- {said_of}", [row.source]))
    worked_out = [] if is_named else await calculations(shown, sources)
    lines += filter(None, (*worked_out, not_decided(found, plan.language)))
    wider: tuple[str, ...] = ()
    completeness, reason = (aggregated or found).completeness, (aggregated or found).reason
    if not found.matches:
        wider = await looser(asking, things, scope, said)
        if context.model is not None and plan.queries:
            more, read = await beside_the_table(asking, things, scope, found, sources)
            lines += more
            completeness = "approximate" if more and completeness == "exact" else completeness
            reason = "; ".join(filter(None, (reason, read)))
    result_id = await context.store.results.keep(asking.text, ("document", *columns), kept)
    return await asking.remember(
        Reply(
            question=asking.text,
            answer="\n".join(lines),
            intent="enumeration",
            citations=tuple(sources.citations),
            columns=columns,
            rows=rows,
            count=len(found.matches),
            completeness=completeness,
            reason=reason,
            ledger=ledger_of(found),
            route="structured",
            route_reason=plan.question,
            relaxed=wider,
            result_id=result_id,
            more=len(shown) - len(rows),
            clarification=too_many(len(shown), plan, scope) if not plan.aggregate else "",
            form=asking.form,
        )
    )


def too_many(count: int, plan: QuestionPlan, scope: QueryScope) -> str:
    """By what a long list can be narrowed, where it is longer than anybody reads."""
    if count <= TOO_MANY:
        return ""
    used = {column_key(column) for condition in plan.where for column in condition.columns}
    stated = Counter(
        each[0].asked for member in scope.members for key, each in member.values.items() if key not in used
    )
    by = [name for name, _ in stated.most_common(NARROWING)]
    narrow = translate(
        "ask",
        "Narrow them by {columns}, or export them all.",
        plan.language,
        columns=translate("ask", " or ", plan.language).join(by),
    )
    shown = translate("ask", "{count} match, and the first {shown} are shown.", plan.language, count=count, shown=ROWS)
    return f"{shown} {narrow}"


# ── by a second look ────────────────────────────────────────────────────────────────────────────────────────────────


def possible(plan: QuestionPlan, members: Sequence[Member], said: Spellings) -> list[Member]:
    """Without those that a condition keeps out; one on a column that a table does not have says nothing of its rows."""
    fields, rules = plan.fields_by_key, Rules(spellings=said)

    def is_out(member: Member) -> bool:
        return any(evaluate_on_member(member, each, fields, rules).truth == "no match" for each in plan.where)

    return [member for member in members if not is_out(member)]


async def concluded(asking: QuestionTurn, members: Sequence[Member], things: Inventory) -> Reply | None:
    """Answer what needs judgement across rows, or return None if the model concludes nothing."""
    context, plan = asking.context, asking.plan
    assert context.model is not None
    columns = [column.name for column in plan.columns]
    found = [thing_of(member, plan) for member in members]
    lines = (row_text(*each, columns) for each in zip(members, found, strict=True))
    texts = take_fitting(lines, context.model.text_room, AROUND_A_LINE)
    rows = [NumberedRow(table=member.group, text=text) for member, text in zip(members, texts, strict=False)]
    is_part = len(rows) < len(members)
    asking.tried.append(
        ToolUse(
            tool="annotations_search",
            asked=asked_of(", ".join(plan.of), plan),
            matches=len(members),
            threshold=f"the first {len(rows)} that fit" if is_part else "",
            note="compared by the model",
        )
    )
    asked = ToConclude(question=plan.question, rows=tuple(rows), today=asking.today, more=len(members) - len(rows))
    with concerning([member.document.id for member in members]):
        outcome = await decide(Conclude(), asked, context.model, context.tell)
    conclusion: Conclusion = outcome.decided
    if not conclusion.statements:
        return None
    sources = Sources(corpus=context.corpus)
    said = [
        with_sources(
            asking.calculated(each.text, each.calculations),
            [await sources.of_thing(found[place]) for place in each.rows[:NAMED_ROWS]],
        )
        for each in conclusion.statements
    ]
    chosen = [found[place] for place in conclusion.listed]
    kept = kept_rows(columns, chosen)
    shown = await shown_rows(kept, chosen, sources)
    unseen, unread = uncovered(plan.of, things), unreadable(plan.of, things)
    gaps = [unseen.text(plan.language)] if unseen else []
    if unread:
        gaps.append(
            asking.translate("{count} document could not be read|{count} documents could not be read", count=unread)
        )
    compared_rows = (
        asking.translate("only {count} of {total} rows were compared", count=len(rows), total=len(members))
        if is_part
        else asking.translate("the rows were compared by the model")
    )
    return await asking.remember(
        Reply(
            question=asking.text,
            answer="\n".join((*said, *asking.what_is_missing(conclusion.missing, conclusion.left_out))),
            citations=tuple(sources.citations),
            columns=tuple(columns) if shown else (),
            rows=shown,
            count=len(chosen) if chosen else None,
            completeness="incomplete" if is_part or conclusion.unsure or gaps else "approximate",
            reason="; ".join((*gaps, compared_rows)),
            ledger=compared(conclusion, members, plan, things) if chosen else None,
            route="structured",
            route_reason=plan.question,
            result_id=await context.store.results.keep(asking.text, ("document", *columns), kept) if chosen else "",
            more=len(chosen) - len(shown),
        )
    )


def compared(conclusion: Conclusion, members: Sequence[Member], plan: QuestionPlan, things: Inventory) -> Ledger:
    """Count over the tables that something was listed from."""
    of = {members[place].group for place in conclusion.listed}
    if not of.isdisjoint(things.tables):  # their rows are one list, whatever their headers
        of |= {each.group for each in members if each.group in things.tables}
    total = sum(each.group in of for each in members)
    unsure = [place for place in conclusion.unsure if members[place].group in of and place not in conclusion.listed]
    only = next(iter(of)) if len(of) == 1 else ""
    unread = unreadable(plan.of, things)
    silent = translate("ask", "the documents do not say", plan.language)
    return Ledger(
        things=only if only in things.kinds else "row" if of <= things.tables.keys() else "document",
        total=total + unread,
        matched=len(conclusion.listed),
        unreadable=unread,
        no_match=total - len(conclusion.listed) - len(unsure),
        not_stated=len(unsure),
        undecided=tuple((members[place].title, silent) for place in unsure),
    )


def row_text(member: Member, thing: FoundItem, columns: Sequence[str]) -> str:
    """A member in one line: "PO-7.pdf: Supplier ACME; Total 12.50 EUR"."""
    values = [f"{name} {value}" for name, value in zip(columns, values_of(thing, columns), strict=True) if value]
    return shortened(f"{member.document.name}: {'; '.join(values)}", LISTED_ROW)


# ── where nothing matches ─────────────────────────────────────────────────────────────────────────────────────────────


async def looser(asking: QuestionTurn, things: Inventory, scope: QueryScope, said: Spellings) -> tuple[str, ...]:
    """Report what each condition, and the kind, excludes, so that the wrong one can be recognised."""
    plan = asking.plan
    without: AskText[str] = "Without “{condition}” {count} would match{named}."
    of_others: AskText[str] = (
        "Of documents that are not {things}, {count} matches{named}.|"
        "Of documents that are not {things}, {count} match{named}."
    )
    notes = []
    for condition in plan.conditions:
        rest = [each for each in plan.conditions if each is not condition]
        wider_plan = plan.model_copy(update={"conditions": rest})
        notes.append(
            looked_again(asking, wider_plan, scope, said, without, condition=describe_condition(condition.condition))
        )
    if plan.conditions and (others := await of_other_kinds(asking, things, scope)):
        wider = QueryScope(members=others)
        notes.append(looked_again(asking, plan, wider, said, of_others, things=plural(scope.called, 2)))
    return tuple(filter(None, notes))


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
    """Return the documents that were left out because of their kind, with what is known of them."""
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
    """Read passages of the documents that were not looked up; return what they say and how much was read. If the model
    does not answer, only this is missing."""
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
