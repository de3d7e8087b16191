"""Plain questions: those that name the thing they ask about, and are as good as a column of its row."""

from __future__ import annotations

import re

from tablewright.decisions.brief.phrases import names_in
from tablewright.decisions.hops.asking import telling
from tablewright.table.model import Field

MOST_NAMES, MOST_ASKED = 2, 2
"""Names and telling words beside them of a question that describes nothing."""


def plainly_about(question: str) -> list[str]:
    """The names of a question that asks something of a thing it names, and describes nothing: "Who leads Acme?"."""
    names = [name for name in names_in(question) if not name.isdigit()]
    rest = question
    for name in names:
        rest = rest.replace(name, " ")
    is_plain = len(names) <= MOST_NAMES and len(telling(rest)) <= MOST_ASKED and not re.search(r"\d", rest)
    return names if is_plain else []


def column_for(question: str, name: str) -> Field:
    """The column that a table would have for the question: "founded", "founded by", "CEO of". What is asked of the
    thing stays the question, so that when, who and how many say which kind of answer is wanted."""
    rest = " ".join(question.rstrip("?! ").replace(name, " ").split())
    done_by = _DONE_BY.match(rest)
    column = f"{done_by[1]} by" if done_by else _ASKING.sub("", rest)
    return Field(name=column, question=question.replace(name, "{name}"))


_DONE_BY = re.compile(r"who\s+(\w+ed)\b", re.IGNORECASE)
_ASKING = re.compile(r"^(?:who|what|which|when|where)\s+(?:is|are|was|were|did|does|do)\s+(?:the\s+)?", re.IGNORECASE)
