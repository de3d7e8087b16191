"""Lines that only look like a label and its value: menus, the heads of tables, and lists of choices."""

from __future__ import annotations

from tablewright.extraction.kinds import option_in
from tablewright.extraction.passages import Pair
from tablewright.extraction.relations import by_name
from tablewright.extraction.wanted import Wanted
from tablewright.text.words import normal, stems

NAMED: frozenset[str] = frozenset(("name", "organisation", "title", "person", "place"))
LONGEST_ITEM = 40
SHORT = 4  # characters of the head of a narrow column: "Min", "FG%"

NAVIGATION = frozenset(
    stems(
        """about account alert all archive article back blog browse career chat close column compare contact content
        conference depth directory division download draft edit event fact faq fantasy feature feed feedback
        forum gallery galleries game glossary headline help highlight history home homepage index info injury injuries
        join leader link list log login logout main map match member menu message mobile more my navigation news
        newsletter next note odds official online other overview page photo player playoff podcast policy poll position
        preview previous print privacy profile ranking record register report result review roster rss rumor schedule
        score scoreboard search season section see share shop show sign site sitemap skip sport standings stats
        statistics status store story stories stream subscribe team terms ticket tool top total transaction tv
        update upload video view watch wire year in out up us your and of by the for a to"""
    )
)
SITES = frozenset(("facebook", "instagram", "linkedin", "pinterest", "reddit", "twitter", "youtube"))


def is_navigation(line: str, own: frozenset[str] = frozenset()) -> bool:
    """Whether every word of the line is one of menus, or one of the label's `own`: "TEAM SITES", "Sign in"."""
    words = stems(line)
    return not words or all(word in NAVIGATION or word in SITES or word in own or word.isdigit() for word in words)


def ends_in_navigation(line: str) -> bool:
    """ "Latest News", "Game Log"."""
    words = stems(line)
    return bool(words) and words[-1] in NAVIGATION


def is_no_value(want: Wanted, pair: Pair) -> bool:
    """Whether the line below a heading without a colon is the next of many, and not what the heading speaks of."""
    if want.kind == "option":
        other, value = option_in(want, pair.then), option_in(want, pair.value)
        return other is not None and value is not None and other.value != value.value
    if want.kind not in NAMED:
        return False
    if _is_in_menu(want, pair) or _heads_columns(pair):
        return True
    return _is_plural(want, pair.label) and _is_item(pair.then)


def states_another(want: Wanted, value: str) -> bool:
    """Whether the value is itself a label with its value, of something else: "Height: 6-1" beside "Team: …"."""
    label, colon, _ = value.partition(":")
    if not colon or want.kind not in NAMED:
        return False
    relation = by_name().get(normal(label))
    return relation is not None and relation is not want.relation


def _is_in_menu(want: Wanted, pair: Pair) -> bool:
    """ "Sign in"; but "Facebook" only where the menu goes on below it, because it may be who owns something."""
    if not is_navigation(pair.value, want.label_words):
        return False
    return not SITES.issuperset(stems(pair.value)) or (bool(pair.then) and is_navigation(pair.then))


def _heads_columns(pair: Pair) -> bool:
    """ "Team", then "G", then "Min": the heads of a table's columns; but "Year" after "Sony" is the next label.

    Where labels go on in a row ("Pos", "Ht", "Wt", or "G", "MPG", "PPG"), none of them has a value.
    """
    if not pair.then or pair.then.isdigit():
        return False
    short = len(pair.value) <= SHORT and len(pair.then) <= SHORT
    if _is_label(pair.then):
        return short and (_is_label(pair.after) or (pair.then.isupper() and _is_letters(pair.after)))
    return short or len(pair.value) == 1


def _is_letters(line: str) -> bool:
    return 0 < len(line) <= SHORT and not any(character.isdigit() for character in line)


def _is_label(line: str) -> bool:
    return normal(line) in by_name()


def _is_plural(want: Wanted, label: str) -> bool:
    """ "Teams" above many, where one team is asked for."""
    return normal(label) not in want.labels and " ".join(stems(label)) != normal(label)


def _is_item(line: str) -> bool:
    return 0 < len(line) <= LONGEST_ITEM and ":" not in line
