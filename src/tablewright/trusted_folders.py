"""Folders whose `tablewright.toml` may say where data is kept while the user's keys come from outside them.

A home or a database that came with a folder brings runs, saved settings and documents that its author prepared. With
the user's keys, they would continue at the user's expense. So the user confirms each such folder once: in the setting
`trusted_folders`, or at the terminal, which is remembered next to the user's own settings.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tablewright.errors import BadSetting, UntrustedFolder
from tablewright.secrets import mask_secrets

CONSENT_FILE = "trusted_folders.json"


def check_folder(file: Path, places: Mapping[str, str], keys: Sequence[str], trusted: str, configuration: Path) -> None:
    """Raise UntrustedFolder unless the user has confirmed that this folder says where data is kept. `configuration` is
    the folder with the user's own settings."""
    folder = file.absolute().parent.resolve()
    written = [Path(each.strip()).expanduser() for each in trusted.split(os.pathsep)]
    # "." would be any current folder.
    named = [each.resolve() for each in written if each.is_absolute()]
    remembered = read_trusted(configuration).get(str(folder))
    # A folder that is remembered may have changed its places since; one that is named in the setting is trusted with
    # any.
    if folder in named or remembered == hash_places(places):
        return
    said = " and ".join(f"{name} to {mask_secrets(value)}" for name, value in places.items())
    given = ", ".join(keys)
    raise UntrustedFolder(
        f"{file} in {folder} sets {said}: the data there would be used with keys from outside this folder ({given}). "
        "Interrupted runs and saved settings in it would use them.",
        kept="Nothing was opened and nothing was sent.",
        advice=f"If you trust this folder, set TABLEWRIGHT_TRUSTED_FOLDERS to {folder} in the environment, or run a "
        "command in it at a terminal and say yes; else set TABLEWRIGHT_HOME to a home of your own.",
        folder=folder,
        remember=configuration / CONSENT_FILE,
        places=dict(places),
    )


def trust_folder(refused: UntrustedFolder) -> None:
    """Remember that the user has confirmed the folder, for the places that its file names now."""
    known = read_trusted(refused.remember.parent) | {str(refused.folder): hash_places(refused.places)}
    partial = refused.remember.with_name(f".{CONSENT_FILE}.{os.getpid()}")
    try:
        refused.remember.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(known, indent=2), encoding="utf-8")
        partial.replace(refused.remember)
    except OSError as error:
        raise BadSetting(
            f"{refused.remember} cannot be written: {error}.",
            advice=f"Set TABLEWRIGHT_TRUSTED_FOLDERS to {refused.folder} in the environment instead.",
        ) from None


def read_trusted(configuration: Path) -> dict[str, str]:
    """Return the confirmed places by folder; nothing if the file cannot be read, so that the user is asked again."""
    try:
        known = json.loads((configuration / CONSENT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in known.items()} if isinstance(known, dict) else {}


def hash_places(places: Mapping[str, str]) -> str:
    """Return a hash of the places: a different one needs a new confirmation, and a password in one is not stored."""
    return hashlib.sha256(json.dumps(sorted(places.items())).encode()).hexdigest()
