"""Providers enter through entry points: ours as they are installed, others from a package folder on the path."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest

from tablewright.errors import BadSetting
from tablewright.web.search.provider import SearchProvider, find_search_provider
from tablewright.web.source import Hit, Query
from tests.web.search.loopback import Loopback

ENTRIES = f"""\
[tablewright.search]
library = {__name__}:Library
broken = tablewright.web.search.nowhere:Nothing
"""


class Library:
    name = "library"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient) -> None:
        self.made_with = (argument, api_key, client)

    async def search(self, query: Query) -> Sequence[Hit]:
        return [Hit(origin="https://library.example/", title=query.text)]


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some_providers-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: some-providers\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


@pytest.mark.parametrize("name", ["brave", "tavily", "serper", "exa", "ddgs"])
def test_a_provider_is_found_by_its_name(name: str, client: httpx2.AsyncClient) -> None:
    assert find_search_provider(name, api_key="key", client=client).name == name
    assert find_search_provider(f" {name.upper()} ", api_key=" key\n", client=client).name == name


def test_searxng_is_found_with_its_address(client: httpx2.AsyncClient) -> None:
    assert find_search_provider("searxng:http://localhost:8888/", api_key="", client=client).name == "searxng"


@pytest.mark.parametrize("name", ["brave", "tavily", "serper", "exa"])
def test_a_missing_key_says_what_to_set(name: str, client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=rf"{name} needs a key.*TABLEWRIGHT_SEARCH_API_KEY"):
        find_search_provider(name, api_key=" ", client=client)


@pytest.mark.parametrize("key", ["two words", "ключ", "a\nb"])
def test_a_key_that_no_header_can_hold_is_a_bad_setting(key: str, client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match="TABLEWRIGHT_SEARCH_API_KEY") as raised:
        find_search_provider("brave", api_key=key, client=client)
    assert key not in str(raised.value)


def test_a_missing_address_says_what_to_set(client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=r"needs the address.*TABLEWRIGHT_SEARCH to searxng:URL"):
        find_search_provider("searxng", api_key="", client=client)


@pytest.mark.parametrize(
    "address", ["localhost:8888", "ftp://x.example", "http://", "http://x:y", "http://x.example/?q="]
)
def test_a_wrong_address_says_what_to_set(address: str, client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=r"cannot be used.*TABLEWRIGHT_SEARCH"):
        find_search_provider(f"searxng:{address}", api_key="", client=client)


@pytest.mark.parametrize("setting", ["", "gogle", "gogle:http://x.example"])
def test_an_unknown_provider_says_which_there_are(setting: str, client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=r"no search provider.*sample.*brave.*ddgs.*exa"):
        find_search_provider(setting, api_key="", client=client)


async def test_a_provider_of_another_package_is_found_the_same_way(client: httpx2.AsyncClient) -> None:
    provider = find_search_provider("library:shelf:3", api_key="card", client=client)
    assert isinstance(provider, Library)
    assert provider.made_with == ("shelf:3", "card", client)
    assert [hit.title for hit in await provider.search(Query(text="acme"))] == ["acme"]


def test_a_provider_that_cannot_be_loaded_is_a_bad_setting(client: httpx2.AsyncClient) -> None:
    with pytest.raises(BadSetting, match=r"'broken' cannot be loaded.*TABLEWRIGHT_SEARCH"):
        find_search_provider("broken", api_key="", client=client)


async def test_the_provider_of_the_docs_works(server: Loopback, client: httpx2.AsyncClient) -> None:
    page = (Path(__file__).parents[3] / "docs" / "search.md").read_text(encoding="utf-8")
    names: dict[str, type[SearchProvider]] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)  # our own documentation
    server.answers({"pages": [{"link": "https://acme.example/", "title": "Acme", "summary": "Makes <b>traps</b>"}]})
    hits = await names["Intranet"](f"{server.url}/api", "key", client).search(Query(text="acme"))  # type: ignore[call-arg]
    assert hits == (Hit(origin="https://acme.example/", title="Acme", snippet="Makes traps"),)
    assert server.asked[0].params == {"text": "acme"}


async def test_an_address_in_the_setting_replaces_the_providers_own(
    server: Loopback, client: httpx2.AsyncClient
) -> None:
    server.answers({"organic": [{"link": "https://acme.example/"}]})
    provider = find_search_provider(f"serper:{server.url}/", api_key="key", client=client)
    assert await provider.search(Query(text="acme")) == (Hit(origin="https://acme.example/"),)
    assert server.asked[0].path == "/search"
