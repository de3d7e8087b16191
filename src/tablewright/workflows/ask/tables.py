"""Answer from tables: read the columns a plan needs from all documents of the kind, then let code, or a second call of
the model, answer from the cells.

Columns are filled by the engine (`kinds`); the rows of the answer are kept as a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from tablewright.conditions.compare import comparable_sort_key, has_only_text
from tablewright.conditions.evaluate import ComparisonRules, NameSpellings
from tablewright.documents.results import FoundItem, FoundItems
from tablewright.domain.condition import describe_condition
from tablewright.domain.documents import ComparableValue, Document
from tablewright.domain.model import Field, column_key
from tablewright.domain.reply import Form, MatchLedger, Reply, ToolUse
from tablewright.domain.retrieved import track_documents
from tablewright.domain.run import EstimateRange
from tablewright.domain.text import pluralize_noun, shorten_text
from tablewright.engine.fill import FillRun
from tablewright.errors import ModelError
from tablewright.llm.tasks.compose import ConcludeFromRows, Conclusion, NumberedRow, RowsToConclude
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.plan_question import KIND_COLUMN, PlannedColumn, QuestionPlan
from tablewright.llm.text_budget import TEXT_LIMITS, take_fitting
from tablewright.messages.catalogue import AskText, localize_figure, translate
from tablewright.workflows.ask.answering import (
    MAX_NAMED_ITEMS,
    CitationList,
    cite_rows,
    describe_item,
    describe_undecided,
    explain_calculations,
    format_item_values,
    make_ledger,
    make_result_rows,
    select_listed_items,
    write_answer,
)
from tablewright.workflows.ask.kinds import KindTables, document_keys
from tablewright.workflows.ask.query import (
    describe_query,
    evaluate_on_row,
    evaluate_plan,
    make_found_item,
    resolve_question_names,
)
from tablewright.workflows.ask.query_rows import (
    Inventory,
    QueryRow,
    QueryScope,
    RowTable,
    UncoveredDocuments,
    known_values,
    load_query_rows,
)
from tablewright.workflows.ask.texts import cite_statements, read_texts
from tablewright.workflows.ask.turn import QuestionTurn, RunFill, append_sources
from tablewright.workflows.ask.where import load_form_rows, resolve_form

# An answer names up to this many rows in sentences; more are a table.
MAX_NAMED_ROWS = 6
# A longer list is more than people read, so the reply suggests how to narrow it.
MAX_UNNARROWED_ROWS = 200


async def answer_from_tables(asking: QuestionTurn, things: Inventory) -> Reply | None:
    """Answer a planned question, or return None if the tables do not tell and the texts must be searched."""
    plan = asking.plan
    members: list[QueryRow] = []
    is_of_tables = all(name in things.tables for name in plan.of)
    for name in plan.of:
        if name not in things.tables:
            read = await read_columns(asking, name, things.kinds[name], plan.columns, things)
        elif is_of_tables:
            read = await add_document_columns(asking, things.tables[name], things)
        else:
            read = list(things.tables[name].members)
        if isinstance(read, Reply):
            return read
        members += [replace(each, group=name) for each in read]
    said = await resolve_question_names(plan, members, asking.context.model, asking.context.tell)
    if plan.compare:
        # A condition on a column that a table lacks excludes none of its rows.
        fields, rules = plan.fields_by_key, ComparisonRules(spellings=said)
        left = [
            member
            for member in members
            if not any(evaluate_on_row(member, each, fields, rules).truth == "no match" for each in plan.where)
        ]
        return await compare_with_model(asking, left, things)
    kinds = [name for name in plan.of if name not in things.tables]
    called = kinds[0] if len(kinds) == len(plan.of) == 1 else "row" if not kinds else "document"
    scope = QueryScope(
        members=members,
        called=called,
        unreadable=count_unreadable(plan.of, things),
        unsorted=things.unsorted if kinds else 0,
        of=things.readable,
        uncovered=find_uncovered(plan.of, things),
        totals=sum(len(things.tables[name].totals) for name in plan.of if name in things.tables),
    )
    if asking.context.model is not None and (unreckoned := find_rows_without_figure(plan, scope, said)):
        return await compare_with_model(asking, [each for each in members if each.key in unreckoned], things)
    return await reply_from_cells(asking, things, scope, said)


def documents_with_tables(names: Sequence[str], things: Inventory) -> dict[str, Document]:
    """Return the documents that contain these tables, by id."""
    return {each.id: each for name in names if name in things.tables for each in things.tables[name].documents}


def count_unreadable(names: Sequence[str], things: Inventory) -> int:
    """Return how many unreadable documents may belong to the answer: to a kind, or to a table that several documents
    contain."""
    is_of_kind = any(name not in things.tables for name in names)
    return things.unreadable if is_of_kind or len(documents_with_tables(names, things)) > 1 else 0


def find_uncovered(names: Sequence[str], things: Inventory) -> UncoveredDocuments | None:
    """Return the documents of the same kinds without such a table, which may mention the subject elsewhere."""
    there = documents_with_tables(names, things)
    kinds = sorted({each.kind for each in there.values() if each.kind_by and each.kind not in names})
    documents = [each.id for kind in kinds for each in things.kinds[kind]]
    count = len(set(documents) - there.keys())
    called = kinds[0] if len(kinds) == 1 else "document"
    return UncoveredDocuments(count=count, total=len(documents), called=called) if count else None


def find_rows_without_figure(plan: QuestionPlan, scope: QueryScope, said: NameSpellings) -> set[tuple[str, int]]:
    """Return the matching rows if a figure is requested and code can read none of them, such as a race time of 3:12.6:
    the model must compare those."""
    found, aggregated = evaluate_plan(plan, scope, said)
    if plan.aggregate in ("", "count") or aggregated is None or any(group.amounts for group in aggregated.groups):
        return set()
    return {(each.document_id, each.row) for each in found.matches if each.all_of(found.question.of)}


async def add_document_columns(asking: QuestionTurn, table: RowTable, things: Inventory) -> list[QueryRow] | Reply:
    """Return the rows of a table with the columns that only their whole document can tell."""
    own = {column_key(label) for label in table.labels}
    columns = [each for each in asking.plan.columns if column_key(each.name) not in own]
    if not columns:
        return list(table.members)
    kinds: dict[str, list[Document]] = {}
    for each in table.documents:
        kinds.setdefault(each.kind or "document", []).append(each)
    wholes: dict[str, QueryRow] = {}
    for kind, documents in kinds.items():
        read = await read_columns(asking, kind, documents, columns, things)
        if isinstance(read, Reply):
            return read
        wholes |= {member.document.id: member for member in read}
    keys = {column_key(each.name) for each in columns}
    return [
        replace(
            row,
            values={**row.values, **{key: each for key, each in whole.values.items() if key in keys}},
            missing={**row.missing, **{key: why for key, why in whole.missing.items() if key in keys}},
            doubts=row.doubts | whole.doubts.intersection(keys),
        )
        for row in table.members
        for whole in [wholes[row.document.id]]
    ]


async def read_columns(
    asking: QuestionTurn, kind: str, of: Sequence[Document], columns: Sequence[PlannedColumn], things: Inventory
) -> list[QueryRow] | Reply:
    """Documents of a kind with these columns; or the question whether to read so many."""
    context, documents = asking.context, list(of)
    questions: list[str] = []

    async def agree(fill: FillRun) -> RunFill | None:
        estimate = await fill.estimate()
        # Few documents are read without a question: asking would cost the person more than reading.
        if estimate.rows <= context.unasked:
            return FillRun.run
        if asking.agreed:
            return context.run_agreed
        names = ", ".join(column.name for column in columns)
        effort = describe_effort(asking, estimate.calls, estimate.input_tokens, estimate.cost_usd)
        questions.append(
            asking.translate(
                "To answer this, {count} documents must be read for {columns}: {effort}. Shall I go on?",
                count=estimate.rows,
                columns=names,
                effort=effort,
            )
        )
        return None

    tables = KindTables(context, agree)
    every = [each for all_ in things.kinds.values() for each in all_]
    table = await tables.table(kind, list(things.kinds[kind]), document_keys(every))
    fields = [
        Field(name=each.name, type=each.type, question=each.question, unit=each.unit)
        for each in columns
        if column_key(each.name) != KIND_COLUMN and (each.question.strip() or table.field(each.name))
    ]
    table, filled = await tables.fill(table, documents, fields)
    # The run was not started: the answer is a question, and the agreed turn comes back here.
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
    return await load_query_rows(context.store, table, documents)


def describe_effort(
    asking: QuestionTurn, calls: EstimateRange, tokens: EstimateRange, cost: EstimateRange | None
) -> str:
    """Describe the effort: "about 20 to 40 model calls, 40,000 to 90,000 tokens, $0.12 to $0.30"."""

    def between(span: EstimateRange) -> str:
        low, high = round(span.low), round(span.high)
        return (
            asking.translate("{low} to {high}", low=low, high=high)
            if low != high
            else localize_figure(f"{low:,}", language)
        )

    language = asking.plan.language
    said = asking.translate(
        "about {calls} model call, {tokens} tokens|about {calls} model calls, {tokens} tokens",
        calls=between(calls),
        tokens=between(tokens),
        count=round(calls.high),
    )
    if cost is None:
        return said
    low, high = (f"${localize_figure(f'{each:,.2f}', language)}" for each in (cost.low, cost.high))
    return f"{said}, {asking.translate('{low} to {high}', low=low, high=high) if low != high else low}"


# ── by code ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def reply_from_cells(
    asking: QuestionTurn, things: Inventory, scope: QueryScope, said: NameSpellings
) -> Reply | None:
    """Reply from cells, or return None if no row states what the conditions need and a model can search the texts."""
    context, plan = asking.context, asking.plan
    found, aggregated = evaluate_plan(plan, scope, said)
    asking.tried.append(
        ToolUse(
            tool="annotations_search",
            asked=describe_query(scope.called, plan),
            matches=len(found.matches),
            threshold=found.completeness,
        )
    )
    needed = {column_key(column) for condition in plan.where for column in condition.columns}
    is_stated = any(needed <= member.values.keys() for member in scope.members)
    # Nothing was stated anywhere, so the values may be in sentences, which a search of the texts finds.
    if context.model is not None and found.undecided and not (found.matches or found.rejected or is_stated):
        return None
    sources = CitationList(corpus=context.corpus)
    columns = found.question.show
    shown = select_listed_items(found, aggregated)
    kept = make_result_rows(columns, shown)
    rows = await cite_rows(kept, shown, sources, context.shown_rows)
    lines = [await write_answer(found, aggregated, sources, choose_sentence(plan, found), plan.language)]
    # A few matches are listed in sentences with their sources; more of them are a table.
    is_named = not plan.aggregate and 0 < len(shown) <= MAX_NAMED_ROWS
    if is_named:
        in_order = [column.name for column in plan.columns]
        for thing, row in zip(shown, rows, strict=True):
            said_of = describe_item(thing, in_order if thing.row else columns, plan.language)
            lines.append(append_sources(f"- {said_of}", [row.source]))
    worked_out = [] if is_named else await explain_calculations(shown, sources)
    lines += filter(None, (*worked_out, describe_undecided(found, plan.language)))
    wider: tuple[str, ...] = ()
    ask = suggest_narrowing(len(shown), plan, scope, context.shown_rows) if not plan.aggregate else ""
    completeness, reason = (aggregated or found).completeness, (aggregated or found).reason
    # Nothing matches: show which condition is too strict, and look where the lookup did not.
    if not found.matches:
        wider = await try_looser_conditions(asking, things, scope, said)
        ask = ask_for_other_conditions(asking, scope)
        if context.model is not None and plan.queries:
            more, read = await search_other_documents(asking, things, scope, found, sources)
            lines += more
            ask = "" if more else ask
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
            ledger=make_ledger(found),
            route="structured",
            route_reason=plan.question,
            relaxed=wider,
            result_id=result_id,
            is_listed=is_named,
            more=len(shown) - len(rows),
            clarification=ask,
            form=asking.form,
        )
    )


def choose_sentence(plan: QuestionPlan, found: FoundItems) -> str:
    """Return the model's sentence for none, one or several matches. None are only claimed if nothing is undecided."""
    if not found.matches:
        return "" if found.undecided else plan.sentence_none
    return plan.sentence_one or plan.sentence if len(found.matches) == 1 else plan.sentence


