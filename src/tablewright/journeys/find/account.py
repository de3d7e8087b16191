"""The account of a search for rows: how many, how sure that all are found, what was read, what was not reached."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.conditions.evaluate import Spellings
from tablewright.domain.condition import describe_condition
from tablewright.domain.coverage import CountEstimate
from tablewright.domain.listing import FoundRows, Listing, UndecidedRow
from tablewright.domain.text import cell_text
from tablewright.journeys.find.conditions import judge_row
from tablewright.journeys.find.things import ListedThing, estimate, things_of
from tablewright.messages.catalogue import translate
from tablewright.store.store import Store
from tablewright.values.money import BUNDLED, Rates


async def account(store: Store, listing: Listing, rates: Rates = BUNDLED, language: str = "") -> FoundRows:
    """In the language, as far as it speaks of how complete the list is."""
    table = await store.tables.load(listing.table_id)
    plan, things = listing.plan, things_of(listing)
    aside = {each.key for each in listing.aside}
    present = {row.id for row in table.rows}
    mine = [thing for thing in things if listing.placed.get(thing.key) in present]
    left_over = [thing for thing in things if thing.key not in listing.placed and thing.key not in aside]
    undecided = []
    assumed: dict[str, None] = {}
    for row in table.rows:
        judged = judge_row(row.cells, plan, Spellings(), rates)
        assumed |= dict.fromkeys(filter(None, (judged.guess, judged.rate and rates.used([judged.rate]))))
        if judged.truth == "not stated":
            undecided.append(UndecidedRow(name=cell_text(row.cell(table.key_field)), reason=judged.reason))
    likely, sites = estimate([*mine, *left_over])
    return FoundRows(
        table_id=table.id,
        name=table.name,
        question=plan.question,
        things=plan.things,
        status=listing.status,
        problem=listing.problem,
        columns=tuple(field.name for field in table.fields),
        conditions=tuple(map(describe_condition, plan.conditions)),
        said=plan.said,
        wanted=listing.rows,
        rows=len(table.rows),
        found=len(things),
        undecided=tuple(undecided),
        assumed=tuple(assumed),
        aside=listing.aside,
        left_over=len(left_over),
        estimate=likely,
        completeness=completeness(likely, sites, mine, left_over, language),
        queries=listing.queries,
        failed_queries=listing.failed_queries,
        read=tuple(source.origin for source in listing.sources if source.status in ("read", "nothing")),
        unreached={
            source.origin: f"{source.status}: {source.detail}"
            for source in listing.sources
            if source.status not in ("read", "nothing")
        }
        | dict.fromkeys(listing.waiting, "not opened yet"),
        by_model=plan.by_model,
        usage=listing.usage,
    )


def completeness(
    likely: CountEstimate | None,
    sites: int,
    mine: Sequence[ListedThing],
    left_over: Sequence[ListedThing],
    language: str,
) -> str:
    """How sure it is that all are found, in words that claim no more than the overlap of the lists shows."""
    if not mine and not left_over:
        return translate("find", "Nothing was found, so nothing can be said of how many there are.", language)
    if likely is None:
        return translate(
            "find",
            "How many are missing cannot be estimated: no two sites list several of them."
            if sites < 2
            else "How many are missing cannot be estimated: the {count} sites that list them share too few.",
            language,
            count=sites,
        )
    if likely.high <= likely.found:
        return translate(
            "find",
            "{count} independent sites list the same {found}; nothing points to more, which is no proof "
            "that there are none.",
            language,
            count=likely.passes,
            found=likely.found,
        )
    return translate(
        "find",
        "Likely about {likely} in all ({low} to {high}), estimated from what {count} independent sites "
        "list alike; what no such list has is not counted.",
        language,
        likely=likely.likely,
        low=likely.low,
        high=likely.high,
        count=likely.passes,
    )
