"""Writes the adviser's recorded conversations so that people can read them: evals/transcripts, from tests/recordings.

python evals/transcripts.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "transcripts"
RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings"
TITLES = {
    "shortlist_kettle": "A kettle, from a wish to a purchase",
    "shortlist_lamp": "A desk lamp, in German",
    "shortlist_follow_ups": "Somebody vague and in a hurry",
}
ABOUT = "The adviser on the sample world, with recorded answers of a large language model (`tests/recordings`)."


def path_of(name: str) -> Path:
    return FOLDER / f"{name.replace('_', '-')}.md"


def written(name: str) -> str:
    recording = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    parts = [f"# {TITLES[name]}", ABOUT]
    for turn in recording["result"]["turns"]:
        parts += parts_of(turn)
    return "\n\n".join(parts) + "\n"


def parts_of(turn: dict[str, Any]) -> Iterator[str]:
    yield f"**You:** {turn['message']}"
    if turn["said"]:
        yield lines(turn["said"])
    if turn["cards"]:
        yield "\n".join(card(place, *each) for place, each in enumerate(turn["cards"], start=1))
    if turn["offers"]:
        yield "\n".join(f"- {' · '.join(filter(None, map(str, offer)))}" for offer in turn["offers"])
    if turn["notes"]:
        yield lines(turn["notes"])
    if turn["buttons"]:
        yield " ".join(f"[{label}]" for label in turn["buttons"])


def lines(texts: list[str]) -> str:
    return "  \n".join(texts)


def card(place: int, name: str, score: float, best_for: str, *said: str) -> str:
    about = f"score {score:.2f}" + (f", best for {best_for}" if best_for else "")
    return f"{place}. **{name}** ({about}). {' '.join(said)}".rstrip()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in TITLES:
        path_of(each).write_text(written(each), encoding="utf-8")
