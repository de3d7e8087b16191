"""Hide the paths of a server's disk: only at the machine are they shown, others see names of files."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.domain.access import INSTALLATION_OWNER, Person
from tablewright.errors import PACKAGE, NotFound
from tablewright.extras import pip_target
from tablewright.settings import Settings

if TYPE_CHECKING:
    from tablewright.services import Services


def make_path_hider(settings: Settings) -> Callable[[str], str]:
    """Return a function that cuts the folders off each path in a text that leads to files of this process."""
    folders = [settings.home_folder, Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), PACKAGE]
    if Path(pip_target()).is_absolute():
        folders.append(Path(pip_target()))
    roots = {str(each) for folder in folders for each in (folder.absolute(), folder.resolve())}
    # A shorter path, such as "/", is on every machine and no secret.
    longest_first = sorted((root for root in roots if len(root) >= 3), key=len, reverse=True)
    path = re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?:/[^\s\"'<>,;:()]*)?(?![\w-])")
    return lambda text: path.sub(lambda found: found[0].rstrip("/").rpartition("/")[2] or "…", text)


def path_hider_for(person: Person | None, settings: Settings) -> Callable[[str], str]:
    """Return the function for one person. The owner, at the machine or with its token, sees all."""
    return str if person is None or person.id == INSTALLATION_OWNER.id else make_path_hider(settings)


def display_path(services: Services, path: str) -> str:
    """Return the path of a file at the machine, and only its name through a server."""
    return path if services.person is None else Path(path).name


@contextmanager
def hide_existence(what: str) -> Iterator[None]:
    """Raise the same error for what belongs to others as for what does not exist."""
    try:
        yield
    except NotFound:
        raise NotFound(f"There is no {what}.") from None
