"""The form every search provider has, and how one is found by the setting `search`.

Built-ins, other packages and plugin files enter by the same door, the group `tablewright.search`: a class that is made
as `cls(argument, api_key, client)`, or a function of the words. In "searxng:http://localhost:8888" the entry is
`searxng`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import httpx2

from tablewright.errors import BadSetting, SearchError, TablewrightError
from tablewright.keys import KEYLESS, OWN_ADDRESSES, Key, address_in, as_key
from tablewright.plugins import Plugin, is_plain_function, names, plugins, suggestion
from tablewright.sources.source import Hit, Query
from tablewright.threads import run_foreign

GROUP = "tablewright.search"

SearchFunction: TypeAlias = "Callable[[str], Iterable[Hit] | Awaitable[Iterable[Hit]]]"


@runtime_checkable
class SearchProvider(Protocol):
    name: str

    async def search(self, query: Query) -> Sequence[Hit]:
        """One request. Raises SearchError, which says whether trying again may help; nothing found is empty."""
        ...


class FunctionSearch:
    """A plain function as a provider: it takes the words, and returns hits; it may be `async`."""

    def __init__(self, function: SearchFunction) -> None:
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    async def search(self, query: Query) -> Sequence[Hit]:
        try:
            if inspect.iscoroutinefunction(self._function):
                found: Any = await self._function(query.text)
            else:
                found = await run_foreign(self._function, query.text)
                found = await found if inspect.isawaitable(found) else found
        except TablewrightError:
            raise
        except Exception as error:  # somebody else's code; whatever it raises, a search has failed
            raise SearchError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        hits = list(found or ())
        wrong = next((each for each in hits if not isinstance(each, Hit)), None)
        if wrong is not None:
            raise SearchError(f"{self.name} returned a {type(wrong).__name__} where a Hit is needed.")
        return hits


def as_provider(given: SearchProvider | SearchFunction) -> SearchProvider:
    if isinstance(given, type) or not isinstance(given, SearchProvider | Callable):
        raise BadSetting(
            f"{given!r} does not search.", advice="Give a name, an object of a SearchProvider, or a function."
        )
    return given if isinstance(given, SearchProvider) else FunctionSearch(given)


class NoSearch:
    """For those who only open pages: they need no provider, nor a key for one."""

    name = "none"

    async def search(self, query: Query) -> Sequence[Hit]:
        raise SearchError("Nothing is searched here.")


def find_provider(setting: str, *, api_key: str, client: httpx2.AsyncClient) -> SearchProvider:
    """Raises BadSetting where the name is unknown, or the key or the address is missing."""
    name, _, argument = setting.strip().partition(":")
    found = plugins(GROUP, name.strip().lower())
    if not found:
        raise BadSetting(
            f"There is no search provider {name!r}.",
            advice=suggestion(name, ["sample", *names(GROUP)]),
        )
    added = _load(found[0])
    if is_plain_function(added):
        return FunctionSearch(added)
    made: SearchProvider = added(argument.strip(), key_for(name.strip().lower(), setting, api_key), client)
    return made


def key_for(provider: str, setting: str, api_key: str) -> Key:
    """Return the key for a provider; a provider of another package is not handed one for another provider or
    address. Ours see to it where they send it."""
    if provider in KEYLESS:
        return Key()
    key = as_key(api_key, "search_api_key", {"search": setting})
    if provider not in OWN_ADDRESSES["search_api_key"]:
        key.check_provider(provider)
        if address := address_in("search_api_key", {"search": setting}):
            key.check(address)
    return key


def _load(entry: Plugin) -> Any:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise BadSetting(
            f"The search provider {entry.name!r} cannot be loaded: {error}.",
            advice="Install what it needs, or set TABLEWRIGHT_SEARCH to another provider.",
        ) from error
