"""Attempts to have a user's key sent to an address of somebody else. Each is done with real servers on loopback: one
that the key is for, and one that must never hear it."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel

from tablewright.errors import TablewrightError
from tablewright.interfaces.server.oidc import OidcLogin
from tablewright.llm.build import build_model
from tablewright.llm.embedder import build_embedder
from tablewright.llm.listing import list_provider_models
from tablewright.operations.webhooks import send_webhook
from tablewright.settings import Settings
from tablewright.settings_sources import load_settings, write_saved
from tablewright.web.google_sheets import GoogleSheets, read_service_key
from tablewright.web.search.provider import find_search_provider
from tablewright.web.source import Query
from tests.google import running_google
from tests.interfaces.conftest import Forked, Shell
from tests.interfaces.server.provider import CLIENT, providing
from tests.interfaces.server.provider import SECRET as OIDC_SECRET
from tests.listener import Listener, listening
from tests.patience import PATIENCE

SECRET = "sk-of-the-user-0123456789"
FOLDER_FILE = "tablewright.toml"
KEY_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OLLAMA_API_KEY")
ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_BASE_URL")


class Year(BaseModel):
    year: int


@pytest.fixture(autouse=True)
def nothing_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEY_VARIABLES, *ADDRESS_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def genuine() -> Iterator[Listener]:
    """The address that the key was issued for."""
    with listening() as listener:
        yield listener


@pytest.fixture
def thief() -> Iterator[Listener]:
    with listening() as listener:
        yield listener


async def ask(settings: Settings) -> None:
    """Ask the model that the settings name; it does not matter what it answers."""
    model = build_model(settings)
    assert model is not None
    async with model:
        await model.ask(instructions="Answer.", prompt="In which year?", output=Year)


async def embed(settings: Settings) -> None:
    embedder = build_embedder(settings)
    try:
        await embedder.embed(["a text"])
    finally:
        await embedder.close()


async def search(settings: Settings) -> None:
    async with httpx2.AsyncClient(follow_redirects=True) as client:
        provider = find_search_provider(settings.search, api_key=settings.search_api_key, client=client)
        await provider.search(Query(text="weather"))


async def list_names(settings: Settings) -> None:
    await list_provider_models(settings.model.partition(":")[0], settings.model_base_url, settings.model_api_key)


# ── a prepared folder ────────────────────────────────────────────────────────────────────────────────────────────────


def prepared(folder: Path, thief: Listener) -> Shell:
    """A folder as its author hands it on: its home holds a run that was interrupted, recorded with the thief's address.
    What is returned is the shell of a user in this folder, with a key of their own."""
    environ = {"TABLEWRIGHT_HOME": str(folder / "data"), "TABLEWRIGHT_MODEL": "openai:any"}
    author = Shell(folder, **environ, TABLEWRIGHT_MODEL_BASE_URL=f"{thief.url}/v1")
    author.write("firms.csv", "Company\nKestrelworks\n")
    author("tables", "import", "firms.csv")
    place = folder / "run"
    place.mkdir()
    thief.may_answer.clear()
    run = Forked(
        author, place, ["enrich", "firms", "--field", "Motto=Write one for {Company}", "--strategy", "transform"]
    )
    assert thief.arrived.wait(PATIENCE), (place / "err").read_text()
    run.kill()
    run.wait(PATIENCE)
    thief.may_answer.set()
    thief.heard.clear()
    thief.arrived.clear()
    author.write(FOLDER_FILE, 'home = "data"\n')
    user = Shell(folder, TABLEWRIGHT_MODEL="openai:any", TABLEWRIGHT_MODEL_API_KEY=SECRET, HOME=str(folder / "user"))
    del user.environ["TABLEWRIGHT_HOME"]
    user.environ.pop("XDG_CONFIG_HOME", None)
    user.environ.pop("PYTEST_CURRENT_TEST", None)
    return user


def status_of(folder: Path) -> tuple[str, str]:
    """Of the one run, and why it failed."""
    with sqlite3.connect(f"file:{folder / 'data' / 'tablewright.db'}?mode=ro", uri=True) as database:
        status, error = database.execute("SELECT status, error FROM runs").fetchone()
    return status, error or ""


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_prepared_folder_is_not_served_with_the_user_s_key(tmp_path: Path, thief: Listener) -> None:
    user = prepared(tmp_path, thief)
    place = tmp_path / "serving"
    place.mkdir()
    server = Forked(user, place, ["serve", "--port", "0"])
    try:
        wait_for(lambda: server.poll() is not None or thief.arrived.is_set())
        assert SECRET not in thief.text
        assert server.poll() == 2
    finally:
        server.kill()
    said = (place / "err").read_text()
    assert "TABLEWRIGHT_MODEL_API_KEY" in said or "model_api_key" in said
    assert "TABLEWRIGHT_TRUSTED_FOLDERS" in said
    assert SECRET not in said
    assert status_of(tmp_path)[0] == "running", "nothing was opened"
    for command in (("tables", "list"), ("doctor",), ("runs", "list", "--json")):
        refused = user(*command, code=2)
        assert "TABLEWRIGHT_TRUSTED_FOLDERS" in refused.stdout + refused.stderr, command
    del user.environ["TABLEWRIGHT_MODEL_API_KEY"]
    assert [table["name"] for table in user.json("tables", "list")["tables"]] == ["firms"], "without a key it is usable"


def test_a_run_of_a_folder_that_the_user_trusts_still_cannot_send_the_key_elsewhere(
    tmp_path: Path, thief: Listener
) -> None:
    user = prepared(tmp_path, thief)
    user.environ["TABLEWRIGHT_TRUSTED_FOLDERS"] = str(tmp_path)
    place = tmp_path / "serving"
    place.mkdir()
    server = Forked(user, place, ["serve", "--port", "0"])
    try:
        wait_for(lambda: server.poll() is not None or thief.arrived.is_set() or status_of(tmp_path)[0] != "running")
        assert server.poll() is None, (place / "err").read_text()
        assert thief.heard == []
    finally:
        server.kill()
        server.wait(PATIENCE)
    status, why = status_of(tmp_path)
    assert status == "failed"
    assert "was issued for https://api.openai.com" in why
    run_id = user.json("runs", "list")["runs"][0]["run_id"]
    assert "was issued for" in user("runs", "resume", run_id, code=1).stderr
    assert thief.heard == []


def test_a_run_of_the_user_resumes_at_the_address_that_the_key_is_for(tmp_path: Path, genuine: Listener) -> None:
    user = prepared(tmp_path, genuine)
    user.environ |= {"TABLEWRIGHT_HOME": str(tmp_path / "data"), "TABLEWRIGHT_MODEL_BASE_URL": f"{genuine.url}/v1/"}
    run_id = user.json("runs", "list")["runs"][0]["run_id"]
    resumed = Forked(user, tmp_path / "run", ["runs", "resume", run_id])
    try:
        assert genuine.arrived.wait(PATIENCE)
    finally:
        resumed.kill()
    assert f"Bearer {SECRET}" in genuine.text


def test_a_home_that_a_folder_names_brings_no_webhook(tmp_path: Path, thief: Listener) -> None:
    home = tmp_path / "data"
    home.mkdir()
    (home / "settings.json").write_text(json.dumps({"webhook_url": f"{thief.url}/hook"}))
    file = tmp_path / FOLDER_FILE
    file.write_text('home = "data"\n')
    environ = {"HOME": str(tmp_path)}
    with pytest.raises(TablewrightError, match=r"webhook_url cannot be set in .*settings\.json"), chdir(tmp_path):
        load_settings({}, environ, Path(FOLDER_FILE))
    trusting = environ | {"TABLEWRIGHT_MODEL_API_KEY": SECRET, "TABLEWRIGHT_TRUSTED_FOLDERS": str(tmp_path)}
    with pytest.raises(TablewrightError, match="webhook_url cannot be set in"), chdir(tmp_path):
        load_settings({}, trusting, Path(FOLDER_FILE))
    own = load_settings({}, environ | {"TABLEWRIGHT_HOME": str(home)}, file)
    assert own.webhook_url == f"{thief.url}/hook", "in a home that the user names, it is the user's"


# ── addresses from elsewhere ─────────────────────────────────────────────────────────────────────────────────────────


def of_the_environment(monkeypatch: pytest.MonkeyPatch, folder: Path, **values: str) -> Settings:
    """As loaded where these variables are set."""
    environ = {f"TABLEWRIGHT_{name.upper()}": value for name, value in values.items()}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return load_settings({}, environ | {"TABLEWRIGHT_HOME": str(folder)}, folder / "none.toml")


@pytest.mark.parametrize("model", ["openai:m", "anthropic:claude-haiku-4-5", "google:gemini-2.5-flash", "ollama:m"])
async def test_the_record_of_a_run_does_not_say_where_a_model_s_key_goes(
    tmp_path: Path, genuine: Listener, thief: Listener, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    settings = of_the_environment(
        monkeypatch, tmp_path, model=model, model_base_url=f"{genuine.url}/v1", model_api_key=SECRET
    )
    with pytest.raises(TablewrightError, match="was issued for http://127"):
        await ask(settings.with_shared({"model_base_url": f"{thief.url}/v1"}))
    assert thief.heard == []
    genuine.status = 400
    with pytest.raises(TablewrightError):
        await ask(settings.with_shared({"model_base_url": f"{genuine.url}/v1/other"}))
    assert SECRET in genuine.text, "the same origin is the user's"


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-flash", "GOOGLE_API_KEY"),
        ("openai:m", "OPENAI_API_KEY"),
        ("ollama:m", "OLLAMA_API_KEY"),
    ],
)
async def test_nor_where_the_key_in_a_provider_s_own_variable_goes(
    tmp_path: Path, thief: Listener, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    monkeypatch.setenv(variable, SECRET)
    thief.status = 400
    settings = of_the_environment(monkeypatch, tmp_path, model=model)
    with pytest.raises(TablewrightError):
        await ask(settings.with_shared({"model_base_url": thief.url}))
    assert SECRET not in thief.text


async def test_nor_where_the_keys_of_searches_and_embeddings_go(
    tmp_path: Path, genuine: Listener, thief: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = of_the_environment(
        monkeypatch,
        tmp_path,
        search=f"brave:{genuine.url}",
        search_api_key=SECRET,
        embedder="openai:e",
        embedder_base_url=genuine.url,
        embedder_api_key=SECRET,
    )
    for name in ("brave", "serper", "exa", "tavily"):
        with pytest.raises(TablewrightError, match="was issued for"):
            await search(settings.with_shared({"search": f"{name}:{thief.url}"}))
    with pytest.raises(TablewrightError, match="was issued for"):
        await embed(settings.with_shared({"embedder_base_url": thief.url}))
    assert thief.heard == []
    genuine.body = {"type": "search"}
    await search(settings)
    assert SECRET in genuine.text
    await search_without_a_key(settings, thief)


async def search_without_a_key(settings: Settings, thief: Listener) -> None:
    """A SearXNG needs no key, so whoever has one for another search may still use it."""
    thief.body = {"results": []}
    await search(settings.with_shared({"search": f"searxng:{thief.url}"}))
    assert thief.heard
    assert SECRET not in thief.text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", ["openai:m", "anthropic:claude-haiku-4-5", "google:gemini-2.5-flash", "ollama:m"])
async def test_a_redirect_does_not_lead_a_model_s_key_elsewhere(
    genuine: Listener, thief: Listener, model: str, status: int
) -> None:
    genuine.redirect(status, f"{thief.url}/v1/chat/completions")
    settings = Settings(model=model, model_base_url=f"{genuine.url}/v1", model_api_key=SECRET)
    with pytest.raises(TablewrightError):
        await ask(settings)
    assert SECRET in genuine.text
    assert thief.heard == []


@pytest.mark.parametrize("status", [302, 307])
async def test_a_redirect_leads_no_other_key_elsewhere(genuine: Listener, thief: Listener, status: int) -> None:
    genuine.redirect(status, thief.url)
    settings = Settings(
        model="anthropic:x",
        model_base_url=genuine.url,
        model_api_key=SECRET,
        embedder="openai:e",
        embedder_base_url=genuine.url,
        embedder_api_key=SECRET,
        search=f"brave:{genuine.url}",
        search_api_key=SECRET,
        webhook_url=genuine.url,
        webhook_secret=SECRET,
        fetch_allow="127.0.0.1",
    )
    for attempt in (list_names, embed, search):
        with pytest.raises(TablewrightError):
            await attempt(settings)
    with pytest.raises(TablewrightError):
        await send_webhook(settings, {"event": "test"})
    assert len(genuine.heard) >= 4
    assert thief.heard == []


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("model", ["anthropic:claude-haiku-4-5", "google:gemini-2.5-flash"])
async def test_a_library_that_follows_redirects_is_stopped_all_the_same(
    genuine: Listener, thief: Listener, model: str, status: int
) -> None:
    """Headers such as x-api-key go along with a redirect, unlike Authorization."""
    genuine.redirect(status, thief.url)
    built = build_model(Settings(model=model, model_base_url=genuine.url, model_api_key=SECRET))
    assert built is not None
    for _ in range(2):  # the second time with a client that replaces the first, which was closed
        async with built:
            asked: Any = built.asked
            while hasattr(asked, "wrapped"):
                asked = asked.wrapped
            library = asked.client
            http = getattr(library, "_client", None) or library._api_client._async_httpx_client
            http.follow_redirects = True
            with pytest.raises(TablewrightError, match="was issued for"):
                await built.ask(instructions="Answer.", prompt="In which year?", output=Year)
    assert SECRET in genuine.text
    assert thief.heard == []


async def test_a_service_account_s_token_stays_with_google(
    genuine: Listener, thief: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_google(monkeypatch) as google:
        async with GoogleSheets(read_service_key(google.key)) as sheets:
            sheets._client.follow_redirects = True
            monkeypatch.setattr("tablewright.web.google_sheets.SHEETS", thief.url)
            with pytest.raises(TablewrightError, match="google_sheets_key would be sent to"):
                await sheets.titles("some-spreadsheet")
    assert thief.heard == []


async def test_the_secret_of_a_login_goes_to_its_issuer(thief: Listener) -> None:
    """It says where it hands out tokens; a redirect does not."""
    with providing() as provider:
        settings = Settings(oidc_issuer=provider.issuer, oidc_client_id=CLIENT, oidc_client_secret=OIDC_SECRET)
        with pytest.raises(TablewrightError, match="oidc_client_secret would be sent to"):
            OidcLogin(replace(settings, oidc_issuer=thief.url))
        login = OidcLogin(settings)
        left = await login.begin_login("/", "http://127.0.0.1/login/oidc/callback")
        async with login._client("http://127.0.0.1/") as client:
            for address in (thief.url, f"{thief.url}/token"):
                with pytest.raises(TablewrightError, match="oidc_client_secret would be sent to"):
                    await client.fetch_token(address, code="c", code_verifier="v")
        assert left.address.startswith(provider.issuer)
    assert thief.heard == []


async def test_a_key_of_the_user_s_own_file_does_not_follow_an_address_of_the_environment(
    tmp_path: Path, thief: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "tablewright" / "config.toml"
    own.parent.mkdir()
    own.write_text(f'model = "openai:m"\nmodel_api_key = "{SECRET}"\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "TABLEWRIGHT_HOME": str(tmp_path / "home")}
    none = tmp_path / "none.toml"
    with pytest.raises(TablewrightError, match=r"was issued for https://api\.openai\.com"):
        await ask(load_settings({}, environ | {"TABLEWRIGHT_MODEL_BASE_URL": thief.url}, none))
    monkeypatch.setenv("OPENAI_BASE_URL", thief.url)
    with pytest.raises(TablewrightError, match=r"was issued for https://api\.openai\.com"):
        await ask(load_settings({}, environ | {"OPENAI_BASE_URL": thief.url}, none))
    assert thief.heard == []


async def test_a_saved_key_does_not_follow_an_address_that_was_changed_in_the_file(
    tmp_path: Path, genuine: Listener, thief: Listener
) -> None:
    given = {"model": "openai:m", "model_base_url": f"{genuine.url}/v1", "model_api_key": SECRET}
    write_saved(tmp_path, given)
    file = tmp_path / "settings.json"
    environ = {"TABLEWRIGHT_HOME": str(tmp_path), "HOME": str(tmp_path)}
    genuine.status = 400
    with pytest.raises(TablewrightError, match="400"):
        await ask(load_settings({}, environ, tmp_path / "none.toml"))
    assert f"Bearer {SECRET}" in genuine.text
    file.write_text(file.read_text().replace(genuine.url, thief.url))
    with pytest.raises(TablewrightError):
        await ask(load_settings({}, environ, tmp_path / "none.toml"))
    assert thief.heard == []


async def test_a_webhook_is_not_signed_with_the_secret_of_another(
    tmp_path: Path, thief: Listener, genuine: Listener
) -> None:
    settings = Settings(webhook_url=genuine.url, webhook_secret=SECRET, fetch_allow="127.0.0.1", home=str(tmp_path))
    await send_webhook(settings, {"event": "test"})
    assert "x-tablewright-signature: sha256=" in genuine.text
    with pytest.raises(TablewrightError, match="webhook_secret would be sent to"):
        await send_webhook(replace(settings, webhook_url=thief.url), {"event": "test"})
    assert thief.heard == []


async def test_an_endpoint_without_a_key_needs_none(genuine: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the user has a key for another provider."""
    genuine.status = 400
    for model in ("openai:m", "ollama:m"):
        with pytest.raises(TablewrightError, match="400"):
            await ask(Settings(model=model, model_base_url=f"{genuine.url}/v1"))
    before = len(genuine.heard)
    monkeypatch.setenv("OLLAMA_BASE_URL", f"{genuine.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    elsewhere = Settings(model="openai:m", model_api_key=SECRET)
    with pytest.raises(TablewrightError, match="400"):
        await ask(replace(elsewhere, model="ollama:m"))
    assert len(genuine.heard) > before
    assert SECRET not in genuine.text
