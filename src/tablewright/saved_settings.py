"""Settings that an admin saves on the page: `settings.json` in the home folder, private to its owner, with the keys in
it encrypted. They hold for every command that uses that folder, below flags, the environment and `tablewright.toml`.

Each key is encrypted together with what it was issued for, so that a changed address does not get it.

The encryption key is `settings.key` beside it. So a copy of `settings.json` alone, in a backup or a repository, tells
no key; whoever can read the whole folder can read everything in it anyway.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.errors import BadSetting, StoreError
from tablewright.extras import need
from tablewright.keys import Key, as_key, issue_key

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

log = logging.getLogger(__name__)

FILE = "settings.json"
KEY_FILE = "settings.key"
SECRET = frozenset({"model_api_key", "search_api_key", "embedder_api_key", "webhook_secret", "google_sheets_key"})
SAVED = SECRET | {
    "model",
    "model_base_url",
    "search",
    "search_language",
    "embedder",
    "embedder_base_url",
    "evidence",
    "budget",
    "budget_tokens",
    "language",
    "webhook_url",
}
"""What can be saved. The rest belongs to whoever starts the process."""
ENCRYPTED = "encrypted"


def read_saved(home: Path) -> dict[str, str]:
    """A key that cannot be decrypted any more counts as not saved; the log says so."""
    path = home / FILE
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        found = {name: str(value) for name, value in values.items() if name in SAVED - SECRET}
        hidden: Mapping[str, str] = values.get(ENCRYPTED, {})
    except (OSError, ValueError, AttributeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error}.", advice="Remove it and save the settings anew on the page."
        ) from None
    for name in SECRET & hidden.keys():
        secret = decrypted(home, hidden[name])
        if secret:
            found[name] = read_key(name, secret, found)
        else:
            log.warning("The saved %s cannot be decrypted: save it again on the settings page.", name)
    return found


def read_key(name: str, text: str, values: Mapping[str, str]) -> Key:
    """Return a key as it was saved; one that was saved before keys had origins is for the address saved beside it."""
    try:
        kept = json.loads(text)
        return Key(kept["key"], name=name, provider=kept["provider"], origins=kept["origins"])
    except (ValueError, KeyError, TypeError):
        return issue_key(name, text, values)


def written_key(name: str, secret: str, values: Mapping[str, str]) -> str:
    key = as_key(secret, name, values)
    return json.dumps({"key": key, "provider": key.provider, "origins": sorted(key.origins)})


def write_saved(home: Path, changes: Mapping[str, str]) -> None:
    """Over what is saved already; an empty value is forgotten."""
    if unknown := changes.keys() - SAVED:
        raise BadSetting(f"{', '.join(sorted(unknown))} cannot be saved here.", advice="Set it in the environment.")
    values = {name: value for name, value in {**read_saved(home), **changes}.items() if value}
    plain: dict[str, object] = {name: values[name] for name in sorted(values.keys() - SECRET)}
    if secrets := sorted(values.keys() & SECRET):
        cipher = cipher_of(home, make=True)
        assert cipher is not None
        plain[ENCRYPTED] = {
            name: cipher.encrypt(written_key(name, values[name], values).encode()).decode() for name in secrets
        }
    write_private(home / FILE, json.dumps(plain, indent=2).encode())


def cipher_of(home: Path, *, make: bool = False) -> Fernet | None:
    need("server", "Saving or reading a key")
    from cryptography.fernet import Fernet  # 0.1 s, and most commands have no saved key

    path = home / KEY_FILE
    if not path.is_file():
        if not make:
            return None
        write_private(path, Fernet.generate_key())
    try:
        return Fernet(path.read_bytes())
    except (OSError, ValueError):
        if not make:
            return None
        write_private(path, Fernet.generate_key())
        return Fernet(path.read_bytes())


def decrypted(home: Path, secret: str) -> str:
    cipher = cipher_of(home)
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(secret.encode()).decode() if cipher else ""
    except InvalidToken:
        return ""


def write_private(path: Path, content: bytes) -> None:
    """For its owner alone from the first byte on; whole, or as it was before."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as stream:
            stream.write(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(
            f"{path.name} cannot be written: {error.strerror}.", kept="The settings are as they were."
        ) from None
