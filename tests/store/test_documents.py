from __future__ import annotations

import random
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection, inspect, text

from tablewright.domain.documents import Annotation, Category, ComparableValue, Document, Property, Segment, Summary
from tablewright.domain.edits import SetCell
from tablewright.domain.model import Cell, Evidence, Field, Step, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.retrieved import Retrieved, hash_content
from tablewright.errors import NotFound
from tablewright.store.conversations import ResultRow, Turn
from tablewright.store.documents import IngestedDocument
from tablewright.store.search_index import (
    HalfMatrix,
    TextIndex,
    VectorBlock,
    VectorLimits,
    choose_likely_rows,
    prepare_vectors,
    widen_vectors,
)
from tablewright.store.store import Store
from tablewright.store.table_details import KindRow
from tablewright.text import porter_stem

EMBEDDER = "test:4"


def read(
    name: str,
    *segments: str,
    id: str = "",
    title: str = "",
    facts: tuple[Annotation, ...] = (),
    summary: str = "",
    vectors: HalfMatrix | None = None,
    categories: tuple[Category, ...] = (),
) -> IngestedDocument:
    parts, start = [], 0
    for number, each in enumerate(segments):
        parts.append(Segment(number=number, start=start, end=start + len(each), text=each, page=number + 1))
        start += len(each) + 1
    return IngestedDocument(
        document=Document(
            id=id or f"d-{name}",
            path=f"/docs/{name}",
            name=name,
            title=title,
            media="txt",
            kind="note",
            file_hash=f"hash of {name}",
            categories=categories,
            page_starts=tuple(part.start for part in parts),
        ),
        text="\n".join(segments),
        segments=tuple(parts),
        summaries=(Summary(number=0, first=0, last=len(parts) - 1, text=summary),) if summary else (),
        annotations=facts,
        vectors={} if vectors is None else {"segment": vectors},
        embedder=EMBEDDER,
    )


def fact(label: str, raw: str, *, context: str = "", number: float | None = None, base: str = "") -> Annotation:
    value = ComparableValue(raw=raw, number=number, si=number, base=base)
    stated = Property(label=label, value=value, start=0, end=len(raw), context=context)
    return Annotation(shape="fact", properties=(stated,), start=0, end=len(raw), page=1, by="pairs")


def unit(*numbers: float) -> HalfMatrix:
    vectors = np.array(numbers, dtype=np.float32).reshape(-1, 4)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


async def test_a_document_comes_back_as_it_was_read(store: Store) -> None:
    width = fact("Width", "951 mm", context="Mechanical data", number=0.951, base="m")
    row = Annotation(
        shape="row",
        properties=(
            Property(label="Item", value=ComparableValue(raw="Tyre"), start=3, end=7),
            Property(
                label="Paid",
                value=ComparableValue(raw="yes", truth=True, date="2024-05", currency="EUR"),
                start=8,
                end=11,
            ),
        ),
        start=3,
        end=11,
        by="table",
        table=2,
    )
    given = read("panel.txt", "Width: 951 mm", "Zoë \0 Tyre yes", title="Panel", facts=(width, row), summary="A panel.")
    await store.documents.add(given)
    document = await store.documents.get("panel.txt")
    assert document == await store.documents.get("/docs/panel.txt") == await store.documents.get("d-panel.txt")
    assert document.title == "Panel"
    assert await store.documents.annotations(document.id) == [width, row]
    segments = await store.documents.segments_of(document.id)
    assert [part.segment.text for part in segments] == ["Width: 951 mm", "Zoë \ufffd Tyre yes"]
    assert await store.documents.segments([segments[1].id, segments[0].id]) == [segments[1], segments[0]]
    assert [part.summary.text for part in await store.documents.summaries_of(document.id)] == ["A panel."]
    page = await store.documents.retrieved(document.id)
    assert (page.kind, page.origin, page.title) == ("document", document.id, "Panel")
    assert page.page_at(segments[1].segment.start) == 2
    assert await store.pages.text(page.content_hash) == page.text
    assert await store.documents.known() == {"/docs/panel.txt": ("d-panel.txt", "hash of panel.txt")}


