"""Where settings come from, and what may come from where.

A setting is taken from a flag, else from the environment (TABLEWRIGHT_HOME), else from `tablewright.toml` in the
current folder (home = "…"), else from the user's own file, else from what was saved on the settings page, else it has
its default. The folder may be another person's, so neither its file nor a home that it names can send a key of the user
to an address of its own (keys.py), and it names a home only with the user's consent (trusted_folders.py).

What an admin saves on the page is in `settings.json` in the home folder, private to its owner, with the keys in it
encrypted, each together with what it was issued for, so that a changed address does not get it. The encryption key is
in `settings.key`, so a copy of `settings.json` alone, in a backup or a repository, reveals no key; anyone who can read
the whole folder can read everything in it anyway.
"""

from __future__ import annotations

import json
import logging
import os
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.errors import BadSetting, StoreError, did_you_mean
from tablewright.extras import need
from tablewright.keys import (
    SENT_TO,
    Key,
    address_in,
    as_key,
    issue_key,
    origin_of,
    provider_in,
    shown_origin,
    trusted_origins,
    variable_key,
)
from tablewright.settings import (
    DECLARED,
    KEY_OF,
    OUTSIDE_KEYS,
    PREFIX,
    SAVED,
    SECRET,
    Settings,
    read_setting,
    write_setting,
)
from tablewright.trusted_folders import check_folder

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

log = logging.getLogger(__name__)

FILE = Path("tablewright.toml")
PAGE = Path("The settings page")
SAVED_FILE = "settings.json"
KEY_FILE = "settings.key"
ENCRYPTED = "encrypted"
NOT_IN_A_FOLDER = {
    "trusted_hosts": "a folder cannot vouch for itself",
    "trusted_folders": "a folder cannot vouch for itself",
    "plugins": "a folder cannot have its own code run",
    "webhook_url": "a folder cannot have your runs reported",
    "google_sheets_key": "a folder cannot have your tables sent to an account of its own",
}
"""Settings that the file of a folder cannot have, and why."""
KEYS_OF = {"anthropic": ("ANTHROPIC_API_KEY",), "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
"""Providers' own variables that are used where `model_api_key` is not set."""
KEY_VARIABLES = ("OPENAI_API_KEY", *(each for variables in KEYS_OF.values() for each in variables), "OLLAMA_API_KEY")
PLACES = ("home", "database_url")
"""Settings that say where data is kept."""


def load_settings(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path = FILE,
    *,
    folder_may_place: bool = True,
    flag_as_written: Callable[[str], str] = str,
) -> Settings:
    """Load the settings, each checked under the name that the user wrote, for flags that of `flag_as_written`.

    Raise UntrustedFolder if the folder's file says where data is kept, keys come from outside the folder, and the user
    has not confirmed it. Without `folder_may_place` the caller keeps data elsewhere, and the file does not count for
    that.
    """
    environ = os.environ if environ is None else environ
    folder, user = read_file(file), read_file(user_file(environ), is_users=True)
    own = check_layer(variables_in(environ), variable_of) | check_layer(flags or {}, flag_as_written)
    if not folder_may_place:
        folder = {name: value for name, value in folder.items() if name not in PLACES}
    yours = user | own
    places = {name: folder[name] for name in PLACES if folder.get(name) and name not in own}
    outside = [name for name in OUTSIDE_KEYS if yours.get(name)]
    outside += [variable for variable in KEY_VARIABLES if environ.get(variable)]
    if "database_url" in places and environ.get("PGPASSWORD"):
        outside.append("PGPASSWORD")
    if places and outside:
        check_folder(file, places, outside, yours.get("trusted_folders", ""), user_file(environ).parent)
    home = Settings(home=(user | folder | own).get("home", "")).home_folder
    saved = read_saved(home)
    if "home" in places:
        check_saved(saved, yours, home, file)
    check_layer(saved, lambda name: f"{name} in {home / SAVED_FILE}")
    merged: dict[str, Any] = saved | user | folder | own
    merged |= bind_keys(merged, own, user, folder, saved, environ)
    settings = Settings(**merged)
    check_addresses(settings, saved, user | folder | own, environ, PAGE)
    check_addresses(settings, folder, own, environ, file)
    return settings


def check_layer(values: Mapping[str, object], written_as: Callable[[str], str]) -> dict[str, str]:
    """Return the settings of one source as texts, without those that are empty. Raise BadSetting for one that its type
    does not allow."""
    texts = {name: write_setting(read_setting(name, value, written_as(name))) for name, value in values.items()}
    return {name: text for name, text in texts.items() if values[name] not in ("", None) and text}


def variables_in(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[variable_of(name)] for name in DECLARED if environ.get(variable_of(name))}


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()


def bind_keys(
    merged: Mapping[str, str],
    own: Mapping[str, str],
    user: Mapping[str, str],
    folder: Mapping[str, str],
    saved: Mapping[str, str],
    environ: Mapping[str, str],
) -> dict[str, Key]:
    """Return the keys in use, each bound to the address that its own source gives.

    The user's own file is written by the user alone, so an address in it also counts for keys of the environment. Not
    the other way round: what fills an environment may belong to a folder.
    """
    yours = {**user, **own}
    sources: list[tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]] = [
        (own, yours, environ),
        (user, user, {}),
        (folder, folder, {}),
        (saved, saved, {}),
    ]
    bound: dict[str, Key] = {}
    for name in OUTSIDE_KEYS:
        for layer, beside, variables in sources:
            if not merged.get(name) or layer.get(name) != merged[name]:
                continue
            text = layer[name]
            key = text if isinstance(text, Key) else issue_key(name, text, beside, environ=variables)
            bound[name] = bound[name].also_for(key.origins) if name in bound else key
    trusted = trusted_origins(yours.get("trusted_hosts", ""))
    return {name: key.also_for(trusted) for name, key in bound.items()}


