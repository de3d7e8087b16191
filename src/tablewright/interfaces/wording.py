"""Reword advice for the interface that shows it, and format amounts.

Advice is written for the command line, with commands in backticks. Other interfaces name their own equivalent, and drop
a sentence that has none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from tablewright.domain.run import Usage

# The equivalent of a command, or of an option, in the REST API.
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
# Programmers have the commands, too, so only options are reworded.
LIBRARY = {
    "--budget": "`budget=`",
    "--field": "`fields`",
    "--key-field": "`key_field=`",
    "--model": "`model=`",
    "--search": "`search=`",
    "--strategy": "`strategy=`",
}
# Options of commands that make no sense outside the command line as they are.
# Other words with two hyphens belong to other programs and stay.
OPTIONS = frozenset({*(name for name in REST if name.startswith("--")), "--force", "--model"})

# Advice is reworded sentence by sentence: one that has no counterpart in an interface is left out.
_SENTENCE = re.compile(r"(?<=[.;?]) +")
_COMMAND = re.compile(r"`tablewright ([^`]*)`")
_INSTALL = re.compile(r"`pip install [^`]*`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def reword_advice(wording: Mapping[str, str], advice: str) -> str:
    sentences = [said for part in _SENTENCE.split(advice) if (said := reword_sentence(wording, part))]
    text = " ".join(sentences)
    return f"{text[:-1]}." if text.endswith(";") else text


def options_as_arguments(advice: str) -> str:
    """Return advice for the library, with options as the arguments of a verb."""
    return _OPTION.sub(lambda found: LIBRARY.get(found[0], found[0]), advice)


def reword_sentence(wording: Mapping[str, str], sentence: str) -> str:
    """Return the sentence in the words of an interface, or "" if it has none."""
    if _INSTALL.search(sentence):
        return "The administrator of the server can install it."
    found = _COMMAND.search(sentence)
    if found is not None:
        name = next((known for known in wording if found[1].startswith(known)), None)
        return "" if name is None else sentence.replace(found[0], wording[name])
    options = {option for option in _OPTION.findall(sentence) if option in OPTIONS}
    if not options <= wording.keys():
        return ""
    for option in options:
        sentence = sentence.replace(option, wording[option])
    return sentence


# ── amounts ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Counts, money and time, the same in a terminal and on a page.


def format_tokens(usage: Usage) -> str:
    """Return the tokens of all calls of a run; "" if no model was asked."""
    if not usage.input_tokens:
        return ""
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out"


def format_dollars(amount: float) -> str:
    """Return dollars with cents; less than ten cents get two significant digits, at least four decimals."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def format_cost(cost_usd: float | None) -> str:
    return "price not known" if cost_usd is None else format_dollars(cost_usd)


def format_duration(seconds: float) -> str:
    """Return a duration in the most readable unit: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