def suggest_narrowing(count: int, plan: QuestionPlan, scope: QueryScope, shown_rows: int) -> str:
    """Suggest columns to narrow a long list by, or return "" if it is short."""
    if count <= MAX_UNNARROWED_ROWS:
        return ""
    used = {column_key(column) for condition in plan.where for column in condition.columns}
    stated = Counter(
        each[0].asked for member in scope.members for key, each in member.values.items() if key not in used
    )
    # Three columns that most rows state: a filter on a rare one would hide nearly everything.
    by = [name for name, _ in stated.most_common(3)]
    narrow = translate(
        "ask",
        "Narrow them by {columns}, or export them all.",
        plan.language,
        columns=translate("ask", " or ", plan.language).join(by),
    )
    shown = translate(
        "ask", "{count} match, and the first {shown} are shown.", plan.language, count=count, shown=shown_rows
    )
    return f"{shown} {narrow}"


def ask_for_other_conditions(asking: QuestionTurn, scope: QueryScope) -> str:
    """Say what was tried where nothing matches, and which values the conditions could have named."""
    plan = asking.plan
    tried = "; ".join(f"{each.asked} ({each.matches})" for each in asking.tried)
    hints = [describe_range(name, known_values(scope.members, name), plan.language) for name in list_compared(plan)]
    return " ".join(filter(None, (asking.translate("Searched for: {tried}.", tried=tried), *hints)))


