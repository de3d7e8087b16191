"""How many tokens a text is, before anybody is asked.

Counted with the tokenizer that comes with the default embedder: it needs no network. Other models cut texts otherwise,
so an estimate has a margin; it is meant to be a little too high.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

MARGIN = 1.1
CHUNK = 20_000
"""Characters counted at once. Beyond this a text is counted by its beginning, which bounds the time."""


def estimate_tokens(text: str) -> int:
    if not text:
        return 0
    counted = len(tokenizer().encode(text[:CHUNK], add_special_tokens=False).ids)
    return int(counted * MARGIN * max(1.0, len(text) / CHUNK)) + 1


@cache
def tokenizer() -> Tokenizer:
    package = find_spec("wordllama")
    assert package is not None and package.origin is not None, "wordllama is a dependency of ours"
    file = Path(package.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    loaded = Tokenizer.from_file(str(file))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded
