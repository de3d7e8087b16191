"""What a key is for: the address that its own source gives, else that of its provider."""

from __future__ import annotations

import copy
import pickle
from contextlib import chdir
from pathlib import Path

import httpx2
import pytest

from tablewright.errors import BadSetting, KeyWithheld, UntrustedFolder
from tablewright.keys import Key, guard_client, issue_key, origin_of
from tablewright.llm.spec import Access, ModelSpec, create_provider_model
from tablewright.settings import Settings
from tablewright.settings_sources import change_settings, load_settings
from tablewright.web.search.provider import find_search_provider

OPENAI = "https://api.openai.com/v1"


def plugin_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    (folder / "ours.py").write_text(content)
    monkeypatch.setenv("TABLEWRIGHT_PLUGINS", str(folder))


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com:443"),
        ("HTTPS://API.OpenAI.com:443", "https://api.openai.com:443"),
        ("http://api.openai.com/v1", "http://api.openai.com:80"),
        ("https://user:pw@api.openai.com/v1?key=x#y", "https://api.openai.com:443"),
        ("https://api.openai.com@evil.example/v1", "https://evil.example:443"),
        ("https://[::1]:8000/v1", "https://[::1]:8000"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example:443"),
        ("https://evil.example\\@api.openai.com/v1", ""),
        ("https://evil.example\t@api.openai.com", ""),
        ("https://api.openai.com:99999/", ""),
        ("ftp://api.openai.com", ""),
        ("api.openai.com/v1", ""),
        ("", ""),
    ],
)
def test_an_origin_has_one_spelling_and_what_can_be_read_in_two_ways_has_none(address: str, origin: str) -> None:
    assert origin_of(address) == origin
    if origin:
        url = httpx2.URL(address)
        assert origin_of(str(url)) == origin, "a client reads it the same way"


def test_a_key_is_for_the_address_beside_it_else_for_its_provider() -> None:
    beside = issue_key("model_api_key", "k", {"model": "openai:m", "model_base_url": "http://127.0.0.1:8000/v1"})
    assert beside.allows("http://127.0.0.1:8000/other")
    assert not any(map(beside.allows, (OPENAI, "http://127.0.0.1:8001/v1", "https://127.0.0.1:8000/v1")))
    own = issue_key("model_api_key", "k", {"model": "anthropic:m"})
    assert own.allows("https://api.anthropic.com/v1/messages")
    assert not any(map(own.allows, (OPENAI, "http://api.anthropic.com", "https://api.anthropic.com.evil.example")))
    for of_any in (issue_key("model_api_key", "k", {}), issue_key("model_api_key", "k", {"model": "builtin"})):
        assert of_any.allows(OPENAI)
        assert not of_any.allows("http://127.0.0.1:11434/v1"), "a local port may be anybody's"
    assert issue_key("search_api_key", "k", {"search": "exa"}).allows("https://api.exa.ai/search")
    assert not issue_key("search_api_key", "k", {"search": "searxng:http://h"}).allows("http://h")


def test_a_key_keeps_what_it_is_for_when_it_is_copied_and_without_it_goes_nowhere() -> None:
    key = issue_key("model_api_key", " k\n", {"model": "openai:m"})
    for each in (key, copy.deepcopy(key), pickle.loads(pickle.dumps(key))):
        assert (each, each.allows(OPENAI)) == ("k", True)
    assert not Key("k").allows(OPENAI)


def test_settings_of_a_program_bind_their_keys_and_a_change_of_address_does_not_take_them_along() -> None:
    given = Settings(model="openai:m", model_base_url="http://a.example/v1", model_api_key="k")
    moved = given.with_shared({"model_base_url": "http://b.example/v1"})
    assert isinstance(moved.model_api_key, Key)
    assert not moved.model_api_key.allows("http://b.example/v1")
    assert moved.model_api_key.allows("http://a.example/v1")


def loaded(folder: Path, own: str = "", **environ: str) -> Settings:
    """With the user's own file and these variables, and without a file of the folder."""
    file = folder / "tablewright" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(own)
    variables = {f"TABLEWRIGHT_{name.upper()}": value for name, value in environ.items()}
    return load_settings({}, {"XDG_CONFIG_HOME": str(folder)} | variables, folder / "none.toml")


def test_an_address_in_the_user_s_own_file_counts_for_the_environment_and_not_the_other_way_round(
    tmp_path: Path,
) -> None:
    address = "https://gateway.example/v1"
    here = loaded(tmp_path, f'model_base_url = "{address}"', model_api_key="k").model_api_key
    assert isinstance(here, Key)
    assert here.allows(address)
    there = loaded(tmp_path, 'model_api_key = "k"', model_base_url=address).model_api_key
    assert isinstance(there, Key)
    assert not there.allows(address)
    trusted = loaded(tmp_path, 'model_api_key = "k"', model_base_url=address, trusted_hosts="gateway.example")
    assert isinstance(trusted.model_api_key, Key)
    assert trusted.model_api_key.allows(address)


