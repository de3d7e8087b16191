"""The folder for everything that is kept."""

from __future__ import annotations

import os
from pathlib import Path

from tablewright.errors import StoreError


def make_home(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            advice="Set TABLEWRIGHT_HOME to a folder that you can write to.",
        ) from None
    if not os.access(folder, os.W_OK):
        raise StoreError(f"The folder {folder} is read-only.", advice="Set TABLEWRIGHT_HOME to another folder.")
