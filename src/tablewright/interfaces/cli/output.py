"""Print for people (Rich tables, notes, progress bars) or for programs (one JSON document); ask people."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from rich.cells import cell_len
from rich.console import Console, OverflowMethod
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Grid
from rich.text import Text

from tablewright.domain.model import Cell, Field, Row, Step, Table
from tablewright.domain.text import (
    cell_text,
    escape_unsafe_characters,
    hint_text,
    replace_unsafe_characters,
    to_json_document,
)
from tablewright.errors import Cancelled, TablewrightError
from tablewright.interfaces.interrupting import restore_interrupt
from tablewright.interfaces.wording import format_dollars

if TYPE_CHECKING:
    from tablewright.domain.run import Progress as News
    from tablewright.interfaces.library.progress import News as Counted

# Characters of a column's border and padding.
FRAME_CHARACTERS = 3
# Characters of a column's text: the least if other columns need room too, and the most.
MIN_COLUMN_CHARACTERS, MAX_COLUMN_CHARACTERS = 11, 40
# Colours of a terminal, readable on dark and on light ground.
STYLES = {"high": "green", "medium": "yellow", "low": "dark_orange", "none": "dim"}


@cache
def stdout() -> Console:
    return Console()


@cache
def stderr() -> Console:
    return Console(stderr=True)


def harmless_text(text: str, limit: int = 200) -> Text:
    """Return foreign text without control characters, cut to the limit."""
    # One less, so that the mark of the cut fits into the limit.
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return Text(replace_unsafe_characters(cut))


def link_text(text: str, address: str) -> Text:
    shown = harmless_text(text)
    if address and address.isprintable() and " " not in address:
        shown.stylize(f"link {address}")
    return shown


def asked_for_json() -> bool:
    """Return True for --json, from the arguments: an error may come before any option is read."""
    return "--json" in sys.argv[1:] or asked_for_lines()


def asked_for_lines() -> bool:
    return "--json=lines" in sys.argv[1:]


def print_json(result: Any) -> None:
    sys.stdout.write(json_text(result, indent=None if asked_for_lines() else 2) + "\n")


def json_text(result: Any, indent: int | None = None) -> str:
    return escape_unsafe_characters(json.dumps(to_json_document(result), ensure_ascii=False, indent=indent))


async def stream_json(result: Any) -> None:
    """Print a JSON document like `print_json`. Lists that are asynchronous iterators, also inside others, are written
    entry by entry as they come, so that a table is never in memory as a whole. Bytes are JSON already. With
    --json=lines each entry is a line of its own, and the document without these lists is the last line."""
    if asked_for_lines():
        print_json(await print_entries(result))
        return
    await write_json(result, "\n")
    sys.stdout.write("\n")


async def print_entries(value: Any) -> Any:
    """Print each entry of the asynchronous iterators on a line, and return the value without them."""
    if isinstance(value, list):
        return [await print_entries(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    kept = {}
    for name, entry in value.items():
        if isinstance(entry, AsyncIterator):
            async for each in entry:
                sys.stdout.write(escape_unsafe_characters(each.decode()) + "\n")
        else:
            kept[name] = await print_entries(entry)
    return kept


async def write_json(value: Any, line: str) -> None:
    """Write a value that begins after the line break and indentation `line`."""
    write, inner = sys.stdout.write, f"{line}  "
    if isinstance(value, bytes):
        text = msgspec.json.format(value, indent=2).replace(b"\n", line.encode()).decode()
        # JSON escapes all of ASCII that is unsafe but DEL; searching for the rest takes longer than all of this.
        write(text if text.isascii() and "\x7f" not in text else escape_unsafe_characters(text))
    elif isinstance(value, Mapping | AsyncIterator | list | tuple) and value:
        opening, closing = "{}" if isinstance(value, Mapping) else "[]"
        write(opening)
        separator = ""
        async for key, entry in iterate_entries(value):
            write(f"{separator}{inner}{key}")
            await write_json(entry, inner)
            separator = ","
        write(f"{line if separator else ''}{closing}")
    else:
        write(json_text(value, indent=2).replace("\n", line))


async def iterate_entries(
    value: Mapping[str, Any] | AsyncIterator[Any] | Sequence[Any],
) -> AsyncIterator[tuple[str, Any]]:
    """Yield the entries of an object with their keys as JSON, or those of a list."""
    if isinstance(value, AsyncIterator):
        async for entry in value:
            yield "", entry
    else:
        pairs = value.items() if isinstance(value, Mapping) else (("", entry) for entry in value)
        for name, entry in pairs:
            yield f"{json_text(name)}: " if isinstance(value, Mapping) else "", entry


def show_error(error: TablewrightError) -> None:
    """Print an error: as JSON if --json was given, else as sentences."""
    if asked_for_json():
        name = type(error).__name__
        print_json({"error": {"type": name, "message": error.what, "kept": error.kept, "advice": error.advice}})
    else:
        print_error(error)


def print_error(error: TablewrightError) -> None:
    console = stderr()
    start = Text("") if isinstance(error, Cancelled) else Text("Error: ", style="bold red")
    print_sentences(console, start + harmless_text(error.what, 2_000))
    for line in (error.kept, error.advice):
        if line:
            print_sentences(console, harmless_text(line, 2_000))


def print_warnings(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print_sentences(stderr(), Text("Note: ", style="yellow") + harmless_text(sentence, 500))


def print_note(text: str) -> None:
    print_sentences(stderr(), harmless_text(text, 2_000))


def print_prose(text: str, limit: int, *, indent: int = 0, style: str = "") -> None:
    print_sentences(stdout(), harmless_text(text, limit), indent=indent, style=style)


def print_sentences(console: Console, content: Text, *, indent: int = 0, style: str = "") -> None:
    """Print sentences: wrapped at words in a terminal, elsewhere each on one line, so that a search finds it."""
    if console.is_terminal:
        console.print(Padding.indent(content, indent), style=style, highlight=False)
    else:
        console.print(Text(" " * indent) + content, style=style, highlight=False, soft_wrap=True)


def build_grid(
    title: str, columns: Sequence[str], lines: Iterable[Iterable[str | Text]], *, widths: Sequence[int] = ()
) -> Grid:
    """Return a grid. Long texts wrap, except names in the first column, which people type; with `widths` each entry
    stays on one line, and its texts are cut to fit."""
    table = Grid(title=harmless_text(title, 500), title_justify="left", header_style="bold", title_style="bold")
    shown = [[harmless_text(item) if isinstance(item, str) else item for item in line] for line in lines]
    longest = max((cell_len(line[0].plain) for line in shown), default=0)
    for place, column in enumerate(columns):
        overflow: OverflowMethod = "ellipsis" if widths else "fold"
        width = widths[place] if widths else None
        is_name = place == 0 and longest <= MAX_COLUMN_CHARACTERS
        table.add_column(harmless_text(column), overflow=overflow, no_wrap=bool(widths) or is_name, max_width=width)
    for line in shown:
        table.add_row(*line)
    return table


def print_grid_or_records(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a grid, or if a grid would have to break words to fit, each row as its name and a line of its values."""
    console, lines = stdout(), [list(row) for row in rows]
    grid = build_grid("", columns, lines)
    if console.measure(grid, options=console.options.update(width=10_000)).minimum <= console.width:
        console.print(grid)
        return
    for name, *values in lines:
        console.print(harmless_text(name), style="bold", highlight=False)
        known = [f"{column}: {value}" for column, value in zip(columns[1:], values, strict=True) if value]
        console.print(Padding.indent(harmless_text("; ".join(known), 4_000), 3), highlight=False)


