"""What people see: Rich tables and progress bars for eyes, one JSON document for programs."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

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

from tablewright.domain.document import document
from tablewright.domain.model import Cell, Field, Row, Step, Table
from tablewright.domain.printable import escaped, printable
from tablewright.domain.text import cell_text
from tablewright.doors.interrupting import interruptible
from tablewright.doors.wording import cost_text as cost_text
from tablewright.doors.wording import dollars as dollars
from tablewright.doors.wording import duration as duration
from tablewright.doors.wording import tokens as tokens
from tablewright.errors import Cancelled, TablewrightError

if TYPE_CHECKING:
    from tablewright.domain.run import Progress as News
    from tablewright.doors.library.progress import News as Counted

FRAME = 3
"""Characters that a column takes beside its text."""
NARROW, WIDE = 11, 40
"""Characters of a column's text where others want room too, and at most."""
STYLES = {"high": "green", "medium": "yellow", "low": "dark_orange", "none": "dim"}


@cache
def stdout() -> Console:
    return Console()


@cache
def stderr() -> Console:
    return Console(stderr=True)


def plain(text: str, limit: int = 200) -> Text:
    """Somebody else's text, made harmless for a terminal."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return Text(printable(cut))


def linked(text: str, address: str) -> Text:
    shown = plain(text)
    if address and address.isprintable() and " " not in address:
        shown.stylize(f"link {address}")
    return shown


def print_json(result: Any) -> None:
    sys.stdout.write(json_text(result, indent=2) + "\n")


def json_text(result: Any, indent: int | None = None) -> str:
    return escaped(json.dumps(document(result), ensure_ascii=False, indent=indent))


def show_error(error: TablewrightError) -> None:
    """A program that asked for JSON gets the error as JSON too; people get sentences."""
    if "--json" in sys.argv[1:]:
        name = type(error).__name__
        print_json({"error": {"type": name, "message": error.what, "kept": error.kept, "advice": error.advice}})
    else:
        print_error(error)


def print_error(error: TablewrightError) -> None:
    console = stderr()
    start = Text("") if isinstance(error, Cancelled) else Text("Error: ", style="bold red")
    print_sentences(console, start + plain(error.what, 2_000))
    for line in (error.kept, error.advice):
        if line:
            print_sentences(console, plain(line, 2_000))


def warn(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print_sentences(stderr(), Text("Note: ", style="yellow") + plain(sentence, 500))


def say(text: str) -> None:
    print_sentences(stderr(), plain(text, 2_000))


def print_prose(text: str, limit: int, *, indent: int = 0, style: str = "") -> None:
    print_sentences(stdout(), plain(text, limit), indent=indent, style=style)


def print_sentences(console: Console, content: Text, *, indent: int = 0, style: str = "") -> None:
    """In a terminal their lines break between words; elsewhere each stays one line, so that it is found."""
    if console.is_terminal:
        console.print(Padding.indent(content, indent), style=style, highlight=False)
    else:
        console.print(Text(" " * indent) + content, style=style, highlight=False, soft_wrap=True)


def grid(
    title: str, columns: Sequence[str], lines: Iterable[Iterable[str | Text]], *, widths: Sequence[int] = ()
) -> Grid:
    """Long texts wrap, but for names in the first column, which people type; with `widths` each line of the grid stays
    one line, and its texts are cut to fit."""
    table = Grid(title=plain(title, 500), title_justify="left", header_style="bold", title_style="bold")
    shown = [[plain(item) if isinstance(item, str) else item for item in line] for line in lines]
    longest = max((cell_len(line[0].plain) for line in shown), default=0)
    for place, column in enumerate(columns):
        overflow: OverflowMethod = "ellipsis" if widths else "fold"
        width = widths[place] if widths else None
        is_name = place == 0 and longest <= WIDE
        table.add_column(plain(column), overflow=overflow, no_wrap=bool(widths) or is_name, max_width=width)
    for line in shown:
        table.add_row(*line)
    return table


def print_list(
    as_json: bool, whole: Any, empty: str, columns: Sequence[str], lines: Iterable[Sequence[str | Text]]
) -> None:
    """Print a list as one JSON document, or as a grid with a line for each; `empty` is said where there are none."""
    if as_json:
        print_json(whole)
    else:
        print_lines(empty, columns, lines)


def print_lines(empty: str, columns: Sequence[str], lines: Iterable[Sequence[str | Text]]) -> None:
    """Print a grid with a line for each entry of a list; `empty` is said where there are none."""
    if shown := list(lines):
        stdout().print(grid("", columns, shown))
    else:
        say(empty)


def print_result(as_json: bool, whole: Any, sentence: str) -> None:
    if as_json:
        print_json(whole)
    else:
        say(sentence)


def print_rows(
    title: str, table: Table, rows: Sequence[Row], *, cost: bool = False, first: Collection[str] = ()
) -> None:
    """As many columns as the terminal is wide: the names of the rows, then the columns in `first`, then others that
    were asked for. With `cost` each cell that a run has worked on says what it cost."""

    def order(field: Field) -> tuple[bool, bool, bool]:
        return field.name != table.key_field, field.name not in first, not field.is_asked

    numbers = max(len(str(row.id)) for row in rows) if rows else 1
    wanted = {field.name: natural_width(field, rows, cost=cost) for field in sorted(table.shown_fields, key=order)}
    widths = fitting(wanted, stdout().width - numbers - FRAME - 1)
    visible = [field for field in table.shown_fields if field.name in widths]
    lines: list[list[str | Text]] = [
        [str(row.id), *(shown(row.cell(field.name), cost=cost) for field in visible)] for row in rows
    ]
    cut = [numbers, *(widths[field.name] for field in visible)]
    stdout().print(grid(title, ["#", *(heading(field) for field in visible)], lines, widths=cut))
    if hidden := [field.name for field in table.shown_fields if field.name not in widths]:
        say(f"The terminal is too narrow for: {', '.join(hidden)}.")


def fitting(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """The columns that fit beside each other, and the width of each: all of them narrow before one is left out, then
    what is left goes to the first, which is always there, and to those that need least to be whole."""
    widths: dict[str, int] = {}
    for name, width in wanted.items():
        narrow = min(width, NARROW)
        if not widths or narrow + FRAME <= room:
            widths[name] = narrow
            room -= narrow + FRAME
    names = list(widths)
    for name in (*names[:1], *sorted(names[1:], key=lambda each: wanted[each] - widths[each])):
        more = max(0, min(wanted[name] - widths[name], room))
        widths[name] += more
        room -= more
    return widths


def natural_width(field: Field, rows: Sequence[Row], *, cost: bool = False) -> int:
    """What a column needs; a very long text does not push all others out."""
    longest = max((cell_len(shown(row.cell(field.name), cost=cost).plain) for row in rows), default=0)
    return min(max(longest, cell_len(heading(field))), WIDE)


def heading(field: Field) -> str:
    return f"{field.name} ({field.unit})" if field.unit else field.name


def shown(cell: Cell, *, cost: bool = False) -> Text:
    """A cell in a grid: coloured by how sure it is, or the reason why it is empty; with `cost`, what it cost."""
    if cost and cell.run_id:
        return Text.assemble((f"{dollars(cell.cost)} ", "dim"), shown(cell))
    if cell.status == "FAILED":
        text = Text(f"— {(cell.reason or 'failed').replace('_', ' ')}", style="dim")
    else:
        text = plain(cell_text(cell), 80)
    if cell.status == "FLAGGED":
        text.append(" ⚑", style="red")
    elif not cell.is_given and cell.status == "ENRICHED":
        text.stylize(STYLES[cell.confidence_label])
    if cell.basis == "judged":
        text.append(" (judged)", style="dim")
    if cell.stale:
        text.append(" ~", style="magenta")
    return text


def when(at: str) -> str:
    """A time of the log, in the reader's own zone."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def has_terminal() -> bool:
    """Return True if a person can be asked."""
    return sys.stdin.isatty() and stderr().is_terminal