async def test_a_file_that_is_read_again_takes_the_place_of_the_older_and_keeps_its_id(store: Store) -> None:
    await store.documents.add(read("a.txt", "old words", facts=(fact("Old", "1"),), vectors=unit(1, 0, 0, 0)))
    await store.documents.add_many([read("a.txt", "new words", id="other"), read("b.txt", "third words")])
    assert [document.id for document in await store.documents.all()] == ["d-a.txt", "d-b.txt"]
    assert await store.documents.with_words("old") == []
    assert [part.segment.text for part in await store.documents.with_words("new")] == ["new words"]
    assert await store.documents.properties() == []
    assert (await store.documents.retrieved("d-a.txt")).text == "new words"
    assert await store.pages.text(hash_content("old words")) == "old words", "cells may quote the older version"


async def test_one_that_cannot_be_read_is_kept_with_its_reason(store: Store) -> None:
    broken = Document(id="d-x", path="/docs/x.pdf", name="x.pdf", media="pdf", problem="It is encrypted.")
    await store.documents.add_many([IngestedDocument(document=broken), read("a.txt", "text")])
    assert [document.name for document in await store.documents.all(readable=False)] == ["x.pdf"]
    assert [document.name for document in await store.documents.all(readable=True)] == ["a.txt"]
    with pytest.raises(NotFound, match="encrypted"):
        await store.documents.retrieved("d-x")
    kept = await store.documents.all()
    assert [(each.name, each.kind, bool(each.problem)) for each in kept] == [
        ("a.txt", "note", False),
        ("x.pdf", "", True),
    ]
    assert len(await store.documents.segments_of("d-a.txt")) == 1


async def test_a_name_that_is_not_there_or_not_unique_is_refused_with_advice(store: Store) -> None:
    await store.documents.add_many([read("one/report.txt", "a"), read("two/report.txt", "b")])
    assert (await store.documents.get("two/report.txt")).path == "/docs/two/report.txt"
    with pytest.raises(NotFound) as missing:
        await store.documents.get("one/reprot.txt")
    assert "one/report.txt" in missing.value.advice
    assert [document.id for document in await store.documents.find(["d-two/report.txt", "gone"])] == [
        "d-two/report.txt"
    ]


async def test_properties_are_found_by_label_and_document(store: Store) -> None:
    facts = (fact("Width", "1 m", number=1.0, base="m"), fact("Width", "9", context="Box"), fact("Mass", "2 kg"))
    await store.documents.add_many([read("a.txt", "a", facts=facts), read("b.txt", "b", facts=facts[:1])])
    found = await store.documents.properties([("Width", "")])
    assert [(each.document_id, each.property.value.si) for each in found] == [("d-a.txt", 1.0), ("d-b.txt", 1.0)]
    only = await store.documents.properties(documents=["d-a.txt"])
    assert [each.property.value.raw for each in only] == ["1 m", "9", "2 kg"]
    assert (only[0].page, only[0].start, only[0].end, only[0].by) == (1, 0, 3, "pairs")
    assert await store.documents.properties(documents=[]) == []


async def test_facts_that_are_found_later_stand_behind_the_others(store: Store) -> None:
    first, second, third = fact("Width", "1 m"), fact("Mass", "2 kg"), fact("Colour", "blue")
    given = replace(read("a.txt", "a", facts=(first,)), vectors={"fact": unit(1, 0, 0, 0)})
    await store.documents.add_many([given, read("b.txt", "b", facts=(first,))])
    query = np.array([0, 1, 0, 0], dtype=np.float32)
    search = partial(store.documents.search_vector, query, 5, embedder=EMBEDDER, target="fact")
    assert (await search()).found == []
    await store.documents.add_annotations("d-a.txt", [second, third], unit(0, 1, 0, 0, 0, 0, 1, 0), EMBEDDER)
    await store.documents.add_annotations("d-b.txt", [second], unit(0, 1, 1, 0), EMBEDDER)
    assert await store.documents.annotations("d-a.txt") == [first, second, third]
    properties = {each.annotation_id: each for each in await store.documents.properties()}
    near = [properties[id] for id, _ in (await search()).found]
    assert [(each.document_id, each.property.label) for each in near] == [("d-a.txt", "Mass"), ("d-b.txt", "Mass")]
    assert sum((await store.documents.facts()).values()) == 5