def list_compared(plan: QuestionPlan) -> list[str]:
    return list(dict.fromkeys(column for condition in plan.where for column in condition.columns))


def describe_range(column: str, values: Sequence[ComparableValue], language: str) -> str:
    """Return the known values of a column in a sentence: from the least to the greatest, or the commonest texts."""
    texts = Counter(value.raw for value in values if has_only_text(value) and value.raw)
    ordered = sorted((value for value in values if not has_only_text(value)), key=comparable_sort_key)
    if ordered:
        low, high = ordered[0].raw, ordered[-1].raw
        return translate("ask", "{column} is known from {low} to {high}.", language, column=column, low=low, high=high)
    named = [shorten_text(text, 40) for text, _ in texts.most_common(MAX_NAMED_ITEMS)]
    return (
        translate("ask", "{column} is, for example: {values}.", language, column=column, values=", ".join(named))
        if named
        else ""
    )


# ── by a second look ────────────────────────────────────────────────────────────────────────────────────────────────


async def compare_with_model(asking: QuestionTurn, members: Sequence[QueryRow], things: Inventory) -> Reply | None:
    """Answer what needs judgement across rows, or return None if the model concludes nothing."""
    context, plan = asking.context, asking.plan
    assert context.model is not None
    columns = [column.name for column in plan.columns]
    found = [make_found_item(member, plan) for member in members]
    # Lazily, because only as many rows are formatted as fit into the prompt.
    lines = (format_row_line(*each, columns) for each in zip(members, found, strict=True))
    texts = take_fitting(lines, context.model.text_room, TEXT_LIMITS.around_line)
    rows = [NumberedRow(table=member.group, text=text) for member, text in zip(members, texts, strict=False)]
    is_part = len(rows) < len(members)
    asking.tried.append(
        ToolUse(
            tool="annotations_search",
            asked=describe_query(", ".join(plan.of), plan),
            matches=len(members),
            threshold=f"the first {len(rows)} that fit" if is_part else "",
            note="compared by the model",
        )
    )
    asked = RowsToConclude(question=plan.question, rows=tuple(rows), today=asking.today, more=len(members) - len(rows))
    with track_documents([member.document.id for member in members]):
        outcome = await decide(ConcludeFromRows(), asked, context.model, context.tell)
    conclusion: Conclusion = outcome.decided
    if not conclusion.statements:
        return None
    sources = CitationList(corpus=context.corpus)
    said = []
    for each in conclusion.statements:
        cited = [await sources.of_thing(found[place]) for place in each.rows[:MAX_NAMED_ROWS]]
        line = append_sources(asking.calculated(each.text, each.calculations), cited)
        if len(each.rows) > MAX_NAMED_ROWS:
            part = asking.translate("{shown} of {count} sources shown", shown=MAX_NAMED_ROWS, count=len(each.rows))
            line += f" ({part})"
        said.append(line)
    chosen = [found[place] for place in conclusion.listed]
    kept = make_result_rows(columns, chosen)
    shown = await cite_rows(kept, chosen, sources, context.shown_rows)
    unseen, unread = find_uncovered(plan.of, things), count_unreadable(plan.of, things)
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
            ledger=make_comparison_ledger(conclusion, members, plan, things) if chosen else None,
            route="structured",
            route_reason=plan.question,
            result_id=await context.store.results.keep(asking.text, ("document", *columns), kept) if chosen else "",
            more=len(chosen) - len(shown),
        )
    )


