"""Which files assistants may have read: those in the folders that the owner named, and no others.

An assistant can be talked into things by what it reads. So nothing is open unless the owner said so, and neither `..`
nor a link leads out of what is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tablewright.errors import BadSetting, Forbidden, NotFound


class Folders:
    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folder.expanduser().resolve() for folder in folders)
        for folder in self._folders:
            if not folder.is_dir():
                raise BadSetting(f"There is no folder {folder}.", advice="--files names folders that exist.")

    def find(self, path: str) -> Path:
        """A file or folder; what is not absolute is looked for in each folder."""
        if not self._folders:
            raise Forbidden(
                "This server may not read files.",
                advice="Its owner can allow a folder: tablewright mcp --files FOLDER. A table may come as CSV text.",
            )
        inside = [found for folder in self._folders if (found := (folder / path).resolve()).is_relative_to(folder)]
        if not inside:
            names = ", ".join(map(str, self._folders))
            raise Forbidden(f"{path} is in none of the folders that may be read.", advice=f"These are: {names}.")
        for found in inside:
            if found.exists():
                self._refuse_ways_out(found)
                return found
        raise NotFound(f"There is no {path}.")

    def _refuse_ways_out(self, folder: Path) -> None:
        """A link to somewhere else would be read like a file of the folder."""
        for place, _, names in os.walk(folder):
            for name in names:
                file = Path(place) / name
                if file.is_symlink() and not any(file.resolve().is_relative_to(allowed) for allowed in self._folders):
                    raise Forbidden(f"{file} is a link that leads out of the folders that may be read.")
