"""The form of every task for a model: typed input, a prompt, a typed reply, a check, and a fallback for no model.

The judgement is the model's. Code checks what can be proved: a reply that fails, or only its failing parts, goes back
once with the reason, and what still fails is omitted and reported. The fallback answers if the model is unavailable or
twice gives no usable reply (the trace says `degraded`), or if there is no model. Tasks are pure apart from the model:
they read no store and no network. The helpers below build the parts that prompts share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from msgspec import structs
from pydantic import BaseModel, ConfigDict, create_model, model_validator
from pydantic import Field as Key

from tablewright.citations.quotes import looks_like_prompt_injection, mark_block, mark_question, mark_text
from tablewright.domain.model import Evidence, Field, Step, Struct
from tablewright.domain.retrieved import Retrieved, is_document_id
from tablewright.domain.text import shorten_text
from tablewright.errors import ModelError, OverBudget
from tablewright.extraction.subject import Subject
from tablewright.llm.text_budget import TEXT_LIMITS, fit_texts

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

Asked = TypeVar("Asked", contravariant=True)
Decided = TypeVar("Decided", covariant=True)
Any_Decided = TypeVar("Any_Decided")
Item = TypeVar("Item")

Tell: TypeAlias = Callable[[Step], None]


class Prompt(Struct, frozen=True, gc=True):
    """A request to the model. `instructions` are ours and the same for all rows of a table, so that providers can cache
    them; in `text` everything retrieved is in a marked block."""

    instructions: str
    text: str
    reply: type[BaseModel]
    max_tokens: int = 512
    """About twice what a usual reply takes: a reply that is cut off is asked again with more, which costs both."""
    results: tuple[tuple[str, str], ...] = ()
    """The numbered search results in `text`, each as its page and its snippet: a request for several rows shows a page
    once."""


class Correction(Struct, frozen=True, gc=True):
    """A second request for only those parts of a reply that fail their check. `put_in` returns the decision with the
    corrected parts, and raises InvalidReply if some fail again."""

    prompt: Prompt
    put_in: Callable[[Any], Any]


class InvalidReply(Exception):
    """A reply in the right form that fails its check; the text of the error tells the model what is wrong.

    `usable` is the decision without the wrong parts, used if a second reply is no better. The second reply is a whole
    one, unless there is a `correction`.
    """

    def __init__(self, problem: str, usable: object = None, correction: Correction | None = None) -> None:
        super().__init__(problem)
        self.usable = usable
        self.correction = correction


def accept_reply(decided: Any_Decided, problems: Iterable[str]) -> Any_Decided:
    """Return the decision. Raise InvalidReply if there are problems, with which the reply goes back to the model."""
    if problem := " ".join(problems):
        raise InvalidReply(problem, usable=decided)
    return decided


def pick_numbered(items: Sequence[Item], numbers: Iterable[int]) -> list[Item]:
    """Return the items that a model names by their numbers, from 1, each once. Only numbers that were shown count, so
    no text can add an item."""
    return [items[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(items)]


def answers_by_number(answers: Iterable[Item], count: int) -> dict[int, Item]:
    """Return the answers that a model gives to numbered items by their `number`, from 1 to `count`."""
    numbered = {getattr(each, "number", 0): each for each in answers}
    return {number: each for number, each in numbered.items() if 1 <= number <= count}


def add_missing_keys(**defaults: Any) -> Any:
    """Return a validator of a form for keys that small models leave out, though the schema asks for them."""

    def complete(reply: Any) -> Any:
        given = {key: value for key, value in reply.items() if value is not None} if isinstance(reply, dict) else {}
        return defaults | given if given else reply

    return model_validator(mode="before")(complete)


# One form for the columns of a table serves all its rows.
@lru_cache(maxsize=256)
def reply_by_name(title: str, names: tuple[str, ...], answer: Any) -> type[BaseModel]:
    """Return a form with an answer under each name, made once for the same names; in code they are f0, f1, …"""
    fields: dict[str, Any] = {f"f{place}": (answer, Key(alias=name)) for place, name in enumerate(names)}
    return create_model(title, __config__=ConfigDict(populate_by_name=True), **fields)


def answers_by_name(form: BaseModel) -> list[Any]:
    """Return the answers of such a form in the order of its names."""
    return [getattr(form, f"f{place}") for place in range(len(type(form).model_fields))]


class Decision(Protocol[Asked, Decided]):
    name: str

    def prompt(self, asked: Asked) -> Prompt: ...

    def check(self, asked: Asked, reply: Any) -> Decided:
        """Return the reply as a decision. Raise InvalidReply for what code can prove wrong, and for nothing else."""
        ...

    def fallback(self, asked: Asked) -> Decided:
        """Return the decision without a model. It is short and general, and never mixed with a model's reply."""
        ...


