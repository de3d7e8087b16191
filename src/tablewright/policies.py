"""From settings to how rows are tried again, what costs money and time beside the model, and what a person may use."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.access import METERED, Acting, Metered, Person
from tablewright.domain.research import Extent
from tablewright.domain.shortlist import ShortlistLimits
from tablewright.engine.policy import RetryPolicy, Terms
from tablewright.settings import Settings
from tablewright.values.money import BUNDLED, Rates, read_rates


def retry_policy(settings: Settings) -> RetryPolicy:
    return RetryPolicy(
        attempts=settings.attempts,
        threshold=settings.threshold,
        require_improvement=settings.require_improvement,
    )


def terms_of(settings: Settings) -> Terms:
    return Terms(
        search_price=settings.search_price,
        fetch_delay=settings.fetch_delay,
        offline=settings.offline,
        pause_after=settings.pause_after,
    )


def shortlist_limits(settings: Settings) -> ShortlistLimits:
    return ShortlistLimits(
        products=settings.shortlist_products,
        queries=settings.shortlist_queries,
        seconds=settings.shortlist_seconds,
        search_seconds=settings.shortlist_search_seconds,
        retries=settings.shortlist_retries,
    )


def research_extent(settings: Settings) -> Extent:
    return Extent(
        searches=settings.research_searches,
        first_searches=settings.research_first_searches,
        checking_searches=settings.research_checking_searches,
        pages=settings.research_pages,
        rounds=settings.research_rounds,
        claims=settings.research_claims,
        sites=settings.research_sites,
        memo_tokens=settings.research_memo_tokens,
        items=settings.research_items,
    )


def rates_of(settings: Settings) -> Rates:
    return read_rates(Path(settings.rates).expanduser()) if settings.rates else BUNDLED


def usual_limits(settings: Settings) -> dict[Metered, float]:
    """Return what each user may use who has no limit of their own."""
    limits = {what: getattr(settings, f"quota_{what}") for what in METERED}
    return {what: most for what, most in limits.items() if most is not None}


def acting_for(person: Person, *, door: str) -> Acting:
    return Acting(person=person, actor=person.name, door=door)