async def test_every_segment_with_the_words_is_found_in_whatever_form(store: Store) -> None:
    many = [read(f"{number}.txt", f"receipt {number}: 2 TIRES, size 205/55 R16") for number in range(60)]
    await store.documents.add_many([*many, read("other.txt", "tiring work"), read("quoted.txt", "tire the receipt")])
    assert len(await store.documents.with_words("tire receipts")) == 61
    assert [part.document_id for part in await store.documents.with_words('"tire the"')] == ["d-quoted.txt"]
    assert len(await store.documents.with_words("205/55")) == 60
    assert await store.documents.with_words("55/205") == [], "a word with a sign in it is a phrase"
    one = await store.documents.with_words("tires", documents=["d-7.txt", "gone"])
    assert [part.document_id for part in one] == ["d-7.txt"]
    assert await store.documents.with_words("…") == []


async def test_accents_and_unspaced_scripts_are_found(store: Store) -> None:
    await store.documents.add_many([read("fr.txt", "Une CRÈME brûlée"), read("jp.txt", "東京都の天気")])
    assert [part.document_id for part in await store.documents.with_words("creme brulee")] == ["d-fr.txt"]
    assert [part.document_id for part in await store.documents.with_words("天気")] == ["d-jp.txt"]
    assert await store.documents.with_words("気天") == []


async def test_a_rare_word_weighs_more_than_a_common_one(store: Store) -> None:
    common = [read(f"{number}.txt", "the pump runs and the pump stops") for number in range(20)]
    await store.documents.add_many([*common, read("rare.txt", "a pump with a diaphragm inside")])
    ranked = await store.documents.search_text("pump diaphragm", 5)
    assert len(ranked) == 5
    best = await store.documents.segments([ranked[0][0]])
    assert best[0].document_id == "d-rare.txt"
    assert ranked[0][1] > ranked[1][1]
    assert await store.documents.search_text("nothing-like-it", 5) == []


async def test_the_words_that_segments_have_in_common_and_others_have_not_are_told(store: Store) -> None:
    others = [read(f"{number}.txt", f"the pump number {number}") for number in range(30)]
    await store.documents.add_many(
        [
            *others,
            read("a.txt", "the pump of the reactors is cooled, quickly"),
            read("b.txt", "a pump and two reactors are cooled, slowly"),
            read("c.txt", "a reactor"),
        ]
    )
    both = dict(await store.documents.search_text("cooled", 5))
    told = await store.documents.find_distinctive_words(both, 5)
    assert set(told) == {"cool", "reactor"}, "pump is everywhere, quickly in one only"
    assert max(told.values()) == 1
    assert await store.documents.find_distinctive_words({}, 5) == {}


async def test_a_search_keeps_to_the_documents_and_categories(store: Store) -> None:
    await store.documents.add_many(
        [
            read("a.txt", "pump", categories=("short",), vectors=unit(1, 0, 0, 0)),
            read("b.txt", "pump", categories=("long", "text-heavy"), vectors=unit(1, 1, 0, 0)),
        ]
    )
    ids = {document: no for no, document in await segment_documents(store)}
    assert [id for id, _ in await store.documents.search_text("pump", 5, categories=("long",))] == [ids["d-b.txt"]]
    assert [id for id, _ in await store.documents.search_text("pump", 5, documents=["d-a.txt"])] == [ids["d-a.txt"]]
    assert await store.documents.search_text("pump", 5, documents=[]) == []
    query = np.array([1, 0, 0, 0], dtype=np.float32)
    nearest = await store.documents.search_vector(query, 5, embedder=EMBEDDER, documents=["d-b.txt"])
    assert [id for id, _ in nearest.found] == [ids["d-b.txt"]]