class Outcome(Struct, Generic[Any_Decided], frozen=True, gc=True):
    """A decision. `degraded` says why the fallback was used although there is a model, and `left_out` which parts of
    the model's reply failed their check twice."""

    decided: Any_Decided
    degraded: str = ""
    left_out: str = ""
    over_budget: bool = False


async def decide(
    decision: Decision[Any, Any_Decided],
    asked: Any,
    model: LanguageModel | None,
    tell: Tell,
    first: BaseModel | None = None,
    prompt: Prompt | None = None,
) -> Outcome[Any_Decided]:
    """Return the model's decision, or the fallback's. `first` is a reply that came in a request for several rows, and
    `prompt` the one of this row, if it is made already."""
    if model is None:
        return Outcome(decided=await fall_back(decision, asked))
    try:
        outcome = await _ask_model(decision, asked, model, first, prompt)
    except (ModelError, InvalidReply) as error:
        problem = error.what if isinstance(error, ModelError) else f"the model's answer cannot be used: {error}"
        tell(
            Step(
                type="thinking",
                detail=f"{decision.name}: {problem} Decided without the model.",
                data={"decision": decision.name, "degraded": True},
            )
        )
        over = isinstance(error, OverBudget)
        return Outcome(decided=await fall_back(decision, asked), degraded=problem, over_budget=over)
    if outcome.left_out:
        tell(
            Step(
                type="thinking",
                detail=f"{decision.name}: not verified and left out: {outcome.left_out}",
                data={"decision": decision.name, "left_out": True},
            )
        )
    return outcome


async def fall_back(decision: Decision[Any, Any_Decided], asked: Any) -> Any_Decided:
    """Return the fallback's decision. It runs in a thread, since reading long pages takes seconds."""
    return await asyncio.to_thread(decision.fallback, asked)


async def _ask_model(
    decision: Decision[Any, Any_Decided],
    asked: Any,
    model: LanguageModel,
    first: BaseModel | None,
    given: Prompt | None,
) -> Outcome[Any_Decided]:
    """Ask for the whole reply, once more if its check fails, and then once for the parts that still fail."""
    prompt = given if given is not None else await asyncio.to_thread(decision.prompt, asked)
    # Proving quotes on long pages would block all other rows; on a short text it takes less than starting a thread.
    is_short = len(prompt.text) <= 1_000
    text, attempts_left = prompt.text, 1
    while True:
        reply = await _request_reply(model, prompt, text) if first is None else first
        try:
            return Outcome(
                decided=decision.check(asked, reply)
                if is_short
                else await asyncio.to_thread(decision.check, asked, reply)
            )
        except InvalidReply as error:
            problem = error
        if problem.correction or not attempts_left:
            break
        text = add_fault(prompt, reply.model_dump_json(by_alias=True), problem).text
        # Also where the first reply came in a request for several rows, the second is for this one.
        first, attempts_left = None, 0
    if problem.usable is None:
        raise problem
    usable: Any_Decided = problem.usable  # type: ignore[assignment]
    if correction := problem.correction:
        try:
            reply = await _request_reply(model, correction.prompt, correction.prompt.text)
        # What could be proved is worth more than the parts that a failing model cannot correct.
        except ModelError:
            return Outcome(decided=usable, left_out=str(problem))
        try:
            return Outcome(decided=await asyncio.to_thread(correction.put_in, reply))
        except InvalidReply as left:
            return Outcome(decided=left.usable, left_out=str(left))  # type: ignore[arg-type]
    return Outcome(decided=usable, left_out=str(problem))


def add_fault(prompt: Prompt, said: str, problem: InvalidReply) -> Prompt:
    """Return the prompt with the last answer and what is wrong with it."""
    # A problem repeats words of pages; one that speaks like an instruction is not sent to the model.
    wrong = f"It fails a check: {problem}" if not looks_like_prompt_injection(str(problem)) else "It fails a check."
    shown = mark_text(0, said[: TEXT_LIMITS.refused_reply])
    text = f"{prompt.text}\n\nYour last answer was\n{shown}\n{wrong}\nAnswer again, whole."
    return structs.replace(prompt, text=text)


async def _request_reply(model: LanguageModel, prompt: Prompt, text: str) -> BaseModel:
    return await model.ask(
        instructions=prompt.instructions, prompt=text, output=prompt.reply, max_tokens=prompt.max_tokens
    )


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def join_parts(*parts: str, by: str = "\n\n") -> str:
    """Join the parts that are not empty."""
    return by.join(filter(None, parts))


