"""Personal data that a person may type: never sent to a search engine. Formats only: e-mail addresses, telephone and
card numbers, bank accounts."""

from __future__ import annotations

import re

_PERSONAL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?\b"
    r"|(?<![\w.,])\+?\(?\d(?:[\s()/-]{0,2}\d){8,18}(?![\w.,]\d)"
)


def without_personal_data(text: str) -> str:
    return " ".join(_PERSONAL.sub(" ", text).split())