async def segment_documents(store: Store) -> list[tuple[int, str]]:
    parts = [
        part for document in await store.documents.all() for part in await store.documents.segments_of(document.id)
    ]
    return [(part.id, part.document_id) for part in parts]


async def test_the_nearest_vectors_are_found_and_those_of_another_embedder_are_not(store: Store) -> None:
    await store.documents.add_many(
        [
            read("a.txt", "x", "y", vectors=unit(1, 0, 0, 0, 0, 1, 0, 0)),
            read("b.txt", "z", vectors=unit(0.9, 0.1, 0, 0)),
        ]
    )
    query = np.array([1, 0, 0, 0], dtype=np.float32)
    nearest = await store.documents.search_vector(query, 2, embedder=EMBEDDER)
    assert nearest.exact
    texts = [part.segment.text for part in await store.documents.segments([id for id, _ in nearest.found])]
    assert texts == ["x", "z"]
    assert nearest.found[0][1] == pytest.approx(1, abs=0.01)
    assert (await store.documents.search_vector(query, 2, embedder="test:other")).found == []


async def test_many_vectors_are_chosen_by_their_signs_and_it_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = VectorLimits(compared_exactly=50, min_candidates=40)
    monkeypatch.setattr("tablewright.store.search_index.VECTOR_LIMITS", limits)
    vectors = np.random.default_rng(1).normal(size=(200, 100)).astype(np.float16)
    await store.documents.add(read("a.txt", *map(str, range(150)), vectors=vectors[:150]))
    assert (await store.documents.search_vector(vectors[7].astype(np.float32), 1, embedder=EMBEDDER)).found
    await store.documents.add(read("b.txt", *map(str, range(150, 200)), vectors=vectors[150:]))
    for number in (77, 177):
        nearest = await store.documents.search_vector(vectors[number].astype(np.float32), 3, embedder=EMBEDDER)
        assert not nearest.exact
        assert (await store.documents.segments([nearest.found[0][0]]))[0].segment.text == str(number)
        expected = np.vecdot(vectors.astype(np.float32), vectors[number].astype(np.float32))[number]
        assert nearest.found[0][1] == pytest.approx(expected)
    query = vectors[177].astype(np.float32)
    only = await store.documents.search_vector(query, 3, embedder=EMBEDDER, documents=["d-a.txt"])
    assert len(only.found) == 3
    assert {part.document_id for part in await store.documents.segments([id for id, _ in only.found])} == {"d-a.txt"}


def test_the_signs_miss_hardly_any_of_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = VectorLimits(rows_per_candidate=50, sign_rows_per_batch=4_000)
    monkeypatch.setattr("tablewright.store.search_index.VECTOR_LIMITS", limits)
    chance = np.random.default_rng(2)
    topics = chance.normal(size=(50, 128))
    vectors = topics[chance.integers(0, 50, 20_000)] + chance.normal(size=(20_000, 128))
    block = prepare_vectors(VectorBlock(ids=np.arange(20_000), vectors=vectors.astype(np.float16)), compare_all=False)
    halves = [VectorBlock(ids=block.ids[part], vectors=block.vectors[part], signs=block.signs[part]) for part in PARTS]  # type: ignore[index]
    found = 0
    for topic in topics:
        query = (topic + chance.normal(size=128)).astype(np.float32)
        chosen = choose_likely_rows([(half, None) for half in halves], query, least=10)
        ids = [int(half.ids[row]) for half, rows in chosen if rows is not None for row in rows]
        assert len(ids) == 400
        found += len(set(ids) & set(np.argsort(-(vectors @ query))[:10].tolist()))
    assert found / 500 > 0.99