def lines_block(number: int, lines: Iterable[str], title: str = "") -> str:
    return mark_text(number, "\n".join(lines), title)


def headed_block(
    heading: str, number: int, text: str | Sequence[str], title: str = "", *, is_proved: bool = False
) -> str:
    """Return a text or its lines below a heading, or "" if there are none. A text that was proved before is shown
    whole, since it was already checked for prompt injection."""
    if not text:
        return ""
    whole = text if isinstance(text, str) else "\n".join(text)
    return f"{heading}\n{mark_block(f'TEXT {number}', whole, title) if is_proved else mark_text(number, whole, title)}"


def text_blocks(texts: Iterable[tuple[str, str]]) -> str:
    """Return titles and texts in blocks numbered from 1."""
    return "\n\n".join(mark_text(number, text, title) for number, (title, text) in enumerate(texts, start=1))


def number_lines(lines: Iterable[str]) -> str:
    """Return the lines, the first one beginning with "[1] "."""
    return "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, start=1))


def clean_lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return each text once and on one line, without the empty ones."""
    return tuple(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))


# ── columns and rows ─────────────────────────────────────────────────────────────────────────────────────────────────


def describe_columns(fields: Sequence[Field], examples: Mapping[str, tuple[str, ...]] = {}) -> str:
    """Return the columns as the user asked for them. The same for all rows: {Company} means the row's own value."""
    return "\n".join(describe_column(field, examples.get(field.name, ())) for field in fields)


def describe_column(field: Field, examples: Sequence[str] = ()) -> str:
    """Return a line like "- Founded (number): What year was {Company} founded?"."""
    kind = f"one of: {', '.join(field.options)}" if field.options else "yes or no" if field.type == "boolean" else ""
    kind = kind or ("list, its items separated by ;" if field.type == "list" else "")
    kind = kind or (f"{field.type}, in {field.unit}" if field.unit else field.type)
    asks = ". ".join(part for part in (field.question, field.description) if part)
    shown = f"\n  Accepted values of this column: {' · '.join(examples)}" if examples else ""
    return f"- {field.name} ({kind})" + (f": {asks}" if asks else "") + shown


def describe_type(field: Field) -> str:
    """Return "(number, in kg)", for a column that is written rather than searched for."""
    unit = f", in {field.unit}" if field.unit else ""
    options = f", one of: {', '.join(field.options)}" if field.options else ""
    return f"({field.type}{unit}{options})"


def row_block(subject: Subject, notes: Mapping[str, str] = {}) -> str:
    """Return the row and people's notes on its cells. The name is always kept, because it identifies the row."""
    cells = {subject.column or "Name": subject.name, **subject.context} if subject.name else dict(subject.context)
    lines = [f"{name}: {shorten_text(value, TEXT_LIMITS.row_cell)}" for name, value in cells.items() if value]
    row = mark_block("TEXT 0", "\n".join(lines) or "(the document itself)")
    said = "\n".join(f"Note on {name}: {note}" for name, note in notes.items())
    return f"{row}\n{mark_question(said)}" if said else row


# ── pages and quotes ─────────────────────────────────────────────────────────────────────────────────────────────────


def fit_sources(sources: Sequence[Retrieved], fields: Sequence[Field], room: int, name: str = "") -> list[str]:
    """Return each text. If not all fit, they are cut to the passages about the row of this name and the columns."""
    asked = " ".join(f"{field.name} {field.question} {field.description}" for field in fields)
    return fit_texts([source.text for source in sources], asked, room, name)


def source_heading(source: Retrieved) -> str:
    title = shorten_text(source.title, TEXT_LIMITS.source_title)
    where = title if is_document_id(source.origin) else f"{title} | {source.origin}"
    return f"{where} | search result" if source.kind == "snippet" else where


def page_blocks(pages: Sequence[Retrieved], about: str, room: int) -> str:
    """Return the numbered pages. If not all fit, they are cut to what they say `about` something."""
    texts = fit_texts([page.text for page in pages], about, room)
    return text_blocks((f"{page.origin} | {page.title}", text) for page, text in zip(pages, texts, strict=True))


def quote_lines(evidence: Sequence[Evidence]) -> str:
    """Return one line for each quote, after the title of its page."""
    return "\n".join(
        f"{shorten_text(each.title, TEXT_LIMITS.source_title) or 'no title'}: “{each.quote}”" for each in evidence
    )
