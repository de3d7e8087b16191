from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import BadSetting, SearchError
from tablewright.secrets import find_secrets, mask_secrets
from tablewright.settings import DECLARED, Settings, read_setting, write_setting
from tablewright.settings_sources import change_settings, load_settings, read_saved, write_saved


def test_flags_win_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text('home = "from file"\ndatabase_url = "postgresql://file/x"\n')
    environ = {"TABLEWRIGHT_HOME": "from environment"}
    assert load_settings({"home": "from flag"}, environ, file).home == "from flag"
    assert load_settings({}, environ, file).home == "from environment"
    assert load_settings({}, {}, file).home == "from file"
    assert load_settings({}, {}, tmp_path / "missing.toml") == Settings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("homes = 'x'", "unknown setting 'homes'"), ("home = [3]", "must be a text"), ("home = ", "cannot be read")],
)
def test_a_mistake_in_the_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text(text)
    with pytest.raises(BadSetting, match=sentence):
        load_settings({}, {}, file)


def test_a_user_has_a_file_for_all_folders_below_the_folder_s_own(tmp_path: Path) -> None:
    own, folder = tmp_path / "tablewright" / "config.toml", tmp_path / "tablewright.toml"
    own.parent.mkdir()
    own.write_text('search = "exa"\nbudget = 2.5\noffline = true\nattempts = 2\nmodel_api_key = "k"\n')
    folder.write_text('search = "brave"\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "TABLEWRIGHT_ATTEMPTS": "1"}
    found = load_settings(environ=environ, file=folder)
    assert (found.search, found.budget, found.offline, found.attempts) == ("brave", 2.5, True, 1)
    folder.write_text('model_base_url = "https://elsewhere.example/v1"\n')
    with pytest.raises(BadSetting, match="your model key would be sent there"):
        load_settings(environ=environ, file=folder)
    own.write_text('serch = "exa"\n')
    with pytest.raises(BadSetting, match="Did you mean search"):
        load_settings(environ=environ, file=tmp_path / "none.toml")


def test_data_is_in_sqlite_in_the_home_folder_unless_a_database_is_named(tmp_path: Path) -> None:
    assert Settings(home=str(tmp_path)).database == f"sqlite:///{tmp_path / 'tablewright.db'}"
    assert Settings(database_url="postgresql://x/y").database == "postgresql://x/y"


@pytest.mark.parametrize("text", ["-1", "inf", "much"])
def test_an_amount_is_a_number_from_0_up(text: str) -> None:
    with pytest.raises(BadSetting, match="budget must be a number from 0 up"):
        Settings(budget=text)  # type: ignore[arg-type]
    assert Settings(budget=0).budget == 0


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"attempts": "2"}, 2),
        ({"threshold": "0.5"}, 0.5),
        ({"offline": "True"}, True),
        ({"model_timeout": "5 min"}, 300.0),
        ({"shortlist_seconds": "90s"}, 90.0),
        ({"quota_disk": "2 GB"}, 2_000.0),
        ({"token_days": "2 weeks"}, 14.0),
        ({"fetch_allow": "127.0.0.1, intranet"}, ("127.0.0.1", "intranet")),
        ({"sources": "docs, web"}, "docs,web"),
        ({"budget": " "}, None),
        ({"attempts": ""}, 3),
    ],
)
def test_a_setting_has_the_type_that_it_is_declared_with(given: dict[str, Any], found: object) -> None:
    (name,) = given
    settings = Settings(**given)
    assert getattr(settings, name) == found
    assert Settings(**{name: settings.texts[name]}) == settings, "as a text it is read back"