PARTS = (slice(0, 15_000), slice(15_000, 20_000))


def test_of_equal_vectors_no_more_are_compared_than_wanted() -> None:
    same = VectorBlock(ids=np.arange(9_000), vectors=np.ones((9_000, 8), dtype=np.float16))
    ((_, rows),) = choose_likely_rows(
        [(prepare_vectors(same, compare_all=False), None)], np.ones(8, dtype=np.float32), least=500
    )
    assert rows is not None
    assert len(rows) == 500


def test_halves_are_widened_to_the_same_numbers() -> None:
    every_finite = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    every_finite = every_finite[np.isfinite(every_finite)]
    assert np.array_equal(widen_vectors(every_finite), every_finite.astype(np.float32))


async def test_what_another_process_adds_or_removes_is_seen(database_url: str) -> None:
    async with await Store.open(database_url) as one, await Store.open(database_url) as other:
        await one.documents.add(read("a.txt", "pump", vectors=unit(1, 0, 0, 0)))
        query = np.array([1, 0, 0, 0], dtype=np.float32)
        assert len(await other.documents.with_words("pump")) == 1
        for number in range(5):
            await one.documents.add(read(f"{number}.txt", f"pump {number}", vectors=unit(1, number, 0, 0)))
            assert len(await other.documents.search_text("pump", 10)) == number + 2
        await one.documents.remove(["d-a.txt", "d-3.txt"])
        assert len(await other.documents.search_text("pump", 10)) == 4
        assert [part.segment.text for part in await other.documents.with_words("pump 4")] == ["pump 4"]
        assert len((await other.documents.search_vector(query, 10, embedder=EMBEDDER)).found) == 4


async def test_the_index_is_the_same_whether_documents_came_together_or_one_by_one(store: Store) -> None:
    chance = random.Random(1)
    for number in range(30):
        words = " ".join(chance.choices("pump valve seal motor shaft bearing".split(), k=20))
        await store.documents.add(read(f"{number}.txt", words, words[:30]))
        await store.documents.search_text("pump", 3)
    await store.documents.remove([f"d-{number}.txt" for number in range(0, 30, 4)])
    grown = await store.documents.search_text("pump shaft", 100)
    whole = await store.database.read(lambda connection: TextIndex().search(connection, {"pump": 1, "shaft": 1}, 100))
    assert [id for id, _ in grown] == [id for id, _ in whole]
    assert [score for _, score in grown] == pytest.approx([score for _, score in whole])


SECRET = "Quetzalcoatlus"


async def add_secret_and_traces(store: Store) -> str:
    """A document with the secret word in every part, and all that may repeat it. The id of its conversation."""
    filler = [
        read(f"{number}.txt", *(f"page {number} {part} " + "lorem " * 200 for part in range(5))) for number in range(30)
    ]
    await store.documents.add_many(filler[:15])
    versions = [f"{SECRET} once {number} " + "ipsum " * 300 for number in range(4)]
    for version in versions:
        facts = tuple(fact(f"{SECRET} label", f"{SECRET} value {number}") for number in range(40))
        secret = read("s.txt", version, f"{SECRET} two", title=SECRET, facts=facts, summary=f"On {SECRET}")
        await store.documents.add(secret)
    await store.documents.add_many(filler[15:])
    row = ResultRow(document_id="d-s.txt", values=(SECRET,))
    await store.results.keep("which?", ["name"], [row, ResultRow(document_id="d-1.txt", values=("kept",))])
    conversation = await store.conversations.start()
    await store.conversations.add_turn(conversation, Turn(question="what?", answer=SECRET, documents=("d-s.txt",)))
    turn = Turn(question="and?", answer="kept", documents=("d-1.txt",))
    await store.conversations.add_turn(conversation, turn, summary=f"About {SECRET}.")
    await store.cache.put("model", "about it", SECRET.encode(), about=["d-s.txt", "d-1.txt"])
    await store.cache.put("model", "other", b"kept", about=["d-1.txt"])
    await add_secret_row(store)
    return conversation