def test_a_key_from_the_page_is_for_the_address_that_is_saved_with_it(tmp_path: Path) -> None:
    settings, saved = change_settings(
        Settings(home=str(tmp_path)),
        {"model": "openai:m", "model_base_url": "http://127.0.0.1:8000/v1", "model_api_key": "k"},
        {},
        tmp_path / "none.toml",
    )
    for key in (settings.model_api_key, saved["model_api_key"]):
        assert isinstance(key, Key)
        assert key.allows("http://127.0.0.1:8000/v1")
        assert not key.allows(OPENAI)


def test_a_provider_of_another_package_is_handed_its_own_key_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin_folder(tmp_path, monkeypatch, "models = {'parrot': lambda argument, access: access.api_key}\n")
    spec = ModelSpec(provider="parrot", argument="x")
    assert create_provider_model(spec, Access(api_key=issue_key("model_api_key", "k", {"model": "parrot:x"}))) == "k"
    assert create_provider_model(spec, Access(api_key=issue_key("model_api_key", "k", {}))) == "k"
    with pytest.raises(KeyWithheld, match="the provider parrot"):
        create_provider_model(spec, Access(api_key=issue_key("model_api_key", "k", {"model": "openai:x"})))
    elsewhere = issue_key("model_api_key", "k", {"model": "parrot:x", "model_base_url": "https://a.example"})
    with pytest.raises(KeyWithheld, match=r"https://b\.example"):
        create_provider_model(spec, Access(api_key=elsewhere, base_url="https://b.example"))


async def test_a_guarded_client_sends_nothing_to_another_address() -> None:
    key = issue_key("model_api_key", "k", {"model": "openai:m"})
    async with guard_client(httpx2.AsyncClient(trust_env=False), key) as client:
        for address in ("http://127.0.0.1:9/v1", "http://api.openai.com/", "https://api.openai.com:444/"):
            with pytest.raises(KeyWithheld, match="The key was not sent") as refused:
                await client.get(address)
            assert "TABLEWRIGHT_TRUSTED_HOSTS" in refused.value.advice
    async with guard_client(httpx2.AsyncClient(trust_env=False), Key()) as client:
        with pytest.raises(httpx2.ConnectError):  # without a key there is nothing to withhold
            await client.get("http://127.0.0.1:9/v1")


async def test_a_search_of_another_package_is_not_handed_the_key_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin_folder(
        tmp_path,
        monkeypatch,
        "class Library:\n"
        "    name = 'library'\n"
        "    def __init__(self, argument, api_key, client): self.key = api_key\n"
        "    async def search(self, query): return ()\n"
        "search = {'library': Library}\n",
    )
    async with httpx2.AsyncClient() as client:
        bound = issue_key("search_api_key", "k", {"search": "brave"})
        with pytest.raises(KeyWithheld):
            find_search_provider("library", api_key=bound, client=client)
        assert (
            find_search_provider("library", api_key=issue_key("search_api_key", "k", {}), client=client).name
            == "library"
        )


# ── where data is kept ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ('home = "data"', {"TABLEWRIGHT_MODEL_API_KEY": "k"}),
        ('home = "data"', {"OPENAI_API_KEY": "k"}),
        ('home = "data"', {"TABLEWRIGHT_WEBHOOK_SECRET": "k"}),
        ('database_url = "postgresql://db.example/x"', {"ANTHROPIC_API_KEY": "k"}),
        ('database_url = "postgresql://u:p4ssw0rd@db.example/x"', {"PGPASSWORD": "k"}),
    ],
)
def test_a_folder_says_where_data_is_kept_only_if_the_user_confirms_it(
    tmp_path: Path, text: str, environ: dict[str, str]
) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text(text)
    with pytest.raises(UntrustedFolder, match=r"sets (home|database_url) to") as refused:
        load_settings({}, environ, file)
    assert "p4ssw0rd" not in str(refused.value)
    assert str(tmp_path) in refused.value.advice
    assert load_settings({}, {}, file), "without a key from outside it may"
    assert load_settings({}, environ | {"TABLEWRIGHT_TRUSTED_FOLDERS": f"/elsewhere:{tmp_path}"}, file)
    with chdir(tmp_path), pytest.raises(UntrustedFolder):
        load_settings({}, environ | {"TABLEWRIGHT_TRUSTED_FOLDERS": "."}, file)
    yours = {"TABLEWRIGHT_HOME": str(tmp_path / "own"), "TABLEWRIGHT_DATABASE_URL": "postgresql://own.example/x"}
    assert load_settings({}, environ | yours, file).home == str(tmp_path / "own")
    assert load_settings({}, environ, file, folder_may_place=False).home == ""
    file.write_text(f'{text}\ntrusted_folders = "{tmp_path}"\n')
    with pytest.raises(BadSetting, match="cannot vouch for itself"):
        load_settings({}, environ, file)


def test_a_webhook_cannot_be_saved_in_a_home_that_a_folder_names(tmp_path: Path) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text(f'home = "{tmp_path / "data"}"\n')
    settings = load_settings({}, {}, file)
    with pytest.raises(BadSetting, match="webhook_url cannot be set in"):
        change_settings(settings, {"webhook_url": "https://hook.example/x"}, {}, file)