def print_json_or_lines(
    as_json: bool, whole: Any, empty: str, columns: Sequence[str], lines: Iterable[Sequence[str | Text]]
) -> None:
    """Print a list as one JSON document, or as a grid with a line for each entry, or `empty` if there are none."""
    if as_json:
        print_json(whole)
    else:
        print_lines(empty, columns, lines)


def print_lines(empty: str, columns: Sequence[str], lines: Iterable[Sequence[str | Text]]) -> None:
    """Print a grid with a line for each entry, or `empty` if there are none."""
    if shown := list(lines):
        stdout().print(build_grid("", columns, shown))
    else:
        print_note(empty)


def print_json_or_note(as_json: bool, whole: Any, sentence: str) -> None:
    if as_json:
        print_json(whole)
    else:
        print_note(sentence)


def print_rows(
    title: str, table: Table, rows: Sequence[Row], *, cost: bool = False, first: Collection[str] = ()
) -> None:
    """Print as many columns as fit the terminal: the names of the rows, then the columns in `first`, then other filled
    columns. With `cost`, each cell that a run has worked on shows its cost."""

    def order(field: Field) -> tuple[bool, bool, bool]:
        return field.name != table.key_field, field.name not in first, not field.is_asked

    numbers = max(len(str(row.id)) for row in rows) if rows else 1
    wanted = {field.name: column_width(field, rows, cost=cost) for field in sorted(table.shown_fields, key=order)}
    widths = fit_column_widths(wanted, stdout().width - numbers - FRAME_CHARACTERS - 1)
    visible = [field for field in table.shown_fields if field.name in widths]
    lines: list[list[str | Text]] = [
        [str(row.id), *(format_cell(row.cell(field.name), cost=cost) for field in visible)] for row in rows
    ]
    cut = [numbers, *(widths[field.name] for field in visible)]
    stdout().print(build_grid(title, ["#", *(column_heading(field) for field in visible)], lines, widths=cut))
    if hidden := [field.name for field in table.shown_fields if field.name not in widths]:
        print_note(f"The terminal is too narrow for: {', '.join(hidden)}.")


