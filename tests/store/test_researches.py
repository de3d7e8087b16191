"""Deep research in the store: kept round by round, read back whole, gone with the documents it quotes."""

from __future__ import annotations

import pytest

from tablewright.domain.documents import Document
from tablewright.domain.model import Evidence
from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
    Gap,
    Memo,
    Note,
    Reference,
    Report,
    Research,
    ResearchTask,
    Round,
    SeenSource,
    Sentence,
    SourceNote,
)
from tablewright.errors import NotFound
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store

BRIEF = Brief(question="What are the uses of amber?", report_type="narrative")


def round_of(index: int, origin: str = "https://amber.example/", gap: str = "uses") -> Round:
    task = ResearchTask(id=f"r{index}_1", kind="discover", search_query="amber uses")
    evidence = Evidence(origin=origin, quote="Amber is used for beads.")
    note = Note(task=task, sources=(SeenSource(url="https://amber.example/", domain="amber.example"),))
    noted = SourceNote(number=index, statement="Amber is used for beads.", evidence=evidence, topic="uses")
    memo = Memo(
        query=BRIEF.question,
        report_type="narrative",
        round_index=index,
        tasks_completed=index,
        tasks_remaining=15 - index,
        gaps=(Gap(gap_type="missing_topic", description=gap),),
    )
    return Round(index=index, tasks=(task,), notes=(note,), memo=memo, source_notes=(noted,))


async def begun(store: Store) -> Research:
    return await store.researches.start(BRIEF, table_id="amber", max_tasks=15)


async def test_it_is_read_back_as_it_was_written(store: Store) -> None:
    research = await begun(store)
    await store.researches.keep_round(research.id, round_of(1))
    await store.researches.keep_round(research.id, round_of(2))
    report = Report(title="Amber", question=BRIEF.question, report_type="narrative")
    await store.researches.finish(research.id, "done", report)
    found = await store.researches.get(research.id)
    assert found.rounds == (round_of(1), round_of(2))
    assert (found.report, found.status, found.brief, found.table_id) == (report, "done", BRIEF, "amber")


async def test_a_round_that_is_done_again_replaces_itself(store: Store) -> None:
    research = await begun(store)
    await store.researches.keep_round(research.id, round_of(1, gap="first"))
    await store.researches.keep_round(research.id, round_of(1, gap="second"))
    found = await store.researches.get(research.id)
    assert [each.memo.gaps[0].description for each in found.rounds] == ["second"]


async def test_follow_ups_are_kept_in_order(store: Store) -> None:
    research = await begun(store)
    for question in ("how old?", "how much?"):
        sentence = Sentence(text="Very.", citations=(1,))
        reference = Reference(number=1, url="https://amber.example/", quotes=("very",))
        await store.researches.add_answer(
            research.id, AnsweredFollowUp(question=question, sentences=(sentence,), references=(reference,))
        )
    found = await store.researches.get(research.id)
    assert [each.question for each in found.answered] == ["how old?", "how much?"]


async def test_all_are_listed_the_newest_first_without_their_rounds(store: Store) -> None:
    first, second = await begun(store), await begun(store)
    await store.researches.keep_round(first.id, round_of(1))
    listed = await store.researches.all()
    assert [each.id for each in listed] == [second.id, first.id]
    assert all(each.rounds == () for each in listed)


async def test_what_does_not_exist_is_said(store: Store) -> None:
    with pytest.raises(NotFound, match="no research 'nowhere'"):
        await store.researches.get("nowhere")
    with pytest.raises(NotFound):
        await store.researches.keep_round("nowhere", round_of(1))
    with pytest.raises(NotFound):
        await store.researches.remove("nowhere")


async def test_removed_it_is_gone(store: Store) -> None:
    research = await begun(store)
    await store.researches.keep_round(research.id, round_of(1))
    await store.researches.remove(research.id)
    with pytest.raises(NotFound):
        await store.researches.get(research.id)


async def test_it_goes_with_a_document_that_it_quotes(store: Store) -> None:
    read = IngestedDocument(document=Document(id="doc_amber", name="amber.txt", path="/amber.txt"), text="Amber.")
    await store.documents.add(read)
    quoting, other = await begun(store), await begun(store)
    await store.researches.keep_round(quoting.id, round_of(1, origin="doc_amber"))
    await store.researches.keep_round(other.id, round_of(1))
    await store.documents.remove(["doc_amber"])
    with pytest.raises(NotFound):
        await store.researches.get(quoting.id)
    assert (await store.researches.get(other.id)).rounds
