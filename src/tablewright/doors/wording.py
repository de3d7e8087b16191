"""Advice in the words of the door that gives it. It is written for the command line, whose commands stand in backticks:
other doors name their own way to the same, and leave out a sentence for which they have none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from tablewright.domain.run import Usage

REST = {
    "docs add": "POST /documents",
    "docs list": "GET /documents",
    "doctor": "GET /doctor",
    "enrich": "POST /tables/{table}/runs",
    "models list": "GET /models",
    "proposals list": "GET /proposals",
    "proposals show": "GET /proposals/{proposal_id}",
    "research --list": "GET /research",
    "runs list": "GET /runs",
    "runs resume": "POST /runs/{run_id}/resume",
    "shortlist --list": "GET /shortlists",
    "tables history": "GET /tables/{table}/history",
    "tables list": "GET /tables",
    "--budget": "`budget`",
    "--encoding": "`encoding`",
    "--field": "`fields`",
    "--key-field": "`key_field`",
    "--no-header": "`header=false`",
    "--sheet": "`sheet`",
    "--strategy": "`strategy`",
}
"""What the API has for a command, or for an option of one."""
MCP = {
    "docs add": "add_documents",
    "docs list": "list_all(documents)",
    "enrich": "enrich",
    "proposals list": "list_all(proposals)",
    "proposals show": "show_table with its proposal_id",
    "runs list": "list_all(runs)",
    "runs resume": "control_run(resume)",
    "tables list": "list_all(tables)",
    "--field": "`columns`",
    "--key-field": "`key_field`",
    "--strategy": "`strategy`",
}
LIBRARY = {
    "--budget": "`budget=`",
    "--field": "`fields`",
    "--key-field": "`key_field=`",
    "--model": "`model=`",
    "--search": "`search=`",
    "--strategy": "`strategy=`",
}
"""Whoever programs has the commands, too."""
OPTIONS = frozenset({*(name for name in REST if name.startswith("--")), "--force", "--model"})
"""Those of commands that others than the command line cannot say as they stand."""

_SENTENCE = re.compile(r"(?<=[.;?]) +")
_COMMAND = re.compile(r"`tablewright ([^`]*)`")
_INSTALL = re.compile(r"`pip install [^`]*`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def in_words_of(door: Mapping[str, str], advice: str) -> str:
    sentences = [said for part in _SENTENCE.split(advice) if (said := reworded(door, part))]
    text = " ".join(sentences)
    return f"{text[:-1]}." if text.endswith(";") else text


def as_arguments(advice: str) -> str:
    """For the library: options as the arguments of a verb."""
    return _OPTION.sub(lambda found: LIBRARY.get(found[0], found[0]), advice)


def reworded(door: Mapping[str, str], sentence: str) -> str:
    """Empty where the door has no words for it."""
    if _INSTALL.search(sentence):
        return "Whoever runs the server can install it."
    found = _COMMAND.search(sentence)
    if found is not None:
        name = next((known for known in door if found[1].startswith(known)), None)
        return "" if name is None else sentence.replace(found[0], door[name])
    options = {option for option in _OPTION.findall(sentence) if option in OPTIONS}
    if not options <= door.keys():
        return ""
    for option in options:
        sentence = sentence.replace(option, door[option])
    return sentence


# ── amounts ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Counts, money and time in words, the same in a terminal and on a page.


PRICE_UNKNOWN = "price not known"


def tokens(usage: Usage) -> str:
    """Return the tokens of all calls of a run; "" if no model was asked."""
    if not usage.input_tokens:
        return ""
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"


def dollars(amount: float) -> str:
    """In cents; what is less than ten of them with the first two digits that matter, at least four."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def cost_text(cost_usd: float | None) -> str:
    return PRICE_UNKNOWN if cost_usd is None else dollars(cost_usd)


def duration(seconds: float) -> str:
    """In the unit that says it best: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
