"""Estimate the effort of the built-in strategies before anything is spent.

The length of a prompt comes from the prompts themselves, filled with prose; how often one is sent, and how full it is,
is assumed. Every assumption is in this file once, under a name. Earlier runs of the same kind replace all of them
(engine/estimate.py).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from tablewright.citations.quotes import mark_text
from tablewright.domain.fieldspec import find_template_columns
from tablewright.domain.model import Evidence, Field, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.subject import Subject
from tablewright.formulas.formula import Formula
from tablewright.llm.tasks import answer_with_tools as words
from tablewright.llm.tasks.answer_with_tools import Reply
from tablewright.llm.tasks.cell_answer import JUDGED_TYPES
from tablewright.llm.tasks.choose_pages import ChoosePages, Offer, pages_for_row
from tablewright.llm.tasks.decision import Prompt
from tablewright.llm.tasks.judge_values import (
    AnsweredField,
    CheckSupport,
    CoverageToJudge,
    JudgeCoverage,
    JudgedValue,
    SupportToCheck,
)
from tablewright.llm.tasks.plan_patterns import OtherPatternsToPlan, PatternsToPlan, PlanOtherPatterns, PlanPatterns
from tablewright.llm.tasks.read import ReadDocument, ReadRow, RowToRead
from tablewright.llm.tasks.translate_formula import FormulaToTranslate, TranslateFormula
from tablewright.llm.tasks.write_cells import CellsToWrite, WriteCells
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.llm.tokens import estimate_tokens
from tablewright.strategies.effort import Effort, Expected
from tablewright.strategies.request_batcher import rows_per_call
from tablewright.strategies.strategy import Need, Task, Tools
from tablewright.strategies.subject import group_by_subject, subject_columns

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

# ── assumptions ──────────────────────────────────────────────────────────────────────────────────────────────────────


class ResearchPath(Struct, frozen=True):
    """The effort of one question of `research`; `turns` are calls of the model that steers it."""

    turns: float
    searches: float
    pages: float = 0.0


class Assumed:
    """Everything an estimate assumes: how long texts are, and how often services are used."""

    # `estimate_tokens` is meant to be a little too high; models count this share of it.
    COUNTED_TOKENS = 0.8
    PAGE_CHARACTERS, SNIPPET_CHARACTERS = 5_000, 160
    # In a prompt that shows search results, and in one that reads pages.
    RESULTS_SHOWN, PAGES_SHOWN = 8, 2
    # Pipeline: rows of which the model chooses pages, and results among which it does; others are plain to code.
    ROWS_TO_CHOOSE, RESULTS_TO_CHOOSE = 0.7, 5
    # Calls whose answer cannot be used, so that the question is asked once more.
    ASKED_TWICE = 0.1
    # With cascade: cells of which the built-in reader is not sure, so that a model is asked.
    UNSURE = 0.4

    # Pipeline: rows for which a page or a search result was found that a model can read.
    ROWS_WITH_TEXT = 0.9
    # The share of the rows that a call has room for.
    BATCH_FULL = 0.9
    # Columns whose value is concluded rather than read, so that a second call checks whether its quotes support it.
    JUDGED_FIELDS = 0.15
    # Pipeline, per row: in the first attempt, and in a further one.
    SEARCHES, PAGES = 1.4, 3.0
    SEARCHES_AGAIN, PAGES_AGAIN = 1.5, 1.5
    # Pipeline: weak columns of a row that is tried again.
    WEAK_FIELDS = 0.6
    # Rows with a weak cell after the first attempt; of these, rows with one after each further attempt.
    WEAK_ROWS, STILL_WEAK = 0.5, 0.6

    # Lookup: searches, and readings of their results, for one question.
    LOOKUP_SEARCHES = 1.35
    # Steered by a model, and without one, measured on the same questions.
    STEERED: ClassVar = {
        "exploratory": ResearchPath(turns=2.05, searches=1.6, pages=1.2),
        "comprehensive": ResearchPath(turns=2.8, searches=3.5, pages=2.5),
    }
    BY_RULE: ClassVar = {
        "lookup": ResearchPath(turns=0, searches=1.4),
        "exploratory": ResearchPath(turns=0, searches=1.8, pages=1.2),
        "comprehensive": ResearchPath(turns=0, searches=5.5, pages=1.7),
    }
    # Formulas in words that no expression can say, so that a model writes every row.
    NO_FORMULA = 0.3

    # A model on this machine answers one call after the other.
    CALL_SECONDS, LOCAL_CALL_SECONDS, SEARCH_SECONDS = 2.0, 10.0, 1.0

    # One cell of a strategy that does not state its effort.
    UNKNOWN_MODEL = Effort(calls=1, input_tokens=800, output_tokens=60)
    UNKNOWN_WEB = Effort(searches=1, pages=1)


class Sample:
    """Texts of the usual length, with which prompts are filled to measure them."""

    ADDRESS = "https://www.acme-turbines.example/about/company"
    NAME, CELL, TITLE = "Acme Turbines Ltd", "United Kingdom", "Acme Turbines – about the company and its history"
    PROSE = (
        "The company was founded in 1987 by two engineers and has its headquarters in Bristol, where about 1,200 "
        "people work on turbines for small rivers. Revenue: £48.2 million (2023). It is led by Ann Lee, who "
        "joined in 2011. "
    )
    QUOTE = (
        "The company was founded in 1987 by two engineers and has its headquarters in Bristol, where about 1,200 "
        "people work on turbines for rivers"
    )
    # Models quote whole sentences, whatever the instructions say.
    EVIDENCE = Evidence(origin="", title=TITLE, quote=QUOTE)


# The reply of a model, by the kind of question.
WRITTEN = {
    "answer": f'"City": [{{"value": "Bristol", "basis": "stated", "quotes": [{{"text": 1, '
    f'"quote": "{Sample.QUOTE}"}}]}}], ',
    "verdict": '{"text": 1, "same_row": "same", "reason": "It is the company of this name in this country."}, ',
    "choice": '{"numbers": [1, 3]}',
    "support": '{"number": 1, "verdict": "yes", "reason": "The quote says whom it sells to."}',
    "turn": f'{{"name": "answer", "arguments": {{"value": "Bristol", "quote": "{Sample.QUOTE}"}}}}',
    "plan": '{"patterns": ["%entity founded headquarters", "%entity company profile employees", "%entity about"]}',
    "judge": '{"rating": "medium", "weak": ["Headquarters"]}',
    "written": '"Category": {"value": "Industrial machinery and turbines", "used": ["Description"]}, ',
    "translation": '{"expression": "ROUND({Price} * 1.19, 2)", "missing": ""}',
}

# ── the pipeline ─────────────────────────────────────────────────────────────────────────────────────────────────────


def estimate_pipeline(task: Task, tools: Tools) -> Expected:
    parts = [estimate_group(task, tools, column, fields) for column, fields in group_by_subject(task).items()]
    return Expected(
        row=sum_efforts(part.row for part in parts),
        once=sum_efforts(part.once for part in parts),
        again=sum_efforts(part.again for part in parts),
    )


def estimate_group(task: Task, tools: Tools, column: str, fields: Sequence[Field]) -> Expected:
    """Estimate fields about the same thing: one plan, one set of pages, one call per row."""
    first = Effort(searches=Assumed.SEARCHES, pages=Assumed.PAGES)
    again = Effort(searches=Assumed.SEARCHES_AGAIN, pages=Assumed.PAGES_AGAIN)
    if tools.model is None:
        return Expected(row=first, again=again)
    subject = sample_subject(task, column)
    plan = estimate_planning(tools.model, subject, fields)
    rows = rows_per_call(task)
    weak = fields[: max(1, round(Assumed.WEAK_FIELDS * len(fields)))]
    return Expected(
        row=first
        + estimate_choosing(tools.model, subject, fields, rows)
        + estimate_reading(tools, subject, fields, rows, tools.cascade),
        once=plan,
        again=again
        + estimate_planning_again(tools.model, subject, weak, rows)
        + estimate_choosing(tools.model, subject, weak, rows)
        + estimate_reading(tools, subject, weak, rows),
    )


def estimate_planning(model: LanguageModel, subject: Subject, fields: Sequence[Field]) -> Effort:
    asked = PatternsToPlan(key=subject.column, fields=tuple(fields), columns=tuple(subject.context), sample=subject)
    return estimate_call(model, PlanPatterns().prompt(asked), WRITTEN["plan"])


def estimate_planning_again(model: LanguageModel, subject: Subject, fields: Sequence[Field], rows: int) -> Effort:
    asked = OtherPatternsToPlan(
        key=subject.column, fields=tuple(fields), columns=tuple(subject.context), sample=subject, avoid=(Sample.NAME,)
    )
    prompt = PlanOtherPatterns().prompt(asked)
    return estimate_shared_call(model, prompt, estimate_call(model, prompt, WRITTEN["plan"]), rows)


def estimate_choosing(model: LanguageModel, subject: Subject, fields: Sequence[Field], rows: int) -> Effort:
    offers = [make_sample_offer()] * Assumed.RESULTS_TO_CHOOSE
    prompt = ChoosePages().prompt(pages_for_row(subject, fields).among(offers))
    alone = estimate_call(model, prompt, WRITTEN["choice"])
    return estimate_shared_call(model, prompt, alone, rows) * Assumed.ROWS_TO_CHOOSE


def estimate_reading(
    tools: Tools, subject: Subject, fields: Sequence[Field], rows: int, cascade: bool = False
) -> Effort:
    """Estimate the call for all fields of a row, or the part of a shared one. With `cascade` only fields of which the
    built-in reader is not sure are asked; it never is of weak ones."""
    assert tools.model is not None
    asked, rows_asked = list(fields), Assumed.ROWS_WITH_TEXT
    if cascade:
        rows_asked *= 1 - (1 - Assumed.UNSURE) ** len(fields)
        asked = asked[: max(1, round(Assumed.UNSURE * len(fields)))]
    page = make_sample_text(Assumed.PAGE_CHARACTERS)
    sources, room = (page,) * Assumed.PAGES_SHOWN, tools.model.text_room
    prompt = ReadRow().prompt(RowToRead(subject=subject, fields=tuple(asked), sources=sources, room=room))
    written = [WRITTEN["verdict"]] * Assumed.PAGES_SHOWN + [WRITTEN["answer"]] * len(asked)
    alone = estimate_call(tools.model, prompt, *written)
    return (
        estimate_shared_call(tools.model, prompt, alone, rows) * rows_asked
        + estimate_support_check(tools.model, subject, asked) * rows_asked
    )


def estimate_support_check(model: LanguageModel, subject: Subject, fields: Sequence[Field]) -> Effort:
    field = next((field for field in fields if field.type in JUDGED_TYPES), None)
    if field is None:
        return Effort()
    asked = SupportToCheck(
        subject=subject, values=(JudgedValue(field=field, value=Sample.CELL, evidence=(Sample.EVIDENCE,)),)
    )
    rows = 1 - (1 - Assumed.JUDGED_FIELDS) ** len(fields)
    return estimate_call(model, CheckSupport().prompt(asked), WRITTEN["support"]) * rows


def estimate_shared_call(model: LanguageModel, prompt: Prompt, alone: Effort, rows: int) -> Effort:
    """Return the effort of a row that shares its call, with the instructions and the form of the reply, with others if
    its prompt is short."""
    share = (
        1 / max(1.0, Assumed.BATCH_FULL * rows)
        if len(prompt.text) <= model.text_room // TEXT_LIMITS.shared_call_parts
        else 1.0
    )
    saved = count_sent_tokens(prompt.instructions, *list_sent_schema(model, prompt)) * (1 - share)
    each = Effort(calls=share, input_tokens=alone.input_tokens - saved, output_tokens=alone.output_tokens)
    return each * (1 + Assumed.ASKED_TWICE)


def estimate_documents(task: Task, tools: Tools) -> Expected:
    """Estimate reading the document that a row names, once for all fields."""
    if tools.model is None:
        return Expected(row=Effort())
    row = Effort()
    for column, fields in group_by_subject(task).items():
        subject = sample_subject(task, column)
        sizes = sample_sizes(task.text_sizes) or (Assumed.PAGE_CHARACTERS,)
        for size in sizes:
            own = make_sample_text(min(size, tools.model.text_room))
            asked = RowToRead(subject=subject, fields=fields, sources=(own,), room=tools.model.text_room)
            prompt = ReadDocument().prompt(asked)
            alone = estimate_call(tools.model, prompt, *[WRITTEN["answer"]] * len(fields))
            row += estimate_shared_call(tools.model, prompt, alone, TEXT_LIMITS.rows_per_call) * (1 / len(sizes))
        row += estimate_support_check(tools.model, subject, fields)
    return Expected(row=row)


def sample_sizes(sizes: Sequence[int]) -> Sequence[int]:
    """Return sixteen sizes that stand for all: a mean would hide that some texts are too long to share a call."""
    ordered, count = sorted(sizes), 16
    return (
        ordered if len(ordered) <= count else [ordered[(2 * n + 1) * len(ordered) // (2 * count)] for n in range(count)]
    )


# ── one question at a time ───────────────────────────────────────────────────────────────────────────────────────────


def estimate_lookup(task: Task, tools: Tools) -> Expected:
    if tools.model is None:
        return Expected(row=Effort(searches=Assumed.BY_RULE["lookup"].searches) * len(task.fields))
    columns = subject_columns(task)
    row = once = Effort()
    snippets = (make_sample_text(Assumed.SNIPPET_CHARACTERS),) * Assumed.RESULTS_SHOWN
    for field in task.fields:
        subject = sample_subject(task, columns[field.name])
        once += estimate_planning(tools.model, subject, (field,))
        prompt = ReadRow().prompt(RowToRead(subject=subject, fields=(field,), sources=snippets))
        alone = estimate_call(tools.model, prompt, *[WRITTEN["verdict"]] * Assumed.RESULTS_SHOWN, WRITTEN["answer"])
        asked = estimate_shared_call(tools.model, prompt, alone, TEXT_LIMITS.rows_per_call) * Assumed.LOOKUP_SEARCHES
        row += asked * (Assumed.UNSURE if tools.cascade else 1.0) + estimate_support_check(
            tools.model, subject, (field,)
        )
        row += Effort(searches=Assumed.LOOKUP_SEARCHES)
    return Expected(row=row, once=once)


def estimate_research_path(task: Task, tools: Tools, kind: str, instructions: str) -> Expected:
    """`kind` is one of `STEERED`."""
    if tools.model is None:
        path = Assumed.BY_RULE[kind]
        return Expected(row=Effort(searches=path.searches, pages=path.pages) * len(task.fields))
    path = Assumed.STEERED[kind]
    columns = subject_columns(task)
    row = once = Effort()
    for field in task.fields:
        subject = sample_subject(task, columns[field.name])
        once += estimate_planning(tools.model, subject, (field,))
        row += estimate_exploration(tools.model, subject, field, path.turns, instructions) * (
            Assumed.UNSURE if tools.cascade else 1.0
        )
        row += Effort(searches=path.searches, pages=path.pages) + estimate_support_check(tools.model, subject, (field,))
        if kind == "comprehensive":
            row += estimate_coverage_rating(tools.model, subject, field)
    return Expected(row=row, once=once)


def estimate_exploration(
    model: LanguageModel, subject: Subject, field: Field, turns: float, instructions: str
) -> Effort:
    """Estimate an exploration, in which every turn sends all earlier turns again."""
    # Loaded with the model anyway.
    from tablewright.strategies.agent import FETCH_TOOL, SEARCH_TOOL

    tools = [SEARCH_TOOL, FETCH_TOOL]
    offered = [*(tool.description or "" for tool in tools), Reply.__doc__ or ""]
    if not is_local_model(model):
        schemas = [*(tool.function_schema.json_schema for tool in tools), Reply.model_json_schema()]
        offered += map(json.dumps, schemas)
    offer = make_sample_offer()
    results = words.results_text([(number, offer) for number in range(1, Assumed.RESULTS_SHOWN + 1)])
    page = mark_text(
        1, make_prose(min(Assumed.PAGE_CHARACTERS, model.text_room // TEXT_LIMITS.opened_page_parts)), Sample.TITLE
    )
    first = count_sent_tokens(instructions, *offered, words.question_text(subject, field, (), {}, ()), results)
    said = count_sent_tokens(WRITTEN["turn"])
    later = said + count_sent_tokens(page)
    return Effort(
        calls=turns,
        input_tokens=turns * first + later * turns * (turns - 1) / 2,
        output_tokens=turns * said,
    )


def estimate_coverage_rating(model: LanguageModel, subject: Subject, field: Field) -> Effort:
    answer = AnsweredField(field=field, value=Sample.CELL, evidence=(Sample.EVIDENCE,) * 2)
    asked = CoverageToJudge(subject=subject, answers=(answer,), opened=2)
    return estimate_call(model, JudgeCoverage().prompt(asked), WRITTEN["judge"])


# ── from the row ──────────────────────────────────────────────────────────────────────────────────────────────────────


def estimate_verbal_formulas(tools: Tools, formulas: Sequence[tuple[Field, Formula, Sequence[Field]]]) -> Expected:
    """Estimate formulas in words: a translation once for the table, and cells written row by row if that fails."""
    row = once = Effort()
    if tools.model is None:
        return Expected()
    for field, formula, known in formulas:

        def read(text: str, known: Sequence[Field] = known) -> Formula:
            return Formula(text, known)

        columns = tuple(other for other in known if other.name != field.name)
        asked = FormulaToTranslate(field=field, columns=columns, named=formula.columns, read=read)
        once += estimate_call(tools.model, TranslateFormula().prompt(asked), WRITTEN["translation"]) * (
            1 + Assumed.ASKED_TWICE
        )
        row += estimate_writing(tools.model, [field], columns) * Assumed.NO_FORMULA
    return Expected(row=row, once=once)


def estimate_transform(task: Task, tools: Tools) -> Expected:
    if tools.model is None:
        return Expected()
    return Expected(row=estimate_writing(tools.model, task.fields, task.table.fields, rows_per_call(task)))


def estimate_writing(
    model: LanguageModel, fields: Sequence[Field], columns: Sequence[Field], rows: int = TEXT_LIMITS.rows_per_call
) -> Effort:
    """Estimate cells that a model writes from the row, all in one call shared with other rows."""
    asked = {field.name for field in fields}
    whole = tuple(column.name for column in columns if column.name not in asked)
    inputs = {field.name: find_template_columns(field.question, columns) or whole for field in fields}
    row = dict.fromkeys((column for each in inputs.values() for column in each), Sample.CELL)
    prompt = WriteCells().prompt(CellsToWrite(fields=tuple(fields), inputs=inputs, row=row))
    return estimate_shared_call(model, prompt, estimate_call(model, prompt, *[WRITTEN["written"]] * len(fields)), rows)


# ── strategies of other packages ─────────────────────────────────────────────────────────────────────────────────────


def estimate_unknown_strategy(task: Task, tools: Tools, needs: Collection[Need]) -> Expected:
    """Estimate a strategy that states no effort: a question, a search and a page per cell, as far as it needs them."""
    cell = Effort()
    if "model" in needs and tools.model is not None:
        cell += Assumed.UNKNOWN_MODEL * (Assumed.UNSURE if tools.cascade else 1.0)
    if "web" in needs:
        cell += Assumed.UNKNOWN_WEB
    return Expected(row=cell * len(task.fields))


# ── sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def estimate_call(model: LanguageModel, prompt: Prompt, *written: str, texts: str = "") -> Effort:
    """Return the effort of one call; `texts` are added to the prompt."""
    return Effort(
        calls=1,
        input_tokens=count_sent_tokens(prompt.instructions, prompt.text, texts, *list_sent_schema(model, prompt)),
        output_tokens=min(count_sent_tokens(*written), prompt.max_tokens),
    )


def list_sent_schema(model: LanguageModel, prompt: Prompt) -> list[str]:
    """Return the form of the reply if it is part of the prompt; a local model gets it as a separate grammar."""
    return [] if is_local_model(model) else [json.dumps(prompt.reply.model_json_schema())]


def is_local_model(model: LanguageModel) -> bool:
    # Loaded with the model anyway.
    from tablewright.llm.tokens import FREE_PROVIDERS

    return model.asked.system in FREE_PROVIDERS


def count_sent_tokens(*texts: str) -> float:
    return Assumed.COUNTED_TOKENS * estimate_tokens("\n".join(texts))


def make_prose(length: float) -> str:
    return (Sample.PROSE * (int(length) // len(Sample.PROSE) + 1))[: int(length)]


def make_sample_offer() -> Offer:
    return Offer(origin=Sample.ADDRESS, title=Sample.TITLE, snippet=make_prose(Assumed.SNIPPET_CHARACTERS))


def make_sample_text(characters: float) -> Retrieved:
    return Retrieved(origin=Sample.ADDRESS, title=Sample.TITLE, text=make_prose(characters))


def sample_subject(task: Task, column: str) -> Subject:
    """Return a row of the table as a prompt shows it, with cells of the usual length."""
    asked = {field.name for field in task.fields}
    others = [field.name for field in task.table.fields if field.name not in asked and field.name != column]
    return Subject(name=Sample.NAME, context=dict.fromkeys(others, Sample.CELL), column=column)


def sum_efforts(efforts: Iterable[Effort]) -> Effort:
    whole = Effort()
    for effort in efforts:
        whole += effort
    return whole