REFUSED = [
    ("attempts", "11", "a whole number from 1 to 10"),
    ("attempts", "2.5", "a whole number from 1 to 10"),
    ("threshold", "nan", "a number from 0 to 1"),
    ("evidence", "loose", "judged or strict"),
    ("log_level", "loud", "one of debug, info, warning or error"),
    ("log_format", "xml", "text or json"),
    ("telemetry", "graphite", "one of prometheus, otlp, prometheus,otlp or otlp,prometheus"),
    ("search_requests_per_second", "few", "a number above 0"),
    ("cascade", "maybe", "yes or no"),
    ("model_timeout", "5 parsecs", "a number of seconds above 0"),
    ("quota_rows", "inf", "a number from 0 up"),
    ("shortlist_seconds", "2 days", "a number of seconds from 1 to 86,400"),
    ("sources", "web,web", "one of web, docs, web,docs or docs,web"),
]


@pytest.mark.parametrize(("name", "text", "accepted"), REFUSED)
def test_a_value_is_refused_when_it_is_set_under_the_name_that_the_user_wrote(
    tmp_path: Path, name: str, text: str, accepted: str
) -> None:
    file, none = tmp_path / "tablewright.toml", tmp_path / "none.toml"
    file.write_text(f'{name} = "{text}"\n')
    variable = f"TABLEWRIGHT_{name.upper()}"
    said = re.escape(f"must be {accepted}, not '{text}'")
    with pytest.raises(BadSetting, match=f"^{variable} {said}"):
        load_settings({}, {variable: text}, none)
    with pytest.raises(BadSetting, match=f"^{name} in {re.escape(str(file))} {said}"):
        load_settings({}, {}, file)
    with pytest.raises(BadSetting, match=f"^--{name} {said}"):
        load_settings({name: text}, {}, none, flag_as_written=lambda name: f"--{name}")
    with pytest.raises(BadSetting, match=f"^{name} {said}"):
        Settings(**{name: text})
    if not DECLARED[name].is_own:
        with pytest.raises(BadSetting, match=f"^{name} in the record of the run {said}"):
            Settings().with_shared({name: text})


def test_a_value_from_the_settings_page_is_refused_under_its_label(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="“Spending limit per run, in dollars” must be a number from 0 up, not 'much'"):
        change_settings(Settings(), {"budget": "much"}, {}, tmp_path / "none.toml")
    (tmp_path / "settings.json").write_text('{"budget": "much"}')
    with pytest.raises(BadSetting, match=r"budget in .*settings\.json must be a number"):
        load_settings({}, {"TABLEWRIGHT_HOME": str(tmp_path)}, tmp_path / "none.toml")


def test_texts_of_earlier_versions_are_read_as_values(tmp_path: Path) -> None:
    recorded = {"attempts": "2", "cascade": "yes", "budget": "", "fetch_delay": "0.25", "gone": "x"}
    shared = Settings(budget=1).with_shared(recorded)
    assert (shared.attempts, shared.cascade, shared.budget, shared.fetch_delay) == (2, True, None, 0.25)
    assert {name: shared.shared[name] for name in ("attempts", "cascade", "budget")} == {
        "attempts": "2",
        "cascade": "yes",
        "budget": "",
    }
    (tmp_path / "settings.json").write_text('{"budget": "2.50", "budget_tokens": "1000", "evidence": "strict"}')
    loaded = load_settings({}, {"TABLEWRIGHT_HOME": str(tmp_path)}, tmp_path / "none.toml")
    assert (loaded.budget, loaded.budget_tokens, loaded.evidence) == (2.5, 1_000, "strict")


def test_every_setting_says_what_it_does_and_accepts_its_own_default() -> None:
    for name, declared in DECLARED.items():
        assert declared.help.endswith("."), name
        assert read_setting(name, write_setting(declared.default)) == declared.default


# ── secrets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

LOGINS = [
    ("postgresql://ann:p4ssw0rd@db.example/tw", "postgresql://…@db.example/tw"),
    ("postgresql://ann:p4ss/w0rd@db.example/tw", "postgresql://…@db.example/tw"),
    ("postgresql://db.example/tw?user=ann&password=p4ssw0rd", "postgresql://db.example/tw?user=ann&password=…"),
    ("searxng:https://ann:p4ss@w0rd@find.example", "searxng:https://…@find.example"),
    ("https://models.example/v1?api_key=p4ssw0rd&v=2", "https://models.example/v1?api_key=…&v=2"),
    ("https://p4ssw0rd@models.example/v1", "https://…@models.example/v1"),
    ("https://models.example/v1?model=a", "https://models.example/v1?model=a"),
    ("ann@example.org asks about 10:30", "ann@example.org asks about 10:30"),
]


@pytest.mark.parametrize(("address", "shown"), LOGINS)
def test_credentials_inside_an_address_are_masked(address: str, shown: str) -> None:
    assert mask_secrets(address) == shown
    assert mask_secrets(f"{address} cannot be reached") == f"{shown} cannot be reached"
    error = SearchError(f"“{address}” failed.", advice=f"Look at {address}.")
    assert "p4ss" not in f"{error} {error.what} {error.advice} {error!r}"
    assert not any(secret in shown for secret in find_secrets(address))


def test_settings_show_no_secret_and_keep_credentials_out_of_the_records_of_runs() -> None:
    settings = Settings(
        model_api_key="k3y-k3y",
        model_base_url="https://ann:p4ssw0rd@models.example/v1",
        search="searxng:https://s:p4ss@f",
    )
    for text in (repr(settings), str(settings.shown), str(settings.shared)):
        assert "p4ss" not in text
        assert "k3y" not in text
    assert settings.shown["model_api_key"] == "set, not shown"
    assert settings.shown["model_base_url"] == "https://…@models.example/v1"
    assert set(settings.secrets) >= {"k3y-k3y", "ann:p4ssw0rd", "p4ssw0rd", "p4ss"}


def test_a_worker_uses_its_own_credentials_for_the_address_of_a_run_or_says_that_it_has_none() -> None:
    settings = Settings(model_base_url="https://ann:p4ssw0rd@models.example/v1", model="openai:large")
    worker = Settings(model_base_url=settings.model_base_url)
    assert worker.with_shared(settings.shared) == settings
    with pytest.raises(BadSetting, match="does not have the login or key"):
        Settings().with_shared(settings.shared)
    plain = Settings(model_base_url="https://models.example/v1")
    assert Settings().with_shared(plain.shared) == plain