def fit_column_widths(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Return the columns that fit next to each other, with their widths. All get narrow before one is left out; the
    rest of the room goes to the first, which is always shown, and to those that need least to be whole."""
    widths: dict[str, int] = {}
    for name, width in wanted.items():
        narrow = min(width, MIN_COLUMN_CHARACTERS)
        if not widths or narrow + FRAME_CHARACTERS <= room:
            widths[name] = narrow
            room -= narrow + FRAME_CHARACTERS
    # The columns that lack least come first, so that as many as possible are whole.
    names = list(widths)
    for name in (*names[:1], *sorted(names[1:], key=lambda each: wanted[each] - widths[each])):
        more = max(0, min(wanted[name] - widths[name], room))
        widths[name] += more
        room -= more
    return widths


def column_width(field: Field, rows: Sequence[Row], *, cost: bool = False) -> int:
    """Return the width a column needs, limited so that a long text does not push out the others."""
    longest = max((cell_len(format_cell(row.cell(field.name), cost=cost).plain) for row in rows), default=0)
    return min(max(longest, cell_len(column_heading(field))), MAX_COLUMN_CHARACTERS)


def column_heading(field: Field) -> str:
    return f"{field.name} ({field.unit})" if field.unit else field.name


def format_cell(cell: Cell, *, cost: bool = False) -> Text:
    """Return a cell for a grid: coloured by its confidence, or the reason why it is empty; with `cost`, its cost."""
    if cost and cell.run_id:
        return Text.assemble((f"{format_dollars(cell.cost)} ", "dim"), format_cell(cell))
    if cell.status == "FAILED":
        hint, reason = hint_text(cell), (cell.reason or "failed").replace("_", " ")
        text = harmless_text(f"— {f'perhaps {hint}' if hint else reason}", 80)
        text.stylize("dim")
    else:
        # A line of a usual terminal; `show` prints the whole value.
        text = harmless_text(cell_text(cell), 80)
    if cell.status == "FLAGGED":
        text.append(" ⚑", style="red")
    elif not cell.is_given and cell.status == "ENRICHED":
        text.stylize(STYLES[cell.confidence_label])
    if cell.basis == "judged":
        text.append(" (judged)", style="dim")
    if cell.stale:
        text.append(" ~", style="magenta")
    return text


def format_local_time(at: str) -> str:
    """Return a logged time in the reader's time zone."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def has_terminal() -> bool:
    """Return True if a person can be asked."""
    return sys.stdin.isatty() and stderr().is_terminal


def ask_yes_or_no(question: str) -> bool:
    """Return True only if a person at a terminal answers yes."""
    if not has_terminal():
        return False
    with restore_interrupt():
        stderr().print(harmless_text(question + " [y/N] ", 500), end="", highlight=False, soft_wrap=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def ask_letter(question: str, letters: str) -> str:
    """Return the letter that is typed; the first one without a terminal or for any other input."""
    if not has_terminal():
        return letters[0]
    with restore_interrupt():
        stderr().print(harmless_text(question + " ", 500), end="", highlight=False, soft_wrap=True)
        said = sys.stdin.readline().strip().lower()[:1]
    return said if said and said in letters else letters[0]


def ask_text(question: str) -> str:
    """Return the line that a person at a terminal types; "" without one."""
    if not has_terminal():
        return ""
    with restore_interrupt():
        stderr().print(harmless_text(question + " ", 500), end="", highlight=False, soft_wrap=True)
        return sys.stdin.readline().strip()


async def read_typed_lines() -> AsyncIterator[str]:
    """Yield lines that a person types, until an empty one or a word such as "exit"."""
    while True:
        try:
            said = (await asyncio.to_thread(input, "> ")).strip()
        except EOFError:
            return
        if not said or said.casefold() in ("exit", "quit", "bye", ":q"):
            return
        yield said


def describe_stage(news: News) -> str:
    """Return the text of the bar for an event of a run."""
    # Other stages take too short to be read.
    shown_stages = {"searching": "Searching for", "fetching": "Reading about", "computing": "Computing"}
    if news.stage not in shown_stages or not news.label:
        return "Filling"
    return f"{shown_stages[news.stage]} {harmless_text(news.label, 40)}"


class HowFar(ProgressColumn):
    """Show how many are done and the time left; without a total, the time elapsed."""

    def __init__(self) -> None:
        super().__init__()
        self._done, self._left, self._elapsed = MofNCompleteColumn(), TimeRemainingColumn(), TimeElapsedColumn()

    def render(self, task: Task) -> Text:
        if task.total is None:
            return self._elapsed.render(task)
        return Text(" ").join((self._done.render(task), self._left.render(task)))


class Bar(Progress):
    """The progress of one piece of work, on stderr, and only when a person is watching."""

    def __init__(self, what: str, total: int | None = None) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            HowFar(),
            console=stderr(),
            transient=True,
            # A bar would garble logs, and programs that ask for JSON do not watch.
            disable=not stderr().is_terminal or asked_for_json(),
        )
        self._task = self.add_task(what, total=total)

    def count(self, done: int, total: int | None = None, what: str | None = None) -> None:
        """Show how many are done; a total or a description that is not given stays."""
        self.update(self._task, completed=done, total=total or None, description=what)

    def follow(self, news: Counted) -> None:
        self.count(news.done, news.total)

    def follow_fill(self, news: News) -> None:
        self.count(news.done, news.total, describe_stage(news))

    def tell(self, step: Step) -> None:
        self.reset(self._task, description=harmless_text(step.detail, 60).plain)
        self.tasks[0].total = None  # `reset` takes None for "as before"
