"""Context windows: the tokens that a model can take in at once, question and answer together.

pydantic-ai knows most of them, from the list that `genai-prices` carries; ours fill its gaps.
"""

from __future__ import annotations

from pydantic_ai.models import Model

UNKNOWN_WINDOW = 16_000
"""What a model is trusted with of which nothing is known."""

KNOWN = (
    ("anthropic", "claude-", 200_000),
    ("google", "gemini-", 1_048_576),
    ("ollama", "", 4_096),  # what its server gives any model on a small machine; it cuts a longer question off silently
    ("openai", "gpt-", 128_000),
)
"""Provider, beginning of the name, tokens: the smallest among the models in use in November 2026."""


def known_window(model: Model) -> int | None:
    """None where nobody knows."""
    if listed := model.context_window:
        return listed
    for provider, beginning, tokens in KNOWN:
        if model.system == provider and model.model_name.startswith(beginning):
            return tokens
    return None