def check_saved(saved: Mapping[str, str], yours: Collection[str], home: Path, file: Path) -> None:
    """Raise BadSetting for what the file of a folder may not set, and the home that it names has saved."""
    for name in NOT_IN_A_FOLDER.keys() & saved.keys() - set(yours):
        raise BadSetting(
            f"{name} cannot be set in {home / SAVED_FILE}, in the home that {file} names: {NOT_IN_A_FOLDER[name]}.",
            kept="Nothing was sent.",
            advice=f"Set {PREFIX}{name.upper()} in the environment; or set {PREFIX}HOME there, if the home is yours.",
        )


def with_changes(
    settings: Settings, changes: Mapping[str, str], environ: Mapping[str, str] | None = None, file: Path = FILE
) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a running process with these changes, and what to save; an empty value is the default
    again. A saved key is for one provider at one address: it is dropped if these change without a new key. Raise
    BadSetting for what is set elsewhere, and if a key from elsewhere would go to a saved address."""
    environ = os.environ if environ is None else environ
    elsewhere = set_elsewhere(environ, file)
    wanted = {name: read_setting(name, value, f"“{DECLARED[name].label or name}”") for name, value in changes.items()}
    for name, value in wanted.items():
        if name in elsewhere and value != getattr(settings, name):
            raise BadSetting(f"{name} is set by {elsewhere[name]}.", advice="Change it there and restart the server.")
    changes = {name: value for name, value in changes.items() if name not in elsewhere}
    if elsewhere.get("home") == str(file):
        check_saved({name: value for name, value in changes.items() if value}, elsewhere, settings.home_folder, file)
    changed = replace(settings, **{name: value for name, value in wanted.items() if name not in elsewhere})
    for key in SECRET & SAVED - elsewhere.keys():
        if not changes.get(key) and key_is_for(changed, key) != key_is_for(settings, key):
            changes[key] = ""
            changed = replace(changed, **dict[str, Any]({key: ""}))
        elif text := changes.get(key):
            values = changed.texts
            changes[key] = bound = issue_key(key, text, values)
            changed = replace(changed, **dict[str, Any]({key: bound.also_for(trusted_origins(settings.trusted_hosts))}))
    saved = {name: text for name, text in changed.texts.items() if text and name in SAVED and name not in elsewhere}
    try:
        check_addresses(changed, saved, elsewhere, environ, PAGE)
    except BadSetting as error:
        advice = "Type the key for this address here, or set the address where its key is set."
        raise BadSetting(error.what, kept=error.kept, advice=advice) from None
    return changed, changes


def key_is_for(settings: Settings, key: str) -> tuple[str, str]:
    """Return the provider and the address that a key is sent to."""
    if key not in SENT_TO:
        return "", ""
    values = {name: getattr(settings, name) for name in SENT_TO[key] if name}
    return values.get(SENT_TO[key].provider, "").partition(":")[0], values[SENT_TO[key].address]


def set_elsewhere(environ: Mapping[str, str] | None = None, file: Path = FILE) -> dict[str, str]:
    """Return the variable or the file that sets a setting, by its name; the page cannot change those."""
    environ = os.environ if environ is None else environ
    own = user_file(environ)
    found = dict.fromkeys(read_file(own, is_users=True), str(own)) | dict.fromkeys(read_file(file), str(file))
    return found | {name: variable_of(name) for name in variables_in(environ)}


def check_addresses(
    settings: Settings,
    layer: Mapping[str, str],
    above: Collection[str],
    environ: Mapping[str, str],
    file: Path,
) -> None:
    """Check the addresses of a layer that nothing above it sets."""
    for name in KEY_OF:
        if name in layer and name not in above:
            check_address(name, settings, layer, environ, file)


def check_address(
    name: str, settings: Settings, layer: Mapping[str, str], environ: Mapping[str, str], file: Path
) -> None:
    """Raise BadSetting if a layer would have a key that is not its own sent to an address of its own. The client that
    carries the key would refuse it; this says it before anything runs, and names the file."""
    key_name = KEY_OF[name]
    values = {each: getattr(settings, each) for each in SENT_TO[key_name] if each} | {name: layer[name]}
    address = address_in(key_name, values)
    keys: list[Key] = [getattr(settings, key_name)] if getattr(settings, key_name) else []
    if name == "model_base_url" and not keys:
        provider = provider_in(key_name, values)
        keys = [variable_key(provider, each, environ, settings.trusted_hosts) for each in KEYS_OF.get(provider, ())]
    if "://" not in address or not any(keys) or any(key.allows(address) for key in keys):
        return
    host = shown_origin(origin_of(address)).partition("://")[2]
    raise BadSetting(
        f"{file} sets {name} to {layer[name]}: your {key_name.removesuffix('_api_key')} key would be sent there, and "
        "it is set elsewhere.",
        kept="Nothing was sent.",
        advice=f"If you trust that address, set {PREFIX}TRUSTED_HOSTS to {host} in the environment; else remove {name} "
        f"from {file}.",
    )


def user_file(environ: Mapping[str, str]) -> Path:
    """Return the path of a user's settings for all folders."""
    home = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/nonexistent")) / ".config"
    return Path(home) / "tablewright" / "config.toml"


