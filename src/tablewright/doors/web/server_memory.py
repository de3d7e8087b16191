"""What a server remembers for whoever opens a page again. It is not in the database, and gone with the server."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from tablewright.doors.server.context import Visit

T = TypeVar("T")


class ServerMemory(Generic[T]):
    """One of each key, the `most` that were asked for last; what is asked for the first time is made."""

    def __init__(self, make: Callable[[], T], *, most: int) -> None:
        self._make = make
        self._most = most
        self._of_servers: WeakKeyDictionary[Any, OrderedDict[Hashable, T]] = WeakKeyDictionary()

    def of(self, seen: Visit, key: Hashable) -> T:
        known = self._of_servers.setdefault(seen.server, OrderedDict())
        return self.put(seen, key, known[key] if key in known else self._make())

    def put(self, seen: Visit, key: Hashable, thing: T) -> T:
        known = self._of_servers.setdefault(seen.server, OrderedDict())
        known[key] = thing
        known.move_to_end(key)
        while len(known) > self._most:
            known.popitem(last=False)
        return thing
