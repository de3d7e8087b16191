"""A part that fails disables only itself, and is named: the embedder, the vectors of documents, the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tablewright.health import check_health
from tablewright.services import Services
from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint, answer, refusal
from tests.operating import add_documents
from tests.workflows.asking import BLED, CAPTAIN_OF, plan, prompts, reader, who_the_captain_was
from tests.workflows.conftest import Library

AWAY = {"embedder": "openai:e5", "embedder_base_url": "http://127.0.0.1:9/v1", "embedder_api_key": "k"}


def without_embedder(library: Library) -> Library:
    return Library(Path(library.settings.home), library.folder, replace(library.settings, **AWAY))


async def test_without_the_embedder_documents_are_searched_by_words_and_the_reply_says_so(library: Library) -> None:
    reply = await without_embedder(library).ask(BLED)
    assert "upper valve" in reply.citations[0].quote
    (outage,) = reply.outages
    assert "openai:e5" in outage
    assert (await library.ask(BLED)).outages == ()


async def test_the_plan_is_told_that_only_words_are_searched(library: Library, endpoint: Endpoint) -> None:
    endpoint.otherwise = reader(
        {CAPTAIN_OF: plan(CAPTAIN_OF, queries=["captain of the Marigold"])}, who_the_captain_was
    )
    reply = await without_embedder(library).with_model(endpoint).ask(CAPTAIN_OF)
    assert "Ottoline Brask" in reply.answer
    assert any("Health: The search was by words alone" in prompt for prompt in prompts(endpoint))
    endpoint.asked.clear()
    await library.with_model(endpoint).ask(CAPTAIN_OF)
    assert not any("Health:" in prompt for prompt in prompts(endpoint))


async def test_documents_added_without_the_embedder_get_their_vectors_when_they_are_added_again(tmp_path: Path) -> None:
    paper = tmp_path / "gate.md"
    paper.write_text("# Notice\n\nThe gate of the harbour is closed on Sundays.\n")
    settings = Settings(home=str(tmp_path / "home"))
    async with Services.open(replace(settings, **AWAY)) as services:
        added = await add_documents(services, [paper])
        assert (added.added, added.unreadable) == (1, ())
        assert "openai:e5" in added.outage
    async with Services.open(settings) as services:
        library = Library(tmp_path / "home", tmp_path, settings)
        blind = await library.ask("When is the gate of the harbour closed?")
        assert "Sundays" in blind.citations[0].quote
        assert "no vectors" in blind.outages[0]
        checks = {each.name: each for each in await check_health(settings)}
        assert "by words alone: 1" in checks["Documents"].detail
        assert (checks["Documents"].ok, checks["Embedder"].ok) == (False, True)
        assert (await add_documents(services, [paper])).changed == 1
        assert (await add_documents(services, [paper])).unchanged == 1
        assert (await library.ask("When is the gate of the harbour closed?")).outages == ()
        assert all(each.ok for each in await check_health(settings) if each.name == "Documents")


async def test_a_model_that_fails_after_the_plan_leaves_the_passages(library: Library, endpoint: Endpoint) -> None:
    endpoint.replies = [answer(plan(BLED, queries=[BLED]))]
    endpoint.otherwise = refusal(401, "wrong key")
    reply = await library.with_model(endpoint).ask(BLED)
    assert "refused the key" in reply.degraded
    assert reply.route == "passages"
    assert "upper valve" in reply.citations[0].quote
