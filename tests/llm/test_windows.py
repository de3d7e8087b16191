"""How much a model can take in at once: what is known of it, what the settings say, a safe guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import BadSetting
from tablewright.health import check_model
from tablewright.llm.build import build_model
from tablewright.llm.tokens import DEFAULT_WINDOW_TOKENS
from tablewright.settings import Settings
from tests.llm.tiny_gguf import write_tiny_model

ELSEWHERE = "http://127.0.0.1:9/v1"


def window(model: str, **settings: Any) -> int:
    built = build_model(Settings(model=model, model_api_key="k", **settings))
    assert built is not None
    return built.window


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("openai:gpt-4o", 128_000),
        ("openai:gpt-4", 8_192),
        ("anthropic:claude-sonnet-4-5", 200_000),
        ("google:gemini-2.5-pro", 1_048_576),
        ("ollama:llama3.1", 4_096),
    ],
)
def test_the_windows_of_well_known_models_are_known(model: str, tokens: int) -> None:
    assert window(model) == tokens


def test_a_model_that_nobody_knows_gets_a_safe_guess_and_a_setting_overrides_it() -> None:
    assert window("openai:own-model", model_base_url=ELSEWHERE) == DEFAULT_WINDOW_TOKENS
    assert window("openai:own-model", model_base_url=ELSEWHERE, model_window="64000") == 64_000
    assert window("ollama:llama3.1", model_window="32768") == 32_768
    with pytest.raises(BadSetting, match="model_window must be a whole number from 1 up, not 'large'"):
        window("openai:gpt-4o", model_window="large")


def test_what_is_asked_fits_the_second_model_too() -> None:
    assert window("openai:gpt-5-mini", model_fallback="openai:gpt-4") == 8_192
    assert window("openai:gpt-4o", model_fallback="ollama:llama3.1", model_window="100000") == 4_096


def test_a_local_model_is_loaded_with_8192_tokens_or_what_it_was_trained_on_or_what_the_setting_says(
    tmp_path: Path,
) -> None:
    pytest.importorskip("xllamacpp")
    small = write_tiny_model(tmp_path / "small.gguf")
    assert window(f"local:{small}") == 2_048
    assert window(f"local:{small}", model_window="1024") == 1_024
    large = tmp_path / "large.gguf"
    large.write_bytes(small.read_bytes().replace((2_048).to_bytes(4, "little"), (131_072).to_bytes(4, "little"), 1))
    assert window(f"local:{large}") == 8_192
    assert window(f"local:{large}", model_window="20000") == 20_000


async def test_doctor_shows_the_window_and_says_when_it_is_a_guess() -> None:
    known = await check_model(Settings(model="openai:gpt-4o", model_api_key="k"))
    assert "openai:gpt-4o, 128,000 tokens at once" in known.detail
    assert known.advice == ""
    guessed = await check_model(Settings(model="openai:own-model", model_base_url=ELSEWHERE))
    assert "16,000 tokens at once" in guessed.detail
    assert "set model_window" in guessed.advice