def read_file(file: Path, *, is_users: bool = False) -> dict[str, str]:
    """Return the settings of a file as texts; there numbers and truth values may be written as TOML has them."""
    if not file.is_file():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} cannot be read: {error}.") from None
    for name in values:
        if name not in DECLARED:
            near = did_you_mean(name, list(DECLARED)).strip()
            known = f"Known: {', '.join(DECLARED)}."
            raise BadSetting(f"{file} has an unknown setting {name!r}.", advice=near or known)
        if name == "plugins" or (name in NOT_IN_A_FOLDER and not is_users):
            raise BadSetting(
                f"{name} cannot be set in {file}: {NOT_IN_A_FOLDER[name]}.",
                advice=f"Set {variable_of(name)} in the environment.",
            )
    return {name: write_setting(read_setting(name, value, f"{name} in {file}")) for name, value in values.items()}


# ── what is saved on the settings page ───────────────────────────────────────────────────────────────────────────────


def read_saved(home: Path) -> dict[str, str]:
    """Return the saved settings as texts. A key that cannot be decrypted any more counts as not saved; the log says
    so."""
    path = home / SAVED_FILE
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        found = {name: str(value) for name, value in values.items() if name in SAVED - SECRET}
        hidden: Mapping[str, str] = values.get(ENCRYPTED, {})
    except (OSError, ValueError, AttributeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error}.", advice="Remove it and save the settings on the page again."
        ) from None
    for name in SECRET & SAVED & hidden.keys():
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
    """Save changes in addition to what is saved already; an empty value is removed."""
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
    write_private(home / SAVED_FILE, json.dumps(plain, indent=2).encode())


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
    """Write a file for its owner alone from the first byte on, whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as stream:
            stream.write(content)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path.name} cannot be written: {error.strerror}.", kept="The settings are as they were."
        ) from None
