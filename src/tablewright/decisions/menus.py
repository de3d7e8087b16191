"""Words of menus, which say nothing of what a page is about."""

from __future__ import annotations

from tablewright.text.words import stems

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


def is_navigation(line: str) -> bool:
    """Whether every word of the line is one of menus: "TEAM SITES", "Sign in"."""
    words = stems(line)
    return not words or all(word in NAVIGATION or word in SITES or word.isdigit() for word in words)