async def add_secret_row(store: Store) -> None:
    """Row 1 of a table of its kind, with a cell that was proposed, applied and typed over, and one that waits."""
    table = await store.tables.create("Leases", [Field(name="Tenant")], [[make_given_cell(str(no))] for no in range(2)])
    await store.kinds.keep_rows(table.id, {"d-s.txt": KindRow(row_id=1, text_hash="")})
    cell = Cell(value=SECRET, status="ENRICHED", evidence=(Evidence(origin="d-s.txt", quote=SECRET),), attempt=1)
    for applied in (True, False):
        proposal = await store.proposals.create(table.id, await store.runs.start(table.id, "enrich", {}), [])
        kept = Cell(value="kept", status="ENRICHED", attempt=1)
        steps = (Step(type="answer", detail=f"It says {SECRET}."), Step(type="compute", detail=SECRET))
        proposed = ProposedCell(row_id=1, field="Tenant", cell=cell, steps=steps)
        await store.proposals.add(proposal, [proposed, ProposedCell(row_id=2, field="Tenant", cell=kept)])
        await store.proposals.finish(proposal, "")
        if applied:
            await store.proposals.apply(proposal)
    typed = make_given_cell(f"{SECRET} & Co.")
    await store.log.commit(table.id, [SetCell(row_id=1, field="Tenant", cell=typed)])


async def test_a_removed_document_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    conversation = await add_secret_and_traces(store)
    await store.cache.settle()
    assert await where_it_stands(store, SECRET), "the test looks in the right places"
    assert await store.documents.remove(["d-s.txt", "gone"]) == 1
    assert await where_it_stands(store, SECRET) == []
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    assert [path.name for path in files if SECRET.encode() in path.read_bytes()] == []
    assert await store.documents.with_words(SECRET) == []
    assert await store.cache.get("model", "about it") is None
    assert await store.cache.get("model", "other") == b"kept"
    left = await store.conversations.get(conversation)
    assert [turn.answer for turn in left.turns] == ["kept"]
    assert left.summary == ""


async def where_it_stands(store: Store, word: str) -> list[str]:
    """The tables that hold a word, in a text, or in a text that is packed."""

    def plain(value: object) -> str:
        if isinstance(value, bytes):
            try:
                return zlib.decompress(value).decode()
            except (zlib.error, UnicodeDecodeError):
                return value.decode(errors="replace")
        return str(value)

    def work(connection: Connection) -> list[str]:
        return [
            name
            for name in inspect(connection).get_table_names()
            for record in connection.execute(text(f"SELECT * FROM {name}"))
            if any(word in plain(value) for value in record)
        ]

    return await store.database.read(work)


async def test_a_text_that_a_page_or_another_document_has_too_is_kept(store: Store) -> None:
    await store.documents.add_many([read("a.txt", "shared"), read("b.txt", "shared"), read("c.txt", "on a page")])
    await store.pages.keep("http://a.example/", Retrieved(origin="http://a.example/", text="on a page"))
    await store.documents.remove(["d-a.txt", "d-c.txt"])
    assert (await store.documents.retrieved("d-b.txt")).text == "shared"
    assert await store.pages.text(hash_content("on a page")) == "on a page"


async def test_a_result_set_is_read_page_by_page(store: Store) -> None:
    await store.documents.add_many([read("a.txt", "a"), read("b.txt", "b")])
    rows = [
        ResultRow(
            document_id="d-a.txt" if number % 2 else "d-b.txt", page=number, values=(str(number), "x"), end=number
        )
        for number in range(7)
    ]
    result = await store.results.keep("all of them", ["n", "x"], rows)
    page = await store.results.page(result, 5, 10)
    assert (page.question, page.columns, page.total) == ("all of them", ("n", "x"), 7)
    assert list(page.rows) == rows[5:]
    await store.documents.remove(["d-a.txt"])
    left = await store.results.page(result)
    assert list(left.rows) == rows[::2]
    assert left.total == 4
    with pytest.raises(NotFound):
        await store.results.page("gone")