def folder_with(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "tablewright.toml"
    file.write_text(text)
    return file


REDIRECTS = [
    ('model_base_url = "https://other.example/v1"', {"TABLEWRIGHT_MODEL_API_KEY": "k"}),
    ('model = "anthropic:x"\nmodel_base_url = "https://other.example/v1"', {"ANTHROPIC_API_KEY": "k"}),
    ('embedder_base_url = "https://other.example/v1"', {"TABLEWRIGHT_EMBEDDER_API_KEY": "k"}),
    ('search = "brave:https://other.example"', {"TABLEWRIGHT_SEARCH_API_KEY": "k"}),
    ('search = "brave:https://other.example?a=://trusted.example"', {"TABLEWRIGHT_SEARCH_API_KEY": "k"}),
    ('search = "brave:https://other.example\\\\@trusted.example"', {"TABLEWRIGHT_SEARCH_API_KEY": "k"}),
]


@pytest.mark.parametrize(("text", "environ"), REDIRECTS)
def test_a_folder_s_file_cannot_send_the_user_s_key_to_its_own_address(
    tmp_path: Path, text: str, environ: dict[str, str]
) -> None:
    file = folder_with(tmp_path, text)
    with pytest.raises(BadSetting, match=r"your \w+ key would be sent there") as refused:
        load_settings({}, environ | {"TABLEWRIGHT_TRUSTED_HOSTS": "trusted.example"}, file)
    assert "TABLEWRIGHT_TRUSTED_HOSTS" in refused.value.advice
    assert load_settings({}, {}, file), "without a key there is nothing to send"


def test_a_folder_s_address_is_used_with_its_own_key_or_where_the_user_trusts_it(tmp_path: Path) -> None:
    environ = {"TABLEWRIGHT_MODEL_API_KEY": "k"}
    address = "https://other.example/v1"
    file = folder_with(tmp_path, f'model_base_url = "{address}"\n')
    trusting = environ | {"TABLEWRIGHT_TRUSTED_HOSTS": "a.example, Other.example"}
    assert load_settings({}, trusting, file).model_base_url == address
    assert load_settings({}, environ | {"TABLEWRIGHT_MODEL_BASE_URL": address}, file).model_base_url == address
    assert load_settings({"model_base_url": address}, environ, file).model_base_url == address
    own = folder_with(tmp_path, f'model_base_url = "{address}"\nmodel_api_key = "own"\n')
    assert load_settings({}, {}, own).model_api_key == "own"
    with pytest.raises(BadSetting, match="your model key"):
        load_settings({}, environ, own)
    vouching = folder_with(tmp_path, f'model_base_url = "{address}"\ntrusted_hosts = "other.example"\n')
    with pytest.raises(BadSetting, match="cannot vouch for itself"):
        load_settings({}, environ, vouching)


# ── what is saved on the page ────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_saved_holds_below_the_file_and_the_environment(tmp_path: Path) -> None:
    write_saved(tmp_path, {"model": "openai:saved", "evidence": "strict", "budget": "3"})
    file = tmp_path / "tablewright.toml"
    file.write_text('evidence = "judged"\n')
    loaded = load_settings({}, {"TABLEWRIGHT_HOME": str(tmp_path), "TABLEWRIGHT_MODEL": "openai:environment"}, file)
    assert (loaded.model, loaded.evidence, loaded.budget) == ("openai:environment", "judged", 3)
    write_saved(tmp_path, {"budget": ""})
    assert read_saved(tmp_path) == {"model": "openai:saved", "evidence": "strict"}
    with pytest.raises(BadSetting, match="token cannot be saved"):
        write_saved(tmp_path, {"token": "x"})


def test_a_saved_key_is_worth_nothing_without_its_other_file(tmp_path: Path) -> None:
    write_saved(tmp_path, {"model": "openai:x", "model_api_key": "sk-secret"})
    assert read_saved(tmp_path)["model_api_key"] == "sk-secret"
    (tmp_path / "settings.key").unlink()
    assert read_saved(tmp_path) == {"model": "openai:x"}


def test_a_key_goes_to_no_address_that_it_is_not_for(tmp_path: Path) -> None:
    none = tmp_path / "none.toml"
    settings = Settings(model="openai:x", model_base_url="http://a.example/v1", model_api_key="sk-secret")
    same, _ = change_settings(settings, {"model": "openai:y"}, {}, none)
    assert same.model_api_key == "sk-secret"
    moved, saved = change_settings(settings, {"model_base_url": "http://b.example/v1"}, {}, none)
    assert (moved.model_api_key, saved["model_api_key"]) == ("", "")
    environ = {"TABLEWRIGHT_MODEL_API_KEY": "sk-secret"}
    with pytest.raises(BadSetting, match="key would be sent there"):
        change_settings(settings, {"model_base_url": "http://b.example/v1"}, environ, none)
    with pytest.raises(BadSetting, match="set by TABLEWRIGHT_MODEL"):
        change_settings(settings, {"model": "openai:y"}, {"TABLEWRIGHT_MODEL": "openai:x"}, none)
    home = tmp_path / "theirs"
    home.mkdir()
    write_saved(home, {"model": "openai:x", "model_base_url": "http://b.example/v1"})
    with pytest.raises(BadSetting, match="key would be sent there"):
        load_settings({}, environ | {"TABLEWRIGHT_HOME": str(home)}, none)


@pytest.mark.parametrize(
    ("rows", "at_once", "slices"), [(40, 8, 5), (40, 20, 2), (40, None, 5), (3, 8, 1), (None, 8, None)]
)
def test_rows_that_ask_one_model_at_once_are_counted_in_slices(
    rows: int | None, at_once: int | None, slices: int | None
) -> None:
    assert Settings(model_concurrency=rows, concurrency=at_once).slices_everywhere == slices
