"""A question while it is being read: quotations and notes in parentheses are put aside, and what is understood is
struck out, so that every reader sees only what the earlier ones left. Places in the text stay what they are."""

from __future__ import annotations

import re
import unicodedata

from tablewright.table.model import Noun
from tablewright.table.numbers import plain

LONGEST = 2_000
STRUCK = "¦"
QUOTE = r'"[\ue000-\uf8ff]+"'

_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
_QUOTED = re.compile(r"(?<![\w\"])\"([^\"]{1,200})\"(?!\w)|(?<![\w'])'([^']{2,200})'(?!\w)")
_ASIDE = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_PLURAL_MARK = re.compile(r"(?<=\w)\((?:s|es|en|n)\)")


class Aside(Noun, frozen=True):
    """What a pair of parentheses at `start:end` holds."""

    text: str
    start: int
    end: int


def tidy(text: str) -> str:
    """One alphabet of quotes, spaces and digits; "receipt(s)" means receipts."""
    text = unicodedata.normalize("NFC", text[:LONGEST]).translate(_SAME)
    return " ".join(_PLURAL_MARK.sub("s", plain(text)).split())


class Marked:
    """`text` has blanks for parentheses and a sign for each quotation; `whole` is the question itself."""

    def __init__(self, text: str) -> None:
        self.whole = tidy(text)
        self.phrases: list[str] = []
        masked = _QUOTED.sub(self._put_by, self.whole)
        self.asides = [
            Aside(text=self.whole[found.start() + 1 : found.end() - 1], start=found.start(), end=found.end())
            for found in _ASIDE.finditer(masked)
        ]
        self.text = _ASIDE.sub(lambda found: " " * len(found[0]), masked)

    def _put_by(self, quoted: re.Match[str]) -> str:
        self.phrases.append((quoted[1] or quoted[2]).strip())
        sign = chr(0xE000 + len(self.phrases) - 1)
        return f'"{sign * (len(quoted[0]) - 2)}"'

    def strike(self, start: int, end: int) -> None:
        self.text = self.text[:start] + STRUCK * (end - start) + self.text[end:]

    def said(self, start: int, end: int) -> str:
        """As it was written, without the notes in between."""
        words = self.whole[start:end]
        for aside in reversed(self.asides):
            if start <= aside.start < end:
                words = words[: aside.start - start] + words[aside.end - start :]
        return " ".join(words.split()).strip(" ,;?.")

    def phrase(self, sign: str) -> str:
        """The quotation that a sign stands for."""
        return self.phrases[ord(sign.strip('"')[0]) - 0xE000]

    def aside_in(self, start: int, end: int) -> Aside | None:
        return next((aside for aside in self.asides if start <= aside.start < end), None)