def ask(question: str) -> bool:
    """No, unless a person at a terminal says yes."""
    if not has_terminal():
        return False
    with interruptible():
        stderr().print(plain(question + " [y/N] ", 500), end="", highlight=False, soft_wrap=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def ask_which(question: str, letters: str) -> str:
    """One of the letters; the first without a terminal, and for whatever else is typed."""
    if not has_terminal():
        return letters[0]
    with interruptible():
        stderr().print(plain(question + " ", 500), end="", highlight=False, soft_wrap=True)
        said = sys.stdin.readline().strip().lower()[:1]
    return said if said and said in letters else letters[0]


def ask_words(question: str) -> str:
    """What a person at a terminal types; "" without one."""
    if not has_terminal():
        return ""
    with interruptible():
        stderr().print(plain(question + " ", 500), end="", highlight=False, soft_wrap=True)
        return sys.stdin.readline().strip()


LEAVE = frozenset({"exit", "quit", "bye", ":q"})


async def typed_lines() -> AsyncIterator[str]:
    """What a person types, line by line, until an empty one or a word such as "exit"."""
    while True:
        try:
            said = (await asyncio.to_thread(input, "> ")).strip()
        except EOFError:
            return
        if not said or said.casefold() in LEAVE:
            return
        yield said


STAGES = {"searching": "Searching for", "fetching": "Reading about", "computing": "Computing"}


def doing(news: News) -> str:
    """What the bar says while a run goes on."""
    if news.stage not in STAGES or not news.label:
        return "Filling"
    return f"{STAGES[news.stage]} {plain(news.label, 40)}"


class HowFar(ProgressColumn):
    """How many are done and how long it will still take; where nobody knows how many there are, how long it took."""

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
            disable=not stderr().is_terminal or "--json" in sys.argv[1:],
        )
        self._task = self.add_task(what, total=total)

    def count(self, done: int, total: int | None = None, what: str | None = None) -> None:
        """Show how many are done; a total or a description that is not given stays."""
        self.update(self._task, completed=done, total=total or None, description=what)

    def follow(self, news: Counted) -> None:
        self.count(news.done, news.total)

    def follow_fill(self, news: News) -> None:
        self.count(news.done, news.total, doing(news))

    def tell(self, step: Step) -> None:
        self.reset(self._task, description=plain(step.detail, 60).plain)
        self.tasks[0].total = None  # `reset` takes None for "as before"