async def test_a_conversation_keeps_its_turns_and_its_summary(store: Store) -> None:
    conversation = await store.conversations.start()
    first = Turn(question="how wide?", answer="951 mm", route="structured", attempts=("width",), at="now")
    assert await store.conversations.add_turn(conversation, first, summary="Widths.") == 1
    assert await store.conversations.add_turn(conversation, Turn(question="and?")) == 2
    found = await store.conversations.get(conversation)
    assert found.turns[0] == first
    assert found.turns[1].at
    assert found.summary == "Widths."
    await store.conversations.add_turn(conversation, Turn(question="new topic"), summary="New topic.")
    assert (await store.conversations.get(conversation)).summary == "New topic."
    with pytest.raises(NotFound):
        await store.conversations.add_turn("gone", first)


@pytest.mark.parametrize(
    ("words", "stemmed"),
    [
        ("caresses ponies ties caress cats tires tire", "caress poni ti caress cat tire tire"),
        ("agreed plastered motoring sing conflated", "agre plaster motor sing conflat"),
        ("hopping falling filing", "hop fall file"),
        ("relational vietnamization operator hopefulness formality", "relat vietnam oper hope formal"),
        ("triplicate electrical adjustment adoption controlling roll", "triplic electr adjust adopt control roll"),
        ("sky happy by 2024 r16 größe", "sky happi by 2024 r16 größe"),
    ],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(words: str, stemmed: str) -> None:
    assert " ".join(map(porter_stem, words.split())) == stemmed


async def test_summaries_are_replaced_with_their_vectors(store: Store) -> None:
    near, far = unit(1, 0, 0, 0), unit(0, 0, 0, 1)
    first = replace(read("one.txt", "An anchor holds the ship.", summary="Ships."), vectors={"summary": near})
    await store.documents.add(first)
    query = far[0].astype(np.float32)
    before = await store.documents.search_vector(query, 1, embedder=EMBEDDER, target="summary")
    assert all(nearness < 0.01 for _, nearness in before.found)
    await store.documents.set_summaries(
        "d-one.txt", [Summary(number=0, first=0, last=0, text="Anchors.")], far, EMBEDDER
    )
    assert [each.summary.text for each in await store.documents.summaries_of("d-one.txt")] == ["Anchors."]
    after = await store.documents.search_vector(query, 1, embedder=EMBEDDER, target="summary")
    assert after.found[0][1] == pytest.approx(1, abs=0.01)


async def test_only_what_was_read_from_a_changed_document_becomes_stale(store: Store) -> None:
    rows = {}
    for number, name in enumerate(("a.txt", "b.txt"), start=1):
        document = read(name, f"The tenant of {name} is Ann.")
        await store.documents.add(document)
        rows[document.document.id] = KindRow(row_id=number, text_hash=hash_content(document.text))
    table = await store.tables.create("Leases", [Field(name="Tenant")], [[make_given_cell(None)] for _ in rows])
    await store.kinds.keep_rows(table.id, rows)
    run_id = await store.runs.start(table.id, "enrich", {})
    proposal = await store.proposals.create(table.id, run_id, [])
    cell = Cell(value="Ann", status="ENRICHED", run_id=run_id, attempt=1)
    await store.proposals.add(proposal, [ProposedCell(row_id=number, field="Tenant", cell=cell) for number in (1, 2)])
    await store.proposals.finish(proposal, "")
    await store.proposals.apply(proposal)
    assert await store.kinds.mark_changed() == 0

    await store.documents.add(read("b.txt", "The tenant of b.txt is Bea."))
    assert await store.kinds.mark_changed() == 1
    assert [row.cell("Tenant").stale for row in (await store.tables.load(table.id)).rows] == [False, True]
