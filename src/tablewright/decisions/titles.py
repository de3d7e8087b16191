"""What a page is about, and whose it is, by its title alone.

"Halden & Rourke – Candlewick Encyclopedia" is about Halden & Rourke, and a page of the Candlewick Encyclopedia.
"""

from __future__ import annotations

import re

from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold

ALIKE = 5
"""Letters at the beginning that a site's name and its address have in common."""
LONG_TITLE = 4
"""Words from which on a title whose words are mostly small is a headline."""
_PARTS = re.compile(r"\s+[|·–—»:]+\s+|\s+-\s+|:\s+")
_BRACKETS = re.compile(r"\s*\([^)]*\)$")


def thing_of(source: Retrieved) -> str:
    """The title without the name of the site, if it has more, and what stands in brackets behind it."""
    parts = _parts(source)
    kept = [part for part in parts if not _is_site(part, source)] if len(parts) > 1 else parts
    return _BRACKETS.sub("", kept[0] if kept else min(parts, key=len, default=source.title))


def site_name(source: Retrieved) -> str:
    """The part of the title that is the name of the site, else its domain."""
    return next((part for part in _parts(source) if _is_site(part, source)), source.domain)


def _parts(source: Retrieved) -> list[str]:
    return [part.strip() for part in _PARTS.split(source.title) if part.strip()]


def _is_site(part: str, source: Retrieved) -> bool:
    label = re.sub(r"[^a-z0-9]", "", source.domain.split(".")[0].casefold())
    letters = "".join(re.findall(r"[a-z0-9]+", fold(part)))
    if len(label) < ALIKE or not letters:
        return letters == label
    return label in letters or letters.removeprefix("the")[:ALIKE] == label[:ALIKE]


def names_a_thing(title: str) -> bool:
    """Whether it can be the name of something: neither a headline ("Acme orders 25 lorries") nor what every site calls
    one of its pages ("Corporate profile")."""
    if _PAGE.fullmatch(title) or re.fullmatch(r"(?:An?|The|How|Why|What|When|Where|Who)\s[^A-Z]+", title):
        return False
    words = [word for word in re.findall(r"[^\W\d_][\w’'-]*", title) if len(word) > 3 or word[0].isupper()]
    return len(words) < LONG_TITLE or 2 * sum(word[0].isupper() for word in words[1:]) >= len(words) - 1


_PAGE = re.compile(
    r"(?:(?:about|all|corporate|company|contact|full|our|the) )*(?:us|about|business(?:es)?|company|contact|history|"
    r"home|home ?page|leadership|management|news|overview|people|press|products?|profile|team|welcome)",
    re.IGNORECASE,
)