def make_comparison_ledger(
    conclusion: Conclusion, members: Sequence[QueryRow], plan: QuestionPlan, things: Inventory
) -> MatchLedger:
    """Return the counts of a comparison over the tables that rows were listed from."""
    of = {members[place].group for place in conclusion.listed}
    if not of.isdisjoint(things.tables):  # their rows are one list, whatever their headers
        of |= {each.group for each in members if each.group in things.tables}
    total = sum(each.group in of for each in members)
    unsure = [place for place in conclusion.unsure if members[place].group in of and place not in conclusion.listed]
    only = next(iter(of)) if len(of) == 1 else ""
    unread = count_unreadable(plan.of, things)
    silent = translate("ask", "the documents do not say", plan.language)
    return MatchLedger(
        things=only if only in things.kinds else "row" if of <= things.tables.keys() else "document",
        total=total + unread,
        matched=len(conclusion.listed),
        unreadable=unread,
        no_match=total - len(conclusion.listed) - len(unsure),
        not_stated=len(unsure),
        undecided=tuple((members[place].title, silent) for place in unsure),
    )


def format_row_line(member: QueryRow, thing: FoundItem, columns: Sequence[str]) -> str:
    """Return a row as one line: "PO-7.pdf: Supplier ACME; Total 12.50 EUR"."""
    values = [
        f"{name} {value}" for name, value in zip(columns, format_item_values(thing, columns), strict=True) if value
    ]
    return shorten_text(f"{member.document.name}: {'; '.join(values)}", TEXT_LIMITS.listed_row)


