"""Check the names and texts that people enter: names of tables, files and users, and requests to the program.

A name with invisible characters, or with marks that reverse the text around it, is not what it seems. Neither is a user
name that looks like another one, such as "ann" with a Cyrillic letter. No I/O.
"""

from __future__ import annotations

import re
import unicodedata

from tablewright.errors import UsageError
from tablewright.extras import require_extra

# Zero-width joiners belong to the spelling of words in some scripts, and to emoji.
JOINERS = "\u200c\u200d"


def check_name(name: str, of: str) -> None:
    """Refuse a name with invisible characters. `of` is what it names, as in "a table"."""
    for character in name:
        unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS
        if unseen:
            raise UsageError(
                f"The name of {of} has a character that cannot be seen (U+{ord(character):04X}).",
                kept="Nothing was changed.",
                advice="Give a name without it.",
            )


def check_user_name(name: str) -> None:
    """Refuse what `check_name` refuses, and joiners, slashes and dots: the name becomes part of paths and addresses."""
    check_name(name, "a user")
    if any(character in "/\\" + JOINERS for character in name) or name in (".", ".."):
        raise UsageError("The name of a user has no slashes, and is not a dot.", advice="Give another name.")
    if not name or len(name) > 80:
        raise UsageError("A user needs a name of at most 80 characters.")


def look_alike(one: str, other: str) -> bool:
    """Return True if people could confuse the two names."""
    return bool(visual_forms(one) & visual_forms(other))


def visual_forms(name: str) -> frozenset[str]:
    """Return forms that are equal for names that look alike, as written and in lower case: "AIice" equals "Alice" as
    written, "ANN" equals "ann" in lower case."""
    plain = unicodedata.normalize("NFKC", name)
    return frozenset((confusable_skeleton(plain).casefold(), confusable_skeleton(plain.casefold())))


def confusable_skeleton(text: str) -> str:
    """Replace each character that Unicode lists as confusable by one representative of its group."""
    require_extra("server", "Adding users")
    # A megabyte of data: loaded only to add users.
    from confusable_homoglyphs.confusables import confusables_data

    def alike(character: str) -> list[str]:
        return [each["c"] for each in confusables_data.get(character, ())]

    def representative(character: str) -> str:
        # The table has a prototype ("l", or "rn") under each that looks like it, and all of these under the prototype.
        group = alike(character)
        if len(group) != 1:
            return character
        other = group[0]
        return min(character, other) if len(other) == len(alike(other)) == 1 else other

    return "".join(map(representative, unicodedata.normalize("NFD", text)))


# Reading may take time in proportion to the square of the length, and no question needs more.
MAX_REQUEST_CHARACTERS = 4_000


def check_request_text(said: str, what: str = "question") -> str:
    """Return the text without repeated spaces and blank lines. Raise UsageError for a longer one: no question needs it,
    and reading a question may take time in proportion to the square of its length."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in said.split("\n"))
    text = "\n".join(line for line in lines if line)
    if len(text) > MAX_REQUEST_CHARACTERS:
        raise UsageError(
            f"The {what} has {len(text):,} characters; at most {MAX_REQUEST_CHARACTERS:,} are read, "
            "and nothing was done.",
            advice="Say it in fewer words, or add what it quotes as a document.",
        )
    return text
