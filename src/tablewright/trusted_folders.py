"""Folders whose `tablewright.toml` may say where data is kept while the user's keys come from outside them.

A home or a database that came with a folder brings runs, saved settings and documents that its author prepared. With
the user's keys, they would be gone on with, at the user's expense. So the user confirms each such folder once: in the
setting `trusted_folders`, or at the terminal, which is remembered beside the user's own settings.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tablewright.errors import BadSetting, UntrustedFolder
from tablewright.secrets import masked

REMEMBERED = "trusted_folders.json"


def check_folder(file: Path, places: Mapping[str, str], keys: Sequence[str], trusted: str, configuration: Path) -> None:
    """Raise UntrustedFolder unless the user has confirmed that this folder says where data is kept. `configuration` is
    the folder with the user's own settings."""
    folder = file.absolute().parent.resolve()
    written = [Path(each.strip()).expanduser() for each in trusted.split(os.pathsep)]
    named = [each.resolve() for each in written if each.is_absolute()]  # "." would be whichever folder one is in
    remembered = read_trusted(configuration).get(str(folder))
    if folder in named or remembered == fingerprint(places):
        return
    said = " and ".join(f"{name} to {masked(value)}" for name, value in places.items())
    given = ", ".join(keys)
    raise UntrustedFolder(
        f"{file} in {folder} sets {said}: the data there would be used with keys from outside this folder ({given}). "
        "Interrupted runs and saved settings in it would use them.",
        kept="Nothing was opened and nothing was sent.",
        advice=f"If you trust this folder, set TABLEWRIGHT_TRUSTED_FOLDERS to {folder} in the environment, or run a "
        "command in it at a terminal and say yes; else set TABLEWRIGHT_HOME to a home of your own.",
        folder=folder,
        remember=configuration / REMEMBERED,
        places=dict(places),
    )


def trust_folder(refused: UntrustedFolder) -> None:
    """Remember that the user has confirmed the folder, for the places that its file names now."""
    known = read_trusted(refused.remember.parent) | {str(refused.folder): fingerprint(refused.places)}
    beside = refused.remember.with_name(f".{REMEMBERED}.{os.getpid()}")
    try:
        refused.remember.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(known, indent=2), encoding="utf-8")
        beside.replace(refused.remember)
    except OSError as error:
        raise BadSetting(
            f"{refused.remember} cannot be written: {error}.",
            advice=f"Set TABLEWRIGHT_TRUSTED_FOLDERS to {refused.folder} in the environment instead.",
        ) from None


def read_trusted(configuration: Path) -> dict[str, str]:
    """Return what was confirmed by folder; nothing if the file cannot be read, so that it is asked again."""
    try:
        known = json.loads((configuration / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in known.items()} if isinstance(known, dict) else {}


def fingerprint(places: Mapping[str, str]) -> str:
    """Return a hash of the places: another one is asked about again, and a password in one is not kept."""
    return hashlib.sha256(json.dumps(sorted(places.items())).encode()).hexdigest()
