"""The form every search provider has, and how one is found by the setting `search`.

Built-ins, other packages and plugin files enter by the same door, the group `tablewright.search`: a class that is made
as `cls(argument, api_key, client)`, or a function of the words. In "searxng:http://localhost:8888" the entry is
`searxng`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import httpx2

from tablewright.errors import BadSetting, SearchError
from tablewright.plugins import Plugin, is_plain_function, names, plugins, suggestion
from tablewright.sources.source import Hit, Query

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
        if inspect.iscoroutinefunction(self._function):
            return list(await self._function(query.text))
        found: Any = await asyncio.to_thread(self._function, query.text)
        return list(await found if inspect.isawaitable(found) else found)


def as_provider(given: SearchProvider | SearchFunction) -> SearchProvider:
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
    made: SearchProvider = added(argument.strip(), api_key.strip(), client)
    return made


def _load(entry: Plugin) -> Any:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise BadSetting(
            f"The search provider {entry.name!r} cannot be loaded: {error}.",
            advice="Install what it needs, or set TABLEWRIGHT_SEARCH to another provider.",
        ) from error
