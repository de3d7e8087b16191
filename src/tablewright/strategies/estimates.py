"""What our own strategies are likely to take, before anything is spent: the arithmetic behind an estimate.

How long a prompt is comes from the prompts themselves, filled with prose; how often one is sent, and how full it is, is
assumed. Every assumption stands here, once, under a name. Earlier runs of the same kind go before all of them
(engine/estimate.py).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tablewright.citations.quotes import block
from tablewright.decisions import answer_with_tools as words
from tablewright.decisions.answer_with_tools import Reply
from tablewright.decisions.cell_answer import JUDGED_TYPES
from tablewright.decisions.choose_pages import Choose, Offer, pages_for_row
from tablewright.decisions.decision import Prompt
from tablewright.decisions.judge_values import AnsweredField, Judge, JudgeCoverage, JudgedValue, Support, ToSupport
from tablewright.decisions.plan_patterns import Plan, PlanPatterns
from tablewright.decisions.read import ReadRow, RowToRead
from tablewright.decisions.read_document import ReadDocument
from tablewright.decisions.translate_formula import Translate, TranslateFormula
from tablewright.decisions.write_cells import Write, WriteCells
from tablewright.domain.fieldspec import columns_in
from tablewright.domain.model import Evidence, Field, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.about import Subject
from tablewright.formulas.formula import Formula
from tablewright.models.text_budget import PAGE_SHARE, ROWS_A_CALL, SHARED_CALL_SHARE
from tablewright.models.tokens import estimate_tokens
from tablewright.strategies.request_batcher import rows_a_call
from tablewright.strategies.strategy import Effort, Expected, Need, Task, Tools
from tablewright.strategies.subject import by_subject, subject_columns

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

# ── what is assumed ──────────────────────────────────────────────────────────────────────────────────────────────────

COUNTED = 0.8
"""Tokens that a model counts for each that `estimate_tokens` gives, which is meant to be a little too high."""
PAGE = 5_000
"""Characters of a page."""
SNIPPET = 160
RESULTS_SHOWN = 8
"""Search results in a prompt that shows these."""
TEXTS_SHOWN = 2
"""Pages in a prompt that reads pages."""
ASKED_TWICE = 0.1
"""Calls whose answer cannot be used, so that the question is asked once more."""
UNSURE = 0.4
"""With cascade: cells of which the built-in reader is not sure, so that a model is asked."""

ROWS_WITH_TEXT = 0.9
"""Pipeline: rows for which a page or a search result was found that a model can read."""
BATCH_FULL = 0.75
"""Of the rows that a call may be shared by, those that share it."""
JUDGED_FIELDS = 0.15
"""Columns whose value is concluded rather than read, so that a second call asks whether its quotes bear it."""
SEARCHES, PAGES = 1.4, 3.0
"""Pipeline: for a row, in the first attempt."""
WEAK_FIELDS = 0.6
"""Pipeline: of the columns of a row that is tried again, those that are weak."""
SEARCHES_AGAIN, PAGES_AGAIN = 1.5, 1.5
"""Pipeline: for a row, in a further attempt."""


class Path(Noun, frozen=True):
    """What one question takes on its own path; `turns` are calls of the model that steers it."""

    turns: float
    searches: float
    pages: float = 0.0


LOOKED_UP = 1.35
"""Searches, and readings of their results, for one question."""
STEERED = {
    "exploratory": Path(turns=2.05, searches=1.6, pages=1.2),
    "comprehensive": Path(turns=2.8, searches=3.5, pages=2.5),
}
"""With a model."""
BY_RULE = {
    "lookup": Path(turns=0, searches=1.4),
    "exploratory": Path(turns=0, searches=1.8, pages=1.2),
    "comprehensive": Path(turns=0, searches=5.5, pages=1.7),
}
"""Without one, measured on the same questions."""

NO_FORMULA = 0.3
"""Computation: formulas in words that no expression can say, so that a model writes every row."""

WEAK_ROWS, STILL_WEAK = 0.5, 0.6
"""Rows with a weak cell after the first attempt; of these, rows with one after each further attempt."""

CALL_SECONDS, LOCAL_CALL_SECONDS, SEARCH_SECONDS = 2.0, 10.0, 1.0
"""For one model call, one of a model on this machine (which answers no two any faster), one search."""

NEUTRAL = Effort(calls=1, input_tokens=800, output_tokens=60)
"""A question to a model, by a strategy that does not say what it takes."""
NEUTRAL_WEB = Effort(searches=1, pages=1)

ADDRESS = "https://www.acme-turbines.example/about/company"
NAME, CELL, TITLE = "Acme Turbines Ltd", "United Kingdom", "Acme Turbines – about the company and its history"
"""A row's name, another cell of it, and the title of a page, of the usual length."""
PROSE = (
    "The company was founded in 1987 by two engineers and has its headquarters in Bristol, where about 1,200 people "
    "work on turbines for small rivers. Revenue: £48.2 million (2023). It is led by Ann Lee, who joined in 2011. "
)
QUOTE = (
    "The company was founded in 1987 by two engineers and has its headquarters in Bristol, where about 1,200 people "
    "work on turbines for rivers"
)
CITED = Evidence(origin="", title=TITLE, quote=QUOTE)
"""Models quote whole sentences, whatever they are told."""
WRITTEN = {
    "answer": f'"City": [{{"value": "Bristol", "basis": "stated", "quotes": [{{"text": 1, "quote": "{QUOTE}"}}]}}], ',
    "verdict": '{"text": 1, "same_row": "same", "reason": "It is the company of this name in this country."}, ',
    "choice": '{"numbers": [1, 3]}',
    "support": '{"number": 1, "verdict": "yes", "reason": "The quote says whom it sells to."}',
    "turn": f'{{"name": "answer", "arguments": {{"value": "Bristol", "quote": "{QUOTE}"}}}}',
    "plan": '{"patterns": ["%entity founded headquarters", "%entity company profile employees", "%entity about"]}',
    "judge": '{"rating": "medium", "weak": ["Headquarters"]}',
    "written": '"Category": {"value": "Industrial machinery and turbines", "used": ["Description"]}, ',
    "translation": '{"expression": "ROUND({Price} * 1.19, 2)", "missing": ""}',
}
"""What a model writes, by the kind of question."""

