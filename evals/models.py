"""Which model an evaluation runs with: one set of options, the settings that follow, and the name of the column."""

from __future__ import annotations

import argparse

# Seconds for an answer: a small model here, and a person or a queue behind an endpoint, take their time.
PATIENCE = "1800"


def add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="builtin", help="builtin (no model), or as in the settings: openai:NAME")
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible endpoint, e.g. http://127.0.0.1:8000/v1")
    parser.add_argument("--model-window", default="", help="tokens that the model takes in, where that is not known")


def model_settings(args: argparse.Namespace) -> dict[str, str]:
    return {
        "model": args.model,
        "model_base_url": args.base_url,
        "model_api_key": "none" if args.base_url else "",
        "model_window": args.model_window,
        "model_timeout": PATIENCE,
    }


def column(args: argparse.Namespace) -> str:
    """What the figures are recorded under: builtin, the name of a model behind an endpoint, or the provider."""
    provider, _, name = args.model.partition(":")
    return name if args.base_url else provider
