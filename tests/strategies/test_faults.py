"""A web and a model that fail now and then: every row is there, every empty cell has its reason."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.answering import Answering, answers, call, offered, said, sent
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, refusal
from tests.pages import Page, small_web
from tests.strategies.running import fill
from tests.strategies.test_lookup import model, thinking

__all__ = ["model"]  # the fixture

ROWS = 25
NAMES = [f"{first} {second}" for first in ("Acme", "Borealis", "Cobalt", "Dunmore", "Elmfield") for second in (
    "Turbines", "Looms", "Kilns", "Mills", "Pumps", "Forges", "Tiles", "Boats"
)][:ROWS]  # fmt: skip


def page_of(place: int, name: str) -> Page:
    said = f"<p>{name} was founded in {1900 + place}.</p>"
    if place % 5 == 0:  # one page in five fails, each time in another way
        status, body = [(403, "no"), (429, "slow down"), (500, "oops"), (200, ""), (503, "later")][place // 5 % 5]
        return Page(title=name, body=body, status=status, snippet="About us.")
    return Page(title=name, body=said, snippet="About us.")


def years(text: str) -> dict[str, list[dict[str, Any]]]:
    row = re.search(r"^Company: (.+)$", text, re.MULTILINE)
    stated = re.search(rf"{row[1]} was founded in (\d{{4}})", text) if row else None
    return {"Founded": [said(stated[1], stated[0])] if stated else []}


reading = Answering(years, patterns=["%entity founded"])


@pytest.mark.parametrize(
    ("strategy", "params"),
    [("lookup", {}), ("research", {}), ("research", {"thoroughness": "comprehensive"}), ("pipeline", {})],
)
async def test_one_call_in_ten_and_one_page_in_five_fail(
    strategy: str, params: dict[str, str], model: Endpoint, tmp_path: Path
) -> None:
    number = count(1)
    failed: list[Asked] = []

    def falter(asked: Asked) -> Reply:
        if next(number) % 10 == 0:
            failed.append(asked)
            return [refusal(400, "bad day"), answer("mumble"), Reply(cut=True, body=b"{}")][next(number) % 3]
        if not offered(asked):
            return reading(asked)
        stated = years(sent(asked))["Founded"]
        if "fetch_page" in offered(asked) and not stated:
            turn = sum(message["role"] == "assistant" for message in asked.body["messages"])
            return call("fetch_page", number=turn + 1)
        return answers(*stated)

    model.otherwise = falter
    async with small_web({f"/{place}": page_of(place, name) for place, name in enumerate(NAMES)}) as web:
        table = "Company\n" + "\n".join(NAMES) + "\n"
        _, operations, usage = await fill(
            thinking(web.settings(tmp_path), model),
            tmp_path,
            table,
            "Founded:number=What year was {Company} founded?",
            strategy=strategy,
            **params,
        )
    assert len({operation.row_id for operation in operations}) >= ROWS - len(failed), "what nobody was asked stays open"
    for operation in operations:
        cell = operation.cell
        if cell.value is None:
            assert cell.status == "FAILED"
            assert cell.reason in ("not_found", "blocked", "error")
            assert cell.error
        else:
            assert cell.value == 1900 + operation.row_id - 1
            assert cell.evidence
    if strategy != "lookup":
        assert sum(operation.cell.value is not None for operation in operations) >= ROWS * 4 // 5 - len(failed)
    assert usage.llm_calls > 0
