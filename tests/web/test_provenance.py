"""What may leave for the public web after something private was read: by where each word, each address comes from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.store.store import Store
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.web.source import Query
from tablewright.web.web import Web, open_web
from tests.pages import Page, SmallWeb, small_web

ABOUT = "Acme Turbines builds 3 MW rotors in Port Merrin. Its 12 depots are in 48 towns. 東京に本社があります。"


@pytest.fixture
def provenance() -> Provenance:
    """Of a row, with a public page, after a document was read."""
    made = Provenance("When was {Company} founded?", "Acme Turbines")
    made.note_page(Retrieved(origin="https://acme.example/", title="About", text=ABOUT))
    made.note_private()
    return made


@pytest.mark.parametrize(
    "query",
    [
        "Acme Turbines",
        "when was Acme Turbines founded",
        "Acme Turbines founding",
        '"Acme Turbine" rotor building',
        "Acme Port Merrin depots",
        "Acme 3 MW",
        "東京に本社",
        f"Acme Turbines {date.today().year}",
    ],
)
def test_words_of_the_question_the_key_and_public_pages_may_leave(provenance: Provenance, query: str) -> None:
    assert provenance.find_private_words(query) == ()


@pytest.mark.parametrize(
    ("query", "private"),
    [
        ("Acme Turbines Quietwater", ["Quietwater"]),
        ("Acme retawteiuQ", ["retawteiuQ"]),  # written backwards
        ("Acme 51756965747761746572", ["51756965747761746572"]),  # as hexadecimal numbers
        ("Acme quiet-water", ["quiet-water"]),
        ("Acme 48 12 3", ["48", "12", "3"]),  # spelled with figures that the page has, in another order
        ("Acme\u200bTurbines Port", ["Acme\u200bTurbines"]),  # with what cannot be seen between the letters
        ("Acme 🐟🌊", ["🐟🌊"]),
        ("大阪 Acme", ["大阪"]),
    ],
)
def test_no_other_words_leave_however_they_are_written(provenance: Provenance, query: str, private: list[str]) -> None:
    assert list(provenance.find_private_words(query)) == private


def test_before_anything_private_is_read_every_query_is_free() -> None:
    made = Provenance("When was {Company} founded?", "Acme Turbines")
    assert made.find_private_words("Quietwater merger news") == ()
    made.allow_planned(["Acme annual report"])
    made.note_private()
    made.allow_planned(["Acme Quietwater"])
    assert made.find_private_words("Acme annual report") == ()
    assert made.find_private_words("Acme Quietwater") == ("Quietwater",)


def test_a_model_that_is_shown_the_row_does_not_search_for_its_other_cells() -> None:
    made = Provenance("Acme Turbines", telling_cells=["Project Quietwater"])
    assert made.find_private_words("Acme Quietwater") == ()
    made.note_row_shown()
    assert made.find_private_words("Acme annual report") == (), "nothing but these cells is withheld"
    assert made.find_private_words("Acme Quietwater") == ("Quietwater",)
    made = Provenance("Acme Turbines", has_private_cells=True)
    made.note_row_shown()
    assert made.find_private_words("Acme annual report") == ("annual", "report")


def test_a_row_may_tell_what_its_run_may_and_has_read_what_its_run_has() -> None:
    with track_provenance(Provenance("wind mills of the coast", addresses=["https://mills.example/list"])) as run:
        row = Provenance("Old Kate")
        assert row.knows_address("https://mills.example/list#top")
        run.note_private()
        assert row.find_private_words("Old Kate wind mill coast") == ()
        assert row.find_private_words("Old Kate Quietwater") == ("Quietwater",)


@pytest.fixture
async def site() -> AsyncIterator[SmallWeb]:
    pages = {
        "/acme": Page("Acme", "<p>Acme Turbines. <a href='/more?part=2'>More about Acme</a></p>"),
        "/more": Page("More", "<p>More about Acme Turbines.</p>"),
        "/old": Page("Acme, once", "", status=302, headers={"Location": "/moved?session=71"}),
        "/moved": Page("Moved", "<p>Acme Turbines has moved here.</p>"),
    }
    async with small_web(pages) as running:
        yield running


@pytest.fixture
async def web(site: SmallWeb, store: Store, tmp_path: Path) -> AsyncIterator[Web]:
    async with open_web(site.settings(tmp_path), store) as opened:
        yield opened


async def test_a_query_with_private_words_is_not_sent_and_says_why(web: Web, site: SmallWeb) -> None:
    with track_provenance(Provenance("Acme Turbines")) as provenance:
        assert (await web.search(Query(text="Acme"))).refused == ""
        provenance.note_private()
        refused = await web.search(Query(text="Acme Quietwater"))
        assert (refused.hits, refused.queries) == ((), ())
        assert "Not among them: Quietwater." in refused.refused
        assert (await web.search(Query(text="more about Acme"))).hits, "words of a public result"
        assert (await web.search(Query(text="Acme", site="quietwater.example"))).refused
    assert site.queries == ["Acme", "more about Acme"]


async def test_only_addresses_that_something_public_gave_are_opened(web: Web, site: SmallWeb) -> None:
    with track_provenance(Provenance("Acme Turbines", addresses=[site.url("/old")])):
        made_up = await web.open(site.url("/acme?q=Quietwater"))
        assert isinstance(made_up, Refusal)
        assert made_up.reason == "forbidden"
        assert isinstance(await web.open_again(site.url("/more?part=Quietwater")), Refusal)
        await web.search(Query(text="Acme"))
        assert isinstance(await web.open(site.url("/acme#history")), Retrieved), "a search result"
        assert isinstance(await web.open(site.url("/more?part=2")), Retrieved), (
            "a link of a page, as it is written there"
        )
        assert isinstance(await web.open(site.url("/more?part=Quietwater")), Refusal)
        moved = await web.open(site.url("/old"))
        assert isinstance(moved, Retrieved), "a site's own redirect"
        assert isinstance(await web.open(moved.origin), Retrieved)
    assert site.requests["/more"] == 1
    assert site.requests["/acme"] == 1
