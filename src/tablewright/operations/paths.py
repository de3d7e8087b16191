"""Where things lie on the server's disk is for whoever sits at it: others are told names of files, not folders."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.domain.access import OWNER, Person
from tablewright.errors import PACKAGE, NotFound
from tablewright.extras import installed_from
from tablewright.settings import Settings

if TYPE_CHECKING:
    from tablewright.services import Services

SHORTEST = 3
"""Parts of an address that everybody has, such as "/", are no secret."""


def hider(settings: Settings) -> Callable[[str], str]:
    """Cuts the folders off each path in a text that leads to where this process keeps, or finds, its files."""
    folders = [settings.home_folder, Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), PACKAGE]
    if Path(installed_from()).is_absolute():
        folders.append(Path(installed_from()))
    roots = {str(each) for folder in folders for each in (folder.absolute(), folder.resolve())}
    longest_first = sorted((root for root in roots if len(root) >= SHORTEST), key=len, reverse=True)
    path = re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?:/[^\s\"'<>,;:()]*)?(?![\w-])")
    return lambda text: path.sub(lambda found: found[0].rstrip("/").rpartition("/")[2] or "…", text)


def hider_for(person: Person | None, settings: Settings) -> Callable[[str], str]:
    """The owner, who sits at the machine or has its token, sees all."""
    return str if person is None or person.id == OWNER.id else hider(settings)


def shown_path(services: Services, path: str) -> str:
    """Where a file lies, for who sits at the machine; its name for who comes through a server."""
    return path if services.person is None else Path(path).name


@contextmanager
def hidden_from_others(what: str) -> Iterator[None]:
    """Say the same of what is somebody else's as of what never was."""
    try:
        yield
    except NotFound:
        raise NotFound(f"There is no {what}.") from None
