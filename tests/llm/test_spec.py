from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from pydantic_ai import Agent

from tablewright import extras
from tablewright.errors import BadSetting
from tablewright.llm.build import build_model
from tablewright.llm.spec import LOCAL_ANSWER_SECONDS, ModelSpec, build_access, parse_model_spec
from tablewright.settings import Settings
from tests.llm.tiny_gguf import write_tiny_model


def test_builtin_is_no_model() -> None:
    assert build_model(Settings()) is None
    assert parse_model_spec("builtin") is None


def test_a_model_is_written_as_provider_and_name() -> None:
    assert parse_model_spec("OpenAI:gpt-5-mini") == ModelSpec(provider="openai", argument="gpt-5-mini")
    assert parse_model_spec("ollama:qwen3:8b") == ModelSpec(provider="ollama", argument="qwen3:8b")


@pytest.mark.parametrize("text", ["gpt-5-mini", "openai:", "openai: "])
def test_a_text_without_provider_or_name_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="not written as PROVIDER:NAME"):
        parse_model_spec(text)


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        BadSetting, match=r"no model provider 'acme'.*builtin.*anthropic, google, local, ollama, openai"
    ):
        build_model(Settings(model="acme:x"))


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai:a", "OPENAI_API_KEY"), ("anthropic:a", "ANTHROPIC_API_KEY"), ("google:a", "GOOGLE_API_KEY")],
)
def test_a_missing_key_is_named(model: str, variable: str) -> None:
    with pytest.raises(BadSetting, match=f"no key for .*{variable}"):
        build_model(Settings(model=model))


async def test_every_provider_can_be_built_with_a_key() -> None:
    for model in ("openai:gpt-4o-mini", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash", "ollama:llama3.2"):
        built = build_model(Settings(model=model, model_api_key="k"))
        assert built is not None
        async with built:
            assert built.name == model


def test_a_model_on_this_machine_is_waited_for_longer_unless_somebody_says_how_long() -> None:
    assert (
        build_access(Settings()).answer_seconds(),
        build_access(Settings()).answer_seconds(LOCAL_ANSWER_SECONDS),
    ) == (120, 1800)
    assert build_access(Settings(model_timeout="7")).answer_seconds(LOCAL_ANSWER_SECONDS) == 7


def test_a_base_url_must_be_one() -> None:
    with pytest.raises(BadSetting, match="model_base_url must begin with http"):
        build_model(Settings(model="openai:a", model_base_url="localhost:8000"))


@pytest.mark.parametrize("setting", ["model_timeout", "model_requests_per_minute", "model_tokens_per_minute"])
@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan"])
def test_a_number_that_cannot_work_is_refused(setting: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"{setting} must be a number( of seconds)? above 0"):
        build_model(Settings(**{"model": "ollama:a", setting: value}))


def test_a_missing_model_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"no model file 'nothing\.gguf'"):
        build_model(Settings(model="local:nothing.gguf", home=str(tmp_path)))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(BadSetting, match="is not a GGUF model"):
        build_model(Settings(model=f"local:{tmp_path / 'a.gguf'}"))


def test_a_catalog_model_that_is_not_pulled_says_how_to_pull_it(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"models pull qwen2\.5-coder-1\.5b-instruct-q4"):
        build_model(Settings(model="local:qwen2.5-coder-1.5b-instruct-q4", home=str(tmp_path)))


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny_model(tmp_path / "tiny.gguf")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(BadSetting, match=re.escape(extras.install_command("local"))):
        build_model(Settings(model=f"local:{tmp_path / 'tiny.gguf'}"))


async def test_another_package_can_bring_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "parrot_models.py").write_text(
        "from pydantic_ai.models.test import TestModel\n"
        "def parrot(argument, access):\n"
        "    return TestModel(custom_output_text=argument + access.api_key)\n"
    )
    metadata = tmp_path / "parrot_models-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot-models\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tablewright.models]\nparrot = parrot_models:parrot\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    built = build_model(Settings(model="parrot:hello", model_api_key="!"))
    assert built is not None
    assert (await Agent(built.agent_model).run("Hi")).output == "hello!"