# ── where nothing matches ─────────────────────────────────────────────────────────────────────────────────────────────


async def try_looser_conditions(
    asking: QuestionTurn, things: Inventory, scope: QueryScope, said: NameSpellings
) -> tuple[str, ...]:
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
            report_wider_matches(
                asking, wider_plan, scope, said, without, condition=describe_condition(condition.condition)
            )
        )
    if plan.conditions and (others := await find_rows_of_other_kinds(asking, things, scope)):
        wider = QueryScope(members=others)
        notes.append(report_wider_matches(asking, plan, wider, said, of_others, things=pluralize_noun(scope.called, 2)))
    return tuple(filter(None, notes))


def report_wider_matches(
    asking: QuestionTurn, plan: QuestionPlan, scope: QueryScope, said: NameSpellings, text: str, **values: str
) -> str:
    found, _ = evaluate_plan(plan.model_copy(update={"aggregate": "", "limit": 0}), scope, said)
    count = len(found.matches)
    asking.tried.append(
        ToolUse(tool="annotations_search", asked=describe_query(scope.called, plan), matches=count, note="wider")
    )
    if not count:
        return ""
    names = f": {', '.join(each.title for each in found.matches)}" if count <= MAX_NAMED_ITEMS else ""
    return translate("ask", text, plan.language, count=count, named=names, **values)


async def find_rows_of_other_kinds(asking: QuestionTurn, things: Inventory, scope: QueryScope) -> Sequence[QueryRow]:
    """Return the documents that were left out because of their kind, with what is known of them."""
    if any(each.row for each in scope.members):
        return ()
    if asking.form is not None:
        form = structs.replace(asking.form, kind="")
        members = (await resolve_form(asking.context.store, asking.context.corpus, form, things))[1].members
    else:
        members = (await load_form_rows(asking.context.store, Form(), things))[0]
    known = {each.document.id for each in scope.members}
    return [each for each in members if each.document.id not in known]


async def search_other_documents(
    asking: QuestionTurn, things: Inventory, scope: QueryScope, found: FoundItems, sources: CitationList
) -> tuple[list[str], str]:
    """Read passages of the documents that were not looked up; return what they say and how much was read. If the model
    does not answer, only this is missing."""
    wanted = "; ".join(map(describe_condition, asking.plan.where)) or asking.plan.question
    whole = {each.document.id for each in scope.members if not each.row}
    others = {each.id for members in things.kinds.values() for each in members} - whole
    if not others:
        return [], ""
    read = await read_texts(asking, things, rounds=1, lookup=f"{wanted}: {make_ledger(found)}", documents=others)
    if read.degraded:
        return [], asking.translate("other documents were not searched for it: {why}", why=read.degraded)
    lines = await cite_statements(asking, read.said, read.passages, sources)
    return lines, asking.translate("besides the lookup, {read}", read=read.looked) if lines else ""