# ── the pipeline ─────────────────────────────────────────────────────────────────────────────────────────────────────


def pipeline(task: Task, tools: Tools) -> Expected:
    parts = [of_group(task, tools, column, fields) for column, fields in by_subject(task).items()]
    return Expected(
        row=total(part.row for part in parts),
        once=total(part.once for part in parts),
        again=total(part.again for part in parts),
        again_once=total(part.again_once for part in parts),
    )


def of_group(task: Task, tools: Tools, column: str, fields: Sequence[Field]) -> Expected:
    """Fields about the same thing: one plan, one set of pages, one call a row."""
    first = Effort(searches=SEARCHES, pages=PAGES)
    again = Effort(searches=SEARCHES_AGAIN, pages=PAGES_AGAIN)
    if tools.model is None:
        return Expected(row=first, again=again)
    subject = sample_subject(task, column)
    plan = planned(tools.model, subject, fields)
    rows = rows_a_call(task)
    weak = fields[: max(1, round(WEAK_FIELDS * len(fields)))]
    return Expected(
        row=first + chosen(tools.model, subject, fields, rows) + read(tools, subject, fields, rows, tools.cascade),
        once=plan,
        again=again + chosen(tools.model, subject, weak, rows) + read(tools, subject, weak, rows),
        again_once=planned(tools.model, subject, fields[:1]) * len(fields),
    )


def planned(model: LanguageModel, subject: Subject, fields: Sequence[Field]) -> Effort:
    asked = PlanPatterns(key=subject.column, fields=tuple(fields), columns=tuple(subject.context), sample=subject)
    return one_call(model, Plan().prompt(asked), WRITTEN["plan"])


def chosen(model: LanguageModel, subject: Subject, fields: Sequence[Field], rows: int) -> Effort:
    offers = [Offer(origin=ADDRESS, title=TITLE, snippet=prose(SNIPPET))] * RESULTS_SHOWN
    prompt = Choose().prompt(pages_for_row(subject, fields).among(offers))
    return shared_call(model, prompt, one_call(model, prompt, WRITTEN["choice"]), rows)


def read(tools: Tools, subject: Subject, fields: Sequence[Field], rows: int, cascade: bool = False) -> Effort:
    """One call for all fields of the row, or a part of one that it shares with others. With `cascade` only for those
    of which the built-in reader is not sure; of weak ones it never is."""
    assert tools.model is not None
    asked, rows_asked = list(fields), ROWS_WITH_TEXT
    if cascade:
        rows_asked *= 1 - (1 - UNSURE) ** len(fields)
        asked = asked[: max(1, round(UNSURE * len(fields)))]
    page = Retrieved(origin=ADDRESS, title=TITLE, text=prose(PAGE))
    sources, room = (page,) * TEXTS_SHOWN, tools.model.text_room
    prompt = ReadRow().prompt(RowToRead(subject=subject, fields=tuple(asked), sources=sources, room=room))
    written = [WRITTEN["verdict"]] * TEXTS_SHOWN + [WRITTEN["answer"]] * len(asked)
    alone = one_call(tools.model, prompt, *written)
    return (
        shared_call(tools.model, prompt, alone, rows) * rows_asked + supported(tools.model, subject, asked) * rows_asked
    )


