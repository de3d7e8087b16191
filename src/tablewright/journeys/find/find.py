"""Find rows: a description of things becomes a living table of them.

With a model: it plans the table (`decisions/plan_list`); lists are searched for, chosen and read whole (`gather`,
`decisions/read_lists`); code joins what several pages say of one thing (`things`), makes it a row (`search`), applies
the conditions to its cells (`conditions`) and says how complete the list is (`account`). The engine looks for what no
list states, beginning with the thing's own page. Without a model: the tables whose headers are named as the asked
columns, and called just that.

Whatever was read is kept page by page, so that a search that was cut off goes on where it was, and `more` adds to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.conditions.comparable import check_condition
from tablewright.conditions.evaluate import fields_by_key
from tablewright.decisions.decision import decide
from tablewright.decisions.plan_list import ListToPlan, PlanList
from tablewright.domain.condition import Condition
from tablewright.domain.listing import (
    DEFAULT_ROWS,
    MOST_ROWS,
    FoundRows,
    Listing,
    ListPlan,
)
from tablewright.domain.model import Field, column_key
from tablewright.domain.text import shortened
from tablewright.domain.usage import metered
from tablewright.errors import RunError, UsageError
from tablewright.journeys.find.account import account
from tablewright.journeys.find.search import FindContext, Search, ignore_step
from tablewright.store.records import printable

LONGEST_NAME = 60


class Finder(FindContext):
    async def begin(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        conditions: Sequence[Condition] = (),
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Planned, with a table that has no rows yet; nothing is searched."""
        question = printable(" ".join(question.split()))
        if not question:
            raise UsageError(
                "It is not said what to find.", advice='Say it: "Nordic fintechs with more than 100 staff".'
            )
        if not 1 <= rows <= MOST_ROWS:
            raise UsageError(f"From 1 to {MOST_ROWS:,} rows can be found at a time.")
        known = fields_by_key(fields)
        unknown = [column for each in conditions for column in each.columns if column_key(column) not in known]
        doubled = len(known) < len(fields)
        if doubled or (unknown and self.tools.model is None):
            said = "A column was asked for twice." if doubled else f"{unknown[0]!r} is not among the columns."
            raise UsageError(said, advice="Name each column once, and those of the conditions among them.")
        for condition in conditions:
            field = known.get(column_key(condition.column)) or Field(name=condition.column)
            if fault := check_condition(condition, field):
                raise UsageError(f"{fault[:1].upper()}{fault[1:]}")
        asked = ListToPlan(
            question=question, today=self.today().isoformat(), fields=tuple(fields), conditions=tuple(conditions)
        )
        with metered() as meter:
            outcome = await decide(PlanList(), asked, self.tools.model, ignore_step)
            if outcome.degraded:
                raise RunError(
                    f"The list could not be planned: {outcome.degraded}", kept="Nothing was made.", advice="Try again."
                )
        plan: ListPlan = outcome.decided
        plan = msgspec.structs.replace(plan, fields=tuple(asked_of(plan, field) for field in plan.fields))
        table = await self.store.tables.create(
            shortened(plan.things[:1].upper() + plan.things[1:], LONGEST_NAME),
            plan.fields,
            key_field=plan.key,
            actor=self.actor,
            note=f"find rows: {question}",
        )
        return await self.store.listings.keep(Listing(table_id=table.id, plan=plan, rows=rows, usage=meter.usage))

    async def run(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> FoundRows:
        """To the end, or on from where it was cut off. `more`: further rows, for `rows` in all."""
        listing = await self.store.listings.get(table_id)
        if listing.status == "done" and not more:
            return await account(self.store, listing, self.rates)
        if more and not rows and await self.store.tables.count(table_id) >= listing.rows:
            rows = min(listing.rows + DEFAULT_ROWS, MOST_ROWS)
        search = Search(self, listing, fill=fill, rows=rows, insists=more and listing.status == "done")
        return await search.run()


def asked_of(plan: ListPlan, field: Field) -> Field:
    """Every column but the first is found from it."""
    inputs = () if field.name == plan.key else (plan.key,)
    return msgspec.structs.replace(field, depends_on=inputs, question="" if field.name == plan.key else field.question)
