"""Sources of settings, and what each source may set.

A setting is taken from a flag, else from the environment (TABLEWRIGHT_HOME), else from `tablewright.toml` in the
current folder (home = "…"), else from the user's own file, else from what was saved on the settings page, else it has
its default. The folder may belong to another person, so neither its file nor a home that it names can send a key of the
user to an address of its own (keys.py), and it names a home only with the user's consent (trusted_folders.py).

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
from typing import TYPE_CHECKING, Any, TypeAlias

from tablewright.errors import BadSetting, StoreError, did_you_mean
from tablewright.extras import require_extra
from tablewright.keys import (
    KEY_TARGETS,
    Key,
    bind_key,
    find_key_address,
    find_key_provider,
    format_origin,
    issue_key,
    origin_of,
    trusted_origins,
    variable_key,
)
from tablewright.settings import (
    DECLARED,
    KEY_OF_ADDRESS,
    KEY_SETTINGS,
    SAVABLE_SETTINGS,
    SECRET_SETTINGS,
    Settings,
    read_setting,
    write_setting,
)
from tablewright.trusted_folders import check_folder

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

log = logging.getLogger(__name__)

OnInvalid: TypeAlias = Callable[[BadSetting], object] | None

# Relative: that of the folder in which a command is run.
FOLDER_FILE = Path("tablewright.toml")
SAVED_FILE = "settings.json"
# Settings that the file of a folder cannot have, and why.
NOT_IN_A_FOLDER = {
    "trusted_hosts": "a folder cannot vouch for itself",
    "trusted_folders": "a folder cannot vouch for itself",
    "plugins": "a folder cannot have its own code run",
    "webhook_url": "a folder cannot have your runs reported",
    "google_sheets_key": "a folder cannot have your tables sent to an account of its own",
}
# The providers' own variables, used if `model_api_key` is not set.
PROVIDER_KEY_VARIABLES = {"anthropic": ("ANTHROPIC_API_KEY",), "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
# Settings that say where data is kept.
PLACE_SETTINGS = ("home", "database_url")


def load_settings(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path = FOLDER_FILE,
    *,
    folder_may_place: bool = True,
    flag_as_written: Callable[[str], str] = str,
    on_invalid: OnInvalid = None,
) -> Settings:
    """Load the settings, each checked under the name that the user wrote, for flags that of `flag_as_written`.

    Raise UntrustedFolder if the folder's file says where data is kept, keys come from outside the folder, and the user
    has not confirmed it. Without `folder_may_place` the caller keeps data elsewhere, and the file does not count for
    that. With `on_invalid` an invalid value is reported to it and has its default, instead of being raised.
    """
    environ = os.environ if environ is None else environ
    folder = read_settings_file(file, on_invalid=on_invalid)
    user = read_settings_file(find_user_file(environ), is_users=True, on_invalid=on_invalid)
    own = check_layer(read_variables(environ), environment_variable, on_invalid)
    own |= check_layer(flags or {}, flag_as_written, on_invalid)
    if not folder_may_place:
        folder = {name: value for name, value in folder.items() if name not in PLACE_SETTINGS}
    yours = user | own
    # Only what counts: a variable or a flag overrides the folder's place.
    places = {name: folder[name] for name in PLACE_SETTINGS if folder.get(name) and name not in own}
    outside = [name for name in KEY_SETTINGS if yours.get(name)]
    # A key in any of them makes a home that a folder names dangerous.
    outside += [
        variable
        for variable in (
            "OPENAI_API_KEY",
            *(each for variables in PROVIDER_KEY_VARIABLES.values() for each in variables),
            "OLLAMA_API_KEY",
        )
        if environ.get(variable)
    ]
    # PostgreSQL's own library would send it to the server that the folder names.
    if "database_url" in places and environ.get("PGPASSWORD"):
        outside.append("PGPASSWORD")
    if places and outside:
        check_folder(file, places, outside, yours.get("trusted_folders", ""), find_user_file(environ).parent)
    home = Settings(home=(user | folder | own).get("home", "")).home_folder
    saved = read_saved(home)
    if "home" in places:
        check_saved(saved, yours, home, file)
    valid = check_layer(saved, lambda name: f"{name} in {home / SAVED_FILE}", on_invalid)
    saved = {name: value for name, value in saved.items() if name in valid}
    # The later wins: what a user says here and now is on the right.
    merged: dict[str, Any] = saved | user | folder | own
    merged |= bind_keys(merged, own, user, folder, saved, environ)
    settings = Settings(**merged)
    check_key_addresses(settings, saved, user | folder | own, environ, "The settings page")
    check_key_addresses(settings, folder, own, environ, str(file))
    return settings


def check_layer(
    values: Mapping[str, object], written_as: Callable[[str], str], on_invalid: OnInvalid
) -> dict[str, str]:
    """Return the settings of one source as texts, without those that are empty. Raise BadSetting for one that its type
    does not allow, or report it to `on_invalid` and leave it out."""
    texts = {}
    for name, value in values.items():
        try:
            texts[name] = write_setting(read_setting(name, value, written_as(name)))
        except BadSetting as invalid:
            report_invalid(invalid, on_invalid)
    return {name: text for name, text in texts.items() if values[name] not in ("", None) and text}


def read_variables(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name in DECLARED if (text := environ.get(environment_variable(name)))}


def environment_variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"TABLEWRIGHT_{name.upper()}"


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
    for name in KEY_SETTINGS:
        for layer, with_addresses, variables in sources:
            if not merged.get(name) or layer.get(name) != merged[name]:
                continue
            text = layer[name]
            key = text if isinstance(text, Key) else issue_key(name, text, with_addresses, environ=variables)
            # The same key in two sources is good for the addresses of both.
            bound[name] = bound[name].also_for(key.origins) if name in bound else key
    trusted = trusted_origins(yours.get("trusted_hosts", ""))
    return {name: key.also_for(trusted) for name, key in bound.items()}


def check_saved(saved: Mapping[str, str], yours: Collection[str], home: Path, file: Path) -> None:
    """Raise BadSetting if a home that the file of a folder names has saved what the folder may not set."""
    for name in NOT_IN_A_FOLDER.keys() & saved.keys() - set(yours):
        raise BadSetting(
            f"{name} cannot be set in {home / SAVED_FILE}, in the home that {file} names: {NOT_IN_A_FOLDER[name]}.",
            kept="Nothing was sent.",
            advice=f"Set {environment_variable(name)} in the environment; or set {environment_variable('home')} there, "
            "if the home is yours.",
        )


def change_settings(
    settings: Settings, changes: Mapping[str, str], environ: Mapping[str, str] | None = None, file: Path = FOLDER_FILE
) -> tuple[Settings, dict[str, str]]:
    """Return the settings of a running process with these changes, and what to save; an empty value is the default
    again. A saved key is for one provider at one address: it is dropped if these change without a new key. Raise
    BadSetting for what is set elsewhere, and if a key from elsewhere would go to a saved address."""
    environ = os.environ if environ is None else environ
    elsewhere = find_set_elsewhere(environ, file)
    wanted = {name: read_setting(name, value, f"“{DECLARED[name].label or name}”") for name, value in changes.items()}
    for name, value in wanted.items():
        if name in elsewhere and value != getattr(settings, name):
            raise BadSetting(f"{name} is set by {elsewhere[name]}.", advice="Change it there and restart the server.")
    changes = {name: value for name, value in changes.items() if name not in elsewhere}
    if elsewhere.get("home") == str(file):
        check_saved({name: value for name, value in changes.items() if value}, elsewhere, settings.home_folder, file)
    changed = replace(settings, **{name: value for name, value in wanted.items() if name not in elsewhere})
    # A new address without a new key must not get the old key.
    for key in SECRET_SETTINGS & SAVABLE_SETTINGS - elsewhere.keys():
        if not changes.get(key) and find_key_target(changed, key) != find_key_target(settings, key):
            changes[key] = ""
            changed = replace(changed, **dict[str, Any]({key: ""}))
        elif text := changes.get(key):
            values = changed.texts
            changes[key] = bound = issue_key(key, text, values)
            changed = replace(changed, **dict[str, Any]({key: bound.also_for(trusted_origins(settings.trusted_hosts))}))
    savable = SAVABLE_SETTINGS - elsewhere.keys()
    saved = {name: text for name, text in changed.texts.items() if text and name in savable}
    try:
        check_key_addresses(changed, saved, elsewhere, environ, "The settings page")
    except BadSetting as error:
        advice = "Type the key for this address here, or set the address where its key is set."
        raise BadSetting(error.what, kept=error.kept, advice=advice) from None
    return changed, changes


def find_key_target(settings: Settings, key: str) -> tuple[str, str]:
    """Return the provider and the address that a key is sent to."""
    if key not in KEY_TARGETS:
        return "", ""
    values = {name: getattr(settings, name) for name in KEY_TARGETS[key] if name}
    return values.get(KEY_TARGETS[key].provider, "").partition(":")[0], values[KEY_TARGETS[key].address]


def find_set_elsewhere(environ: Mapping[str, str] | None = None, file: Path = FOLDER_FILE) -> dict[str, str]:
    """Return the variable or the file that sets a setting, by its name; the page cannot change those."""
    environ = os.environ if environ is None else environ
    own = find_user_file(environ)
    return {
        **dict.fromkeys(read_settings_file(own, is_users=True), str(own)),
        **dict.fromkeys(read_settings_file(file), str(file)),
        **{name: environment_variable(name) for name in read_variables(environ)},
    }


def check_key_addresses(
    settings: Settings, layer: Mapping[str, str], above: Collection[str], environ: Mapping[str, str], file: str
) -> None:
    """Raise BadSetting if a layer would have a key that is not its own sent to an address of its own, unless a layer
    above it sets that address. The client that carries the key would refuse it; this says it before anything runs, and
    names the file."""
    for name, key_name in KEY_OF_ADDRESS.items():
        if name not in layer or name in above:
            continue
        values = {each: getattr(settings, each) for each in KEY_TARGETS[key_name] if each} | {name: layer[name]}
        address = find_key_address(key_name, values)
        keys: list[Key] = [getattr(settings, key_name)] if getattr(settings, key_name) else []
        if name == "model_base_url" and not keys:
            provider = find_key_provider(key_name, values)
            variables = PROVIDER_KEY_VARIABLES.get(provider, ())
            keys = [variable_key(provider, each, environ, settings.trusted_hosts) for each in variables]
        if "://" not in address or not any(keys) or any(key.allows(address) for key in keys):
            continue
        host = format_origin(origin_of(address)).partition("://")[2]
        raise BadSetting(
            f"{file} sets {name} to {layer[name]}: your {key_name.removesuffix('_api_key')} key would be sent there, "
            "and it is set elsewhere.",
            kept="Nothing was sent.",
            advice=f"If you trust that address, set {environment_variable('trusted_hosts')} to {host} in the "
            f"environment; else remove {name} from {file}.",
        )


def find_user_file(environ: Mapping[str, str]) -> Path:
    """Return the path of a user's settings for all folders."""
    home = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/nonexistent")) / ".config"
    return Path(home) / "tablewright" / "config.toml"


