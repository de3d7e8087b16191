from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from tablewright.documents.search import CorpusSearch, fuse_rankings
from tablewright.documents.segment import split_into_segments
from tablewright.documents.summarise import summarise_segments
from tablewright.domain.documents import Category, Document
from tablewright.extraction.layout.draft import Parsed
from tablewright.llm.embedder import WordLlamaEmbedder
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store

PAGES = {
    "kettle": ("short", "The kettle boils a litre of water in three minutes. Descale the kettle with vinegar."),
    "car": ("long", "The automobile needs new tyres every five years. Check the pressure of the wheels."),
    "boat": ("long", "The sails of the boat are made of canvas. The hull is painted each spring."),
    "oven": ("short", "The oven heats to 250 degrees. Clean the oven door with a damp cloth."),
}


@pytest.fixture
async def search(store: Store) -> AsyncIterator[CorpusSearch]:
    embedder = WordLlamaEmbedder()
    read = []
    for name, (category, text) in PAGES.items():
        head = f"Guide to the {name}\f"
        read.append(await read_document(embedder, name, category, head + text, (0, len(head))))  # type: ignore[arg-type]
    await store.documents.add_many(read)
    yield CorpusSearch(store.documents, embedder)
    await embedder.close()


async def read_document(
    embedder: WordLlamaEmbedder, name: str, category: Category, text: str, page_starts: tuple[int, ...]
) -> IngestedDocument:
    parsed = Parsed(text=text, media="pdf", title=name, page_starts=page_starts)
    segments = split_into_segments(parsed)
    summaries = summarise_segments(parsed, segments)
    vectors = {
        "segment": await embedder.embed([segment.text for segment in segments]),
        "summary": await embedder.embed([summary.text for summary in summaries]),
    }
    return IngestedDocument(
        document=Document(
            id=name, path=f"/{name}.pdf", name=f"{name}.pdf", categories=(category,), page_starts=page_starts
        ),
        text=text,
        segments=segments,
        summaries=summaries,
        vectors={"segment": vectors["segment"].astype(np.float16), "summary": vectors["summary"].astype(np.float16)},
        embedder=embedder.name,
    )


async def test_words_find_the_passage_with_its_page_and_place(search: CorpusSearch, store: Store) -> None:
    found = await search.search_text("descaling a kettle", 5)
    best = found.hits[0]
    assert (best.document.name, best.page) == ("kettle.pdf", 2)
    assert (await store.documents.retrieved("kettle")).text[best.start : best.end] == best.text
    assert "Descale" in best.text
    assert found.completeness == "exact"


async def test_a_search_that_was_cut_off_says_so(search: CorpusSearch) -> None:
    found = await search.search_text("guide", 2)
    assert len(found.hits) == 2
    assert found.completeness == "incomplete"
    assert found.reason


async def test_meaning_finds_what_is_said_in_other_words(search: CorpusSearch) -> None:
    assert (await search.search_text("ship, sea", 5)).hits == ()
    found = await search.search_vector("ship on the sea", 1)
    assert [hit.document.id for hit in found.hits] == ["boat"]
    assert found.completeness == "approximate"


async def test_summaries_are_searched_and_say_which_part_they_are_of(search: CorpusSearch) -> None:
    found = await search.search_vector("vehicle tires and wheels", 1, scope="summary")
    (hit,) = found.hits
    assert hit.document.id == "car"
    assert (hit.start, hit.page) == (0, 1)
    assert hit.end > 60


async def test_a_hybrid_search_has_both_what_shares_words_and_what_shares_meaning(search: CorpusSearch) -> None:
    found = await search.hybrid("cloth for the sea", 3)
    names = [hit.document.id for hit in found.hits]
    assert "oven" in names, "the word"
    assert "boat" in names, "the meaning"
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


async def test_a_search_keeps_to_the_documents_and_categories_asked_for(search: CorpusSearch) -> None:
    only = await search.hybrid("guide to the kettle", 10, documents=["oven", "car"])
    assert {hit.document.id for hit in only.hits} == {"oven", "car"}
    long = await search.hybrid("guide to the kettle", 10, categories=["long"])
    assert {hit.document.id for hit in long.hits} == {"boat", "car"}
    assert (await search.hybrid("kettle", 10, documents=[])).hits == ()


async def test_a_removed_document_is_not_found_any_more(search: CorpusSearch, store: Store) -> None:
    assert (await search.hybrid("kettle", 1)).hits[0].document.id == "kettle"
    await store.documents.remove(["kettle"])
    assert "kettle" not in {hit.document.id for hit in (await search.hybrid("kettle", 10)).hits}


async def test_an_empty_corpus_or_question_finds_nothing_and_breaks_nothing(store: Store, search: CorpusSearch) -> None:
    assert (await search.search_text("", 5)).hits == ()
    await store.documents.remove(list(PAGES))
    assert (await search.hybrid("kettle", 5)).hits == ()
    assert (await search.search_vector("kettle", 5, scope="summary")).hits == ()


def test_the_first_of_both_arms_is_first_of_all() -> None:
    ranked = fuse_rankings([(1, 10.0), (2, 9.0), (3, 1.0)], [(2, 0.8), (1, 0.7), (4, 0.1)])
    assert [id for id, _ in ranked] == [1, 2, 3, 4]
    assert fuse_rankings([], [(4, 0.5)]) == [(4, pytest.approx(0.3))]
