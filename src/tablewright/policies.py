"""From settings to how rows are tried again, what costs money and time beside the model, and what a person may use."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.access import METERED, Acting, Metered, Person
from tablewright.domain.research import Extent
from tablewright.domain.shortlist import MOST, ShortlistLimits
from tablewright.engine.fill import Terms
from tablewright.engine.policy import RetryPolicy
from tablewright.errors import BadSetting
from tablewright.settings import Settings, number, yes_or_no
from tablewright.values.money import BUNDLED, Rates, read_rates

MOST_ATTEMPTS = 10


def retry_policy(settings: Settings) -> RetryPolicy:
    attempts = settings.attempts.strip()
    if not (attempts.isdecimal() and 1 <= int(attempts) <= MOST_ATTEMPTS):
        raise BadSetting(f"attempts must be a whole number from 1 to {MOST_ATTEMPTS}, not {attempts!r}.")
    least = number(settings.threshold, "threshold")
    if least is None or least > 1:
        raise BadSetting(f"threshold must be a number from 0 to 1, not {settings.threshold!r}.")
    improve = yes_or_no(settings.require_improvement, "require_improvement")
    return RetryPolicy(attempts=int(attempts), threshold=least, require_improvement=improve)


def terms_of(settings: Settings) -> Terms:
    delay = number(settings.fetch_delay, "fetch_delay")
    return Terms(
        search_price=number(settings.search_price, "search_price") or 0.0,
        fetch_delay=0.5 if delay is None else delay,
        offline=yes_or_no(settings.offline, "offline"),
        pause_after=pause_after(settings),
    )


def documents_unasked(settings: Settings) -> int:
    return whole(settings, "documents_unasked", 0, 1_000_000)


def shortlist_limits(settings: Settings) -> ShortlistLimits:
    return ShortlistLimits(
        products=whole(settings, "shortlist_products", 1, MOST),
        queries=whole(settings, "shortlist_queries", 1, 15),
        seconds=whole(settings, "shortlist_seconds", 1, 86_400),
        search_seconds=whole(settings, "shortlist_search_seconds", 1, 600),
        retries=whole(settings, "shortlist_retries", 0, 2),
    )


def research_extent(settings: Settings) -> Extent:
    return Extent(
        searches=whole(settings, "research_searches", 1, 200),
        first_searches=whole(settings, "research_first_searches", 1, 20),
        checking_searches=whole(settings, "research_checking_searches", 0, 10),
        pages=whole(settings, "research_pages", 1, 20),
        rounds=whole(settings, "research_rounds", 1, 3),
        claims=whole(settings, "research_claims", 0, 10),
        sites=whole(settings, "research_sites", 1, 20),
        memo_tokens=whole(settings, "research_memo_tokens", 500, 20_000),
        items=whole(settings, "research_items", 1, 100),
    )


def whole(settings: Settings, name: str, least: int, most: int) -> int:
    text = getattr(settings, name).strip()
    if not (text.isdecimal() and least <= int(text) <= most):
        raise BadSetting(f"{name} must be a whole number from {least:,} to {most:,}, not {text!r}.")
    return int(text)


def rates_of(settings: Settings) -> Rates:
    return read_rates(Path(settings.rates).expanduser()) if settings.rates.strip() else BUNDLED


def usual_limits(settings: Settings) -> dict[Metered, float]:
    """Return what each user may use who has no limit of their own."""
    limits = {what: number(getattr(settings, f"quota_{what}"), f"quota_{what}") for what in METERED}
    return {what: most for what, most in limits.items() if most is not None}


def acting_for(person: Person, *, door: str) -> Acting:
    return Acting(person=person, actor=person.name, door=door)


def pause_after(settings: Settings) -> int:
    text = settings.pause_after.strip()
    if not (text.isdecimal() and int(text) >= 1):
        raise BadSetting(f"pause_after must be a whole number from 1 up, not {settings.pause_after!r}.")
    return int(text)