def supported(model: LanguageModel, subject: Subject, fields: Sequence[Field]) -> Effort:
    field = next((field for field in fields if field.type in JUDGED_TYPES), None)
    if field is None:
        return Effort()
    asked = ToSupport(subject=subject, values=(JudgedValue(field=field, value=CELL, evidence=(CITED,)),))
    rows = 1 - (1 - JUDGED_FIELDS) ** len(fields)
    return one_call(model, Support().prompt(asked), WRITTEN["support"]) * rows


def shared_call(model: LanguageModel, prompt: Prompt, alone: Effort, rows: int) -> Effort:
    """A row whose prompt is short shares its call, and the instructions, with others."""
    share = 1 / max(1.0, BATCH_FULL * rows) if len(prompt.text) <= model.text_room // SHARED_CALL_SHARE else 1.0
    saved = tokens(prompt.instructions) * (1 - share)
    each = Effort(calls=share, input_tokens=alone.input_tokens - saved, output_tokens=alone.output_tokens)
    return each * (1 + ASKED_TWICE)


def documents(task: Task, tools: Tools) -> Expected:
    """The document that a row names is read once for all fields."""
    if tools.model is None:
        return Expected(row=Effort())
    row = Effort()
    for column, fields in by_subject(task).items():
        subject = sample_subject(task, column)
        own = Retrieved(origin=ADDRESS, title=TITLE, text=prose(PAGE))
        asked = RowToRead(subject=subject, fields=fields, sources=(own,), room=tools.model.text_room)
        prompt = ReadDocument().prompt(asked)
        alone = one_call(tools.model, prompt, *[WRITTEN["answer"]] * len(fields))
        row += shared_call(tools.model, prompt, alone, ROWS_A_CALL) + supported(tools.model, subject, fields)
    return Expected(row=row)


# ── one question at a time ───────────────────────────────────────────────────────────────────────────────────────────


def lookup(task: Task, tools: Tools) -> Expected:
    if tools.model is None:
        return Expected(row=Effort(searches=BY_RULE["lookup"].searches) * len(task.fields))
    columns = subject_columns(task)
    row = once = Effort()
    snippets = tuple(Retrieved(origin=ADDRESS, title=TITLE, text=prose(SNIPPET)) for _ in range(RESULTS_SHOWN))
    for field in task.fields:
        subject = sample_subject(task, columns[field.name])
        once += planned(tools.model, subject, (field,))
        prompt = ReadRow().prompt(RowToRead(subject=subject, fields=(field,), sources=snippets))
        alone = one_call(tools.model, prompt, *[WRITTEN["verdict"]] * RESULTS_SHOWN, WRITTEN["answer"])
        asked = shared_call(tools.model, prompt, alone, ROWS_A_CALL) * LOOKED_UP
        row += asked * (UNSURE if tools.cascade else 1.0) + supported(tools.model, subject, (field,))
        row += Effort(searches=LOOKED_UP)
    return Expected(row=row, once=once)


def research(task: Task, tools: Tools, kind: str, instructions: str) -> Expected:
    """`kind` is one of `STEERED`."""
    if tools.model is None:
        path = BY_RULE[kind]
        return Expected(row=Effort(searches=path.searches, pages=path.pages) * len(task.fields))
    path = STEERED[kind]
    columns = subject_columns(task)
    row = once = Effort()
    for field in task.fields:
        subject = sample_subject(task, columns[field.name])
        once += planned(tools.model, subject, (field,))
        row += steered(tools.model, subject, field, path.turns, instructions) * (UNSURE if tools.cascade else 1.0)
        row += Effort(searches=path.searches, pages=path.pages) + supported(tools.model, subject, (field,))
        if kind == "comprehensive":
            row += judged(tools.model, subject, field)
    return Expected(row=row, once=once)


