"""Thirty invented firms: a table of them, a web with a page for each, and a model that reads the year off a prompt."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

from tablewright.settings import Settings
from tests.answering import Answering, Cells, offered, said, sent
from tests.llm.endpoint import Asked, Endpoint, Reply, answer
from tests.pages import Page

FOUNDED = "Founded:number=What year was {Company} founded?"
FIRST, LAST = ("Bar", "Cor", "Dal", "Fen", "Gil", "Hol"), ("dane", "mont", "vix", "ster", "lune")
YEARS = {f"{first}{last} Works": 1950 + number for number, (first, last) in enumerate(product(FIRST, LAST))}
TABLE = "Company\n" + "".join(f"{name}\n" for name in YEARS)
READ, WRITTEN = 300, 60
# What gpt-4o-mini takes for it, in dollars.
A_CALL = (READ * 0.15 + WRITTEN * 0.60) / 1_000_000


def pages() -> dict[str, Page]:
    return {
        f"/{name.split()[0].lower()}": Page(
            title=name, body=f"<p>{name} makes pumps and valves. {name} was founded in {year} by two engineers.</p>"
        )
        for name, year in YEARS.items()
    }


def path_of(name: str) -> str:
    return f"/{name.split()[0].lower()}"


def thinking(settings: Settings, endpoint: Endpoint, **values: str) -> Settings:
    endpoint.otherwise = reads_the_year
    given = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k", "attempts": "1"}
    return replace(settings, **(given | values))


def year_of(text: str) -> Cells:
    """The year of the row that the text asks about."""
    name = re.search(r"^Company: (\w+ Works)", text, re.MULTILINE)
    assert name, text
    return {"Founded": [said(str(YEARS[name[1]]), f"was founded in {YEARS[name[1]]}")]}


def reads_the_year(asked: Asked) -> Reply:
    """With tools, as the planner of searches, or as who reads the pages of one row or of several."""
    first = ["%entity founded", "%entity history", "%entity profile"]
    patterns = ["%entity origins"] if "RETRY" in sent(asked) else first
    deciding = Answering(year_of, patterns=patterns, numbers=[1])
    if offered(asked):
        arguments = {"answers": year_of(sent(asked))["Founded"], "same_row": "same", "reason": "its own page"}
        return answer({"name": "answer", "arguments": arguments}, read=READ, written=WRITTEN)
    return answer(deciding.reply(asked), read=READ, written=WRITTEN)
