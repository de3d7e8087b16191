"""Different values for one cell: with a model it says whether they contradict each other, never their inequality."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tablewright.domain.model import Field, Finding, Money, Step
from tablewright.domain.retrieved import Retrieved, hash_content
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.investigation import RowInvestigation
from tests.answering import Answering
from tests.llm.endpoint import Endpoint, running_endpoint

PRICE = Field(name="Price", type="money")
NORTH = "The Heron kettle: €49 at North Store."
SOUTH = "Heron, the kettle. Our price at South Store is €54."


def page(site: str, text: str) -> Retrieved:
    return Retrieved(origin=f"http://{site}/", text=text, title="Heron", domain=site, content_hash=hash_content(text))


def read(place: int, source: Retrieved, value: str) -> Candidate:
    start = source.text.index(value)
    return Candidate(
        field="Price", value=value, source=place, start=start, end=start + 3, score=0.9, how="model", basis="stated"
    )


async def weighed(folder: Path, relation: str, readings: Sequence[int]) -> tuple[Finding, list[str], list[Step]]:
    """The price after pages were read in groups of these sizes; what the model was asked, and the trace."""
    pages = [page("north.example", NORTH), page("south.example", SOUTH)]
    steps: list[Step] = []
    async with running_endpoint() as endpoint:
        endpoint.otherwise = Answering(lambda _: {}, relation=relation)
        settings = Settings(
            home=str(folder), search="sample", model="openai:test", model_base_url=endpoint.url, model_api_key="k"
        )
        async with Services.open(settings) as services:
            tools = await services.open_tools(("web", "model"))
            assert tools.web is not None
            subject = Subject(name="Heron", column="Product")
            investigation = RowInvestigation(
                subject, (PRICE,), tools, tools.web, lambda step, *fields: steps.append(step)
            )
            values = {"north.example": "€49", "south.example": "€54"}
            for size in readings:
                group, pages = pages[:size], pages[size:]
                investigation.take(PRICE, [read(n, each, values[each.domain]) for n, each in enumerate(group)], group)
            await investigation.finding(PRICE)
            found = await investigation.finding(PRICE)
        return found, asked(endpoint), steps


def asked(endpoint: Endpoint) -> list[str]:
    return [str(each.body["messages"][-1]["content"]) for each in endpoint.asked]


async def test_offers_of_two_sellers_are_no_contradiction_where_the_model_says_so(tmp_path: Path) -> None:
    found, (prompt,), steps = await weighed(tmp_path, "differ", (1, 1))  # asked once, however often it is weighed
    assert (found.value, found.conflict, found.confidence) == ("€49", (), 0.9)
    assert "“€49”" in prompt
    assert "“€54”" in prompt
    assert any(step.detail.endswith("do not contradict each other: so") for step in steps)


@pytest.mark.parametrize("relation", ["contradict", "unclear"])
async def test_what_contradicts_or_may_do_so_stands_beside_the_value_and_makes_it_less_sure(
    relation: str, tmp_path: Path
) -> None:
    found, prompts, _ = await weighed(tmp_path, relation, (1, 1))
    assert len(prompts) == 1
    assert [rival.value for rival in found.conflict] == [Money(amount=54, currency="EUR")]
    assert found.confidence < 0.9


async def test_two_answers_from_texts_that_were_read_together_were_judged_by_their_reader(tmp_path: Path) -> None:
    found, prompts, _ = await weighed(tmp_path, "differ", (2,))
    assert prompts == []
    assert [rival.value for rival in found.conflict] == [Money(amount=54, currency="EUR")]