def steered(model: LanguageModel, subject: Subject, field: Field, turns: float, instructions: str) -> Effort:
    """Every turn sends again what was said before it."""
    from tablewright.strategies.agent import FETCH, SEARCH  # loaded with the model anyway

    tools = [SEARCH, FETCH]
    offered = [*(tool.description or "" for tool in tools), Reply.__doc__ or ""]
    if counts_schema(model):
        schemas = [*(tool.function_schema.json_schema for tool in tools), Reply.model_json_schema()]
        offered += map(json.dumps, schemas)
    offer = Offer(origin=ADDRESS, title=TITLE, snippet=prose(SNIPPET))
    results = words.results_text([(number, offer) for number in range(1, RESULTS_SHOWN + 1)])
    page = block(1, prose(min(PAGE, model.text_room // PAGE_SHARE)), TITLE)
    first = tokens(instructions, *offered, words.question_text(subject, field, (), {}, ()), results)
    said = tokens(WRITTEN["turn"])
    later = said + tokens(page)
    return Effort(
        calls=turns,
        input_tokens=turns * first + later * turns * (turns - 1) / 2,
        output_tokens=turns * said,
    )


def judged(model: LanguageModel, subject: Subject, field: Field) -> Effort:
    asked = JudgeCoverage(row=subject.name, answers=(AnsweredField(field=field.name, value=CELL),), opened=2)
    return one_call(model, Judge().prompt(asked), WRITTEN["judge"])


# ── from the row ──────────────────────────────────────────────────────────────────────────────────────────────────────


def in_words(tools: Tools, formulas: Sequence[tuple[Field, Formula, Sequence[Field]]]) -> Expected:
    """Formulas in words: what a model writes once for the table, and what it writes row by row where that fails."""
    row = once = Effort()
    if tools.model is None:
        return Expected()
    for field, formula, known in formulas:

        def read(text: str, known: Sequence[Field] = known) -> Formula:
            return Formula(text, known)

        columns = tuple(other for other in known if other.name != field.name)
        asked = TranslateFormula(field=field, columns=columns, named=formula.columns, read=read)
        once += one_call(tools.model, Translate().prompt(asked), WRITTEN["translation"]) * (1 + ASKED_TWICE)
        row += written(tools.model, [field], columns) * NO_FORMULA
    return Expected(row=row, once=once)


def transform(task: Task, tools: Tools) -> Expected:
    if tools.model is None:
        return Expected()
    return Expected(row=written(tools.model, task.fields, task.table.fields, rows_a_call(task)))


def written(model: LanguageModel, fields: Sequence[Field], columns: Sequence[Field], rows: int = ROWS_A_CALL) -> Effort:
    """Cells that a model writes from the row, all in one call that the row shares with others."""
    asked = {field.name for field in fields}
    whole = tuple(column.name for column in columns if column.name not in asked)
    inputs = {field.name: columns_in(field.question, columns) or whole for field in fields}
    row = dict.fromkeys((column for each in inputs.values() for column in each), CELL)
    prompt = Write().prompt(WriteCells(fields=tuple(fields), inputs=inputs, row=row))
    return shared_call(model, prompt, one_call(model, prompt, *[WRITTEN["written"]] * len(fields)), rows)


# ── what does not say ────────────────────────────────────────────────────────────────────────────────────────────────


def guessed(task: Task, tools: Tools, needs: Collection[Need]) -> Expected:
    """For a strategy that does not say: a question, a search and a page for each cell, as far as it needs such."""
    cell = Effort()
    if "model" in needs and tools.model is not None:
        cell += NEUTRAL * (UNSURE if tools.cascade else 1.0)
    if "web" in needs:
        cell += NEUTRAL_WEB
    return Expected(row=cell * len(task.fields))


# ── sizes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def one_call(model: LanguageModel, prompt: Prompt, *written: str, texts: str = "") -> Effort:
    """`texts` stand in the prompt beside its own words."""
    asked = [prompt.instructions, prompt.text, texts]
    if counts_schema(model):
        asked.append(json.dumps(prompt.reply.model_json_schema()))
    return Effort(calls=1, input_tokens=tokens(*asked), output_tokens=min(tokens(*written), prompt.max_tokens))


def counts_schema(model: LanguageModel) -> bool:
    """Return True if the form of the answer is a part of the prompt; on this machine it is a grammar beside it."""
    return not runs_here(model)


def runs_here(model: LanguageModel) -> bool:
    from tablewright.models.tokens import FREE  # loaded with the model anyway

    return model.agent_model.system in FREE


def tokens(*texts: str) -> float:
    return COUNTED * estimate_tokens("\n".join(texts))


def prose(length: float) -> str:
    return (PROSE * (int(length) // len(PROSE) + 1))[: int(length)]


def sample_subject(task: Task, column: str) -> Subject:
    """A row of the table as a prompt shows it, with cells of the usual length."""
    asked = {field.name for field in task.fields}
    others = [field.name for field in task.table.fields if field.name not in asked and field.name != column]
    return Subject(name=NAME, context=dict.fromkeys(others, CELL), column=column)


def total(efforts: Iterable[Effort]) -> Effort:
    whole = Effort()
    for effort in efforts:
        whole += effort
    return whole