def read_settings_file(file: Path, *, is_users: bool = False, on_invalid: OnInvalid = None) -> dict[str, str]:
    """Return the settings of a file as texts; the file may hold numbers and truth values as TOML writes them. Raise
    BadSetting for what is wrong, or report it to `on_invalid` and leave it out."""
    if not file.is_file():
        return {}
    found = {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        report_invalid(BadSetting(f"{file} cannot be read: {error}."), on_invalid)
        return {}
    for name, value in values.items():
        try:
            check_name_in_file(name, file, is_users=is_users)
            found[name] = write_setting(read_setting(name, value, f"{name} in {file}"))
        except BadSetting as invalid:
            report_invalid(invalid, on_invalid)
    return found


def check_name_in_file(name: str, file: Path, *, is_users: bool) -> None:
    """Raise BadSetting if a setting is unknown, or may not be set in that file."""
    if name not in DECLARED:
        near = did_you_mean(name, list(DECLARED)).strip()
        known = f"Known: {', '.join(DECLARED)}."
        raise BadSetting(f"{file} has an unknown setting {name!r}.", advice=near or known)
    if name == "plugins" or (name in NOT_IN_A_FOLDER and not is_users):
        raise BadSetting(
            f"{name} cannot be set in {file}: {NOT_IN_A_FOLDER[name]}.",
            advice=f"Set {environment_variable(name)} in the environment.",
        )


def report_invalid(invalid: BadSetting, on_invalid: OnInvalid) -> None:
    if on_invalid is None:
        raise invalid from None
    on_invalid(invalid)


# ── what is saved on the settings page ───────────────────────────────────────────────────────────────────────────────


def read_saved(home: Path) -> dict[str, str]:
    """Return the saved settings as texts. A key that cannot be decrypted any more counts as not saved; the log says
    so."""
    path = home / SAVED_FILE
    if not path.is_file():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        found = {name: str(value) for name, value in values.items() if name in SAVABLE_SETTINGS - SECRET_SETTINGS}
        hidden: Mapping[str, str] = values.get("encrypted", {})
    except (OSError, ValueError, AttributeError) as error:
        raise BadSetting(
            f"{path} cannot be read: {error}.", advice="Remove it and save the settings on the page again."
        ) from None
    # After the plain ones, since an old key is bound to the address that is saved with it.
    for name in SECRET_SETTINGS & SAVABLE_SETTINGS & hidden.keys():
        secret = decrypt_secret(home, hidden[name])
        if secret:
            found[name] = read_saved_key(name, secret, found)
        else:
            log.warning("The saved %s cannot be decrypted: save it again on the settings page.", name)
    return found


def read_saved_key(name: str, text: str, values: Mapping[str, str]) -> Key:
    """Return a saved key; one saved before keys had origins is for the address saved with it."""
    try:
        kept = json.loads(text)
        return Key(kept["key"], name=name, provider=kept["provider"], origins=kept["origins"])
    except (ValueError, KeyError, TypeError):
        return issue_key(name, text, values)


def encode_saved_key(name: str, secret: str, values: Mapping[str, str]) -> str:
    key = bind_key(secret, name, values)
    return json.dumps({"key": key, "provider": key.provider, "origins": sorted(key.origins)})


def write_saved(home: Path, changes: Mapping[str, str]) -> None:
    """Save changes in addition to what is saved already; an empty value is removed."""
    if unknown := changes.keys() - SAVABLE_SETTINGS:
        raise BadSetting(f"{', '.join(sorted(unknown))} cannot be saved here.", advice="Set it in the environment.")
    values = {name: value for name, value in {**read_saved(home), **changes}.items() if value}
    plain: dict[str, object] = {name: values[name] for name in sorted(values.keys() - SECRET_SETTINGS)}
    if secrets := sorted(values.keys() & SECRET_SETTINGS):
        cipher = open_cipher(home, make=True)
        assert cipher is not None
        # The one part of the file that is no setting.
        plain["encrypted"] = {
            name: cipher.encrypt(encode_saved_key(name, values[name], values).encode()).decode() for name in secrets
        }
    write_private_file(home / SAVED_FILE, json.dumps(plain, indent=2).encode())


def open_cipher(home: Path, *, make: bool = False) -> Fernet | None:
    require_extra("server", "Saving or reading a key")
    # 0.1 s, and most commands have no saved key.
    from cryptography.fernet import Fernet

    path = home / "settings.key"
    try:
        return Fernet(path.read_bytes())
    except (OSError, ValueError):
        if not make:
            return None
        write_private_file(path, Fernet.generate_key())
        return Fernet(path.read_bytes())


def decrypt_secret(home: Path, secret: str) -> str:
    cipher = open_cipher(home)
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(secret.encode()).decode() if cipher else ""
    except InvalidToken:
        return ""


def write_private_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, readable by its owner alone from the first byte on."""
    # Named by process, so that two that save at once do not write into one file.
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as stream:
            stream.write(content)
        # Atomic: readers see the old file or the new one.
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path.name} cannot be written: {error.strerror}.", kept="The settings are as they were."
        ) from None
