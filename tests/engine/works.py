"""Thirty invented firms: a table of them, a web with a page for each, and a model that reads the year off a prompt."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import Any

from tablewright.settings import Settings

from ..models.endpoint import Asked, Endpoint, Reply, answer
from ..pages import Page

FOUNDED = "Founded:number=What year was {Company} founded?"
FIRST, LAST = ("Bar", "Cor", "Dal", "Fen", "Gil", "Hol"), ("dane", "mont", "vix", "ster", "lune")
YEARS = {f"{first}{last} Works": 1950 + number for number, (first, last) in enumerate(product(FIRST, LAST))}
TABLE = "Company\n" + "".join(f"{name}\n" for name in YEARS)
READ, WRITTEN = 300, 60
A_CALL = (READ * 0.15 + WRITTEN * 0.60) / 1_000_000
"""What gpt-4o-mini takes for it, in dollars."""


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


def reads_the_year(asked: Asked) -> Reply:
    """As an agent with tools, as the planner of searches, or as who reads the pages of one row or of several."""
    said = "\n".join(str(message["content"]) for message in asked.body["messages"])
    form = asked.body["response_format"]["json_schema"]["schema"]
    rows = [stated(name) for name in re.findall(r"^Row: (\w+ Works)", said, re.MULTILINE)]
    properties = form.get("properties", {})
    if "patterns" in properties:
        return answer({"patterns": ["%entity founded"]}, read=READ, written=WRITTEN)
    if "numbers" in properties:
        return answer({"numbers": [1]}, read=READ, written=WRITTEN)
    if "row 1" in properties:
        together = {f"row {number}": {"Founded": row} for number, row in enumerate(rows, start=1)}
        return answer(together, read=READ, written=WRITTEN)
    if "Founded" in properties:
        return answer({"Founded": rows[0]}, read=READ, written=WRITTEN)
    return answer({"name": "answer", "arguments": rows[0]}, read=READ, written=WRITTEN)


def stated(name: str) -> dict[str, Any]:
    return {"value": str(YEARS[name]), "quote": f"was founded in {YEARS[name]}"}
