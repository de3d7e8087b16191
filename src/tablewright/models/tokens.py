"""How many tokens a text is, before anybody is asked.

Counted with the tokenizer that comes with the default embedder: it needs no network. Other models cut texts otherwise,
so an estimate has a margin; it is meant to be a little too high. Without the extra `documents`, which brings the
tokenizer, it follows from the number of bytes.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.extras import is_installed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARGIN = 1.15
WHOLE = 2_048
"""Characters that are counted in full; a longer text is counted in slices, spread over it. Counting a page of 8,000
characters would take 3 ms of CPU, as much as asking a model."""
SLICES = 4
BYTES = 3
"""Of a token, where there is no tokenizer to count them; those of English prose have 4."""
CUT_OFF = "it was cut off at {limit} tokens. Be shorter."
"""What a model is told whose answer did not end."""


def estimate_tokens(text: str) -> int:
    counts = tokenizer()
    if not text or counts is None:
        return -(-len(text.encode()) // BYTES)
    length = WHOLE // SLICES
    if len(text) <= WHOLE:
        slices = [text]
    else:
        slices = [text[(len(text) - length) * n // (SLICES - 1) :][:length] for n in range(SLICES)]
    counted = sum(len(counts.encode(piece, add_special_tokens=False).ids) for piece in slices)
    return int(counted * MARGIN * len(text) / sum(map(len, slices))) + 1


@cache
def tokenizer() -> Tokenizer | None:
    package = find_spec("wordllama") if is_installed("documents") else None
    if package is None:
        return None
    from tokenizers import Tokenizer

    file = Path(package.origin or "").parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    loaded = Tokenizer.from_file(str(file))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded
