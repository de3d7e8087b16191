"""Names that people give, of tables, files and users: whether they can be read, and told apart.

A name with a character that nobody sees, or that turns the text around it, is not what it seems to be. Nor is a user's
name that looks like another's: "ann" with a Cyrillic letter beside "ann".
"""

from __future__ import annotations

import unicodedata

from tablewright.errors import UsageError
from tablewright.extras import need

JOINERS = "\u200c\u200d"
"""Which belong to the spelling of words in some scripts, and to emoji."""


def check_name(name: str, of: str) -> None:
    """`of` is what it names, as in "a table"."""
    for character in name:
        unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS
        if unseen:
            raise UsageError(
                f"The name of {of} has a character that cannot be seen (U+{ord(character):04X}).",
                kept="Nothing was changed.",
                advice="Give a name without it.",
            )


def check_user_name(name: str) -> None:
    """As any name, without joiners, and without what makes a path or an address of it."""
    check_name(name, "a user")
    if any(character in "/\\" + JOINERS for character in name) or name in (".", ".."):
        raise UsageError("The name of a user has no slashes, and is not a dot.", advice="Give another name.")
    if not name or len(name) > 80:
        raise UsageError("A user needs a name of at most 80 characters.")


def look_alike(one: str, other: str) -> bool:
    """Return True if people could take one name for the other."""
    return bool(appearances(one) & appearances(other))


def appearances(name: str) -> frozenset[str]:
    """Return what the name looks like, in its own capitals and in small letters: "AIice" is "Alice" in the one, "ANN"
    is "ann" in the other."""
    plain = unicodedata.normalize("NFKC", name)
    return frozenset((skeleton(plain).casefold(), skeleton(plain.casefold())))


def skeleton(text: str) -> str:
    """Each character in the place of which Unicode lists others that look like it, by one of them."""
    need("server", "Adding users")
    from confusable_homoglyphs.confusables import confusables_data  # a megabyte, for those who add users

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
