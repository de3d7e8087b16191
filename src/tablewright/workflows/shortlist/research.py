"""The RESEARCH phase: find candidates, choose the columns to compare, and get more of either.

Every step that costs something is estimated and confirmed first. The table is written through `ProductComparison`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from tablewright.domain.model import Step, column_key
from tablewright.domain.shortlist import (
    EDIT,
    ENRICH,
    MODIFY,
    PRICE_FIELD,
    PRODUCT_COLUMN,
    TRY_AGAIN,
    ChatReply,
    Phase,
    ReplySentence,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import cell_text
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.shortlist.columns import MAX_EXAMPLE_PAGES, ColumnsToPropose, ProposeColumns
from tablewright.llm.tasks.shortlist.turn import TurnTaken
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.strategies.subject import is_from_documents
from tablewright.workflows.shortlist.advice import present_comparison
from tablewright.workflows.shortlist.comparison import ProductComparison, count_pending, ensure_table
from tablewright.workflows.shortlist.comparison_answers import ComparisonAnswers
from tablewright.workflows.shortlist.context import Taken, TurnContext
from tablewright.workflows.shortlist.explore import Explored, ProductExploration
from tablewright.workflows.shortlist.ranking import format_product_cell
from tablewright.workflows.shortlist.understanding import find_missing_fields, understand_message
from tablewright.workflows.shortlist.wording import make_reply, make_sentences, record_refinement


class ProductSearch:
    """The steps of a turn that search or fill."""

    def __init__(self, context: TurnContext) -> None:
        self._context = context

    async def search(self, state: ShortlistState, *, like: str = "", count: int = 0) -> Taken:
        """Find candidates and propose columns for confirmation. A further search keeps the columns and fills only new
        rows; without new ones, the existing rows are ranked by the current requirements."""
        state = structs.replace(state, phase="research", waiting="")
        state = await ensure_table(self._context, state)
        comparison = ProductComparison(self._context, state)
        table = await comparison.table()
        known = [cell_text(row.cell(PRODUCT_COLUMN)) for row in table.rows]
        exploration = ProductExploration(
            state.requirements,
            self._context.tools,
            self._context.limits,
            known=(*known, *state.removed),
            tried=state.tried,
            language=state.language,
            tell=self._context.tell,
        )
        found = await exploration.run(like, count)
        if found.failed:
            return self._nothing(state, found)
        state = structs.replace(state, tried=(*state.tried, *found.queries))
        if not (found.products or known):
            return self._nothing(state, found)
        new = await comparison.add_products(found.products)
        if not state.has_presented:
            return await self._propose(state, found, len(known) + new if known else new + found.left_out)
        notes = (*found.notes, *await comparison.fill())
        heading = (
            state.translate("{count} more found.", count=new)
            if new
            else state.translate("No further product was found; what is there was ranked again.")
        )
        names = [each.name for each in found.products]
        return await present_comparison(self._context, state, make_sentences(heading), notes=notes, found=names)

    def _nothing(self, state: ShortlistState, found: Explored) -> Taken:
        problem = (
            state.translate("The search failed: {why}", why=found.failed)
            if found.failed
            else state.translate("No product was found.")
        )
        kept = state.translate(
            "The comparison is kept. Try again, or change what is wanted."
            if state.has_presented
            else "Your requirements are kept. Try again, or change what is wanted."
        )
        phase: Phase = "advise" if state.has_presented else "intake"
        state = structs.replace(state, phase=phase, waiting="")
        return state, make_reply((), *found.notes, problem, kept, buttons=(TRY_AGAIN, EDIT))

    async def _propose(self, state: ShortlistState, found: Explored, count: int) -> Taken:
        model = self._context.tools.model
        official = {each.official_url for each in found.products}
        of_maker = {page.domain: page for page in reversed(found.pages) if page.origin in official}
        named = Counter(each.origin for product in found.products for each in product.evidence)
        others = sorted((page for page in found.pages if page.origin not in official), key=lambda p: -named[p.origin])
        # The first of the other pages names most products: a test or a shop's list.
        pages = [*reversed(of_maker.values())][: MAX_EXAMPLE_PAGES - 1] + others
        asked = ColumnsToPropose(
            requirements=state.requirements,
            fields=state.columns,
            sources=tuple(pages),
            room=min(model.text_room, TEXT_LIMITS.example_pages) if model is not None else 0,
        )
        self._context.tell(Step(type="thinking", detail="Choosing what to compare them by."))
        outcome = await decide(ProposeColumns(), asked, model, self._context.tell)
        state = structs.replace(state, proposed=outcome.decided, columns=(), waiting="fields")
        lines = [state.translate("{count} candidate found.|{count} candidates found.", count=count), *found.notes]
        if outcome.degraded:
            lines.append(state.translate("The columns are those of your wishes alone: {why}", why=outcome.degraded))
        return await self.proposed(state, make_sentences(*lines))

    async def proposed(self, state: ShortlistState, said: Sequence[ReplySentence]) -> Taken:
        names = ", ".join(localize_column_name(field.name, state.language) for field in state.proposed)
        likely = await ProductComparison(self._context, state).estimate(state.proposed)
        searches = state.translate("{count} search|{count} searches", count=likely.searches)
        pages = state.translate("{count} page|{count} pages", count=likely.pages)
        parts = [state.translate("at most {searches} and {pages}", searches=searches, pages=pages)]
        if likely.calls.likely:
            parts.append(
                state.translate("about {count} model call|about {count} model calls", count=round(likely.calls.likely))
            )
        if likely.cost_usd is not None and likely.cost_usd.likely:
            parts.append(f"${likely.cost_usd.likely:.2f}")
        effort = state.translate(
            "Filling {count} cell takes {parts}; what was read already is not asked for again.|"
            "Filling {count} cells takes {parts}; what was read already is not asked for again.",
            count=likely.cells,
            parts=", ".join(parts),
        )
        compared = state.translate("I would compare: {columns}.", columns=names)
        return state, make_reply(said, compared, effort, buttons=(ENRICH, MODIFY))

    async def columns(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        drop = {column_key(name) for name in turn.drop_columns}
        comparison = ProductComparison(self._context, state)
        if state.waiting == "fields":
            kept = [field for field in state.proposed if column_key(field.name) not in drop]
            proposed = (*kept, *find_missing_fields(None, turn.columns, kept)) or (PRICE_FIELD,)
            state = structs.replace(state, proposed=proposed)
            if not turn.products:
                return await self.proposed(state, turn.said)
            about = {column_key(name) for name in (*turn.about_columns, *(field.name for field in turn.columns))}
            of_them = [field for field in proposed if not about or column_key(field.name) in about]
            await comparison.add_fields(of_them)
            return state, await self._looked_up(state, turn, message, [field.name for field in of_them])
        hidden = await comparison.hide_fields(turn.drop_columns) if drop else []
        said = [*turn.said]
        if hidden:
            said += make_sentences(
                state.translate(
                    "No longer shown: {columns}. What was found stays in the table.", columns=", ".join(hidden)
                )
            )
        shown = (await comparison.table()).fields
        wanted = [field for name in turn.about_columns for field in shown if column_key(field.name) == column_key(name)]
        if not turn.columns and not wanted:
            return state, make_reply(said)
        asked = turn.columns if turn.products else (*state.columns, *turn.columns)  # what waits to be confirmed, too
        new = await comparison.add_fields((*asked, *wanted))
        state = record_refinement(state, f"added {', '.join(new)}", message)
        names = list(dict.fromkeys((*new, *(field.name for field in wanted))))
        if turn.products:
            return state, await self._looked_up(state, turn, message, names)
        # Already in the table, though perhaps not among the columns shown last.
        if not new and not count_pending(await comparison.table(), wanted):
            return state, await ComparisonAnswers(self._context, state).show(turn)
        state = structs.replace(state, columns=())
        notes = await comparison.fill(fields=names)
        heading = state.translate("Now part of the comparison: {columns}.", columns=", ".join(names))
        table = await comparison.table()
        cells = [row.cell(name) for row in table.rows for name in names]
        if any(cell.value is not None or cell.needs_work for cell in cells):
            return await present_comparison(
                self._context, state, (*make_sentences(heading), *said), notes=notes, new=names
            )
        none = [state.translate("{column} was found for none of the candidates.", column=name) for name in names]
        return state, make_reply(
            (*make_sentences(heading), *said), *none, *notes
        )  # the order and the advice stay as they are

    async def _looked_up(self, state: ShortlistState, turn: TurnTaken, message: str, columns: list[str]) -> ChatReply:
        """Fill cells for a question, then let the model answer it from the table if it can."""
        found = await ComparisonAnswers(self._context, state).look_up(turn, columns)
        filled = structs.replace(state, has_presented=True)
        answer, _ = await understand_message(self._context, filled, message)
        is_answered = answer.intent == "question" and answer.said
        return structs.replace(found, said=answer.said) if is_answered else found

    async def more(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        comparison = ProductComparison(self._context, state)
        table = await comparison.table()
        like = next((row for row in table.rows if row.id == turn.like), None)
        # Values from the user's documents must not leave the machine in a search.
        public = [each for each in table.shown_fields if like and not is_from_documents(like.cell(each.name))]
        pairs = [(field.name, format_product_cell(like, field)) for field in public] if like else []
        described = "; ".join(f"{name}: {value}" for name, value in pairs if value)
        if turn.requirements.product_type:
            state = structs.replace(state, requirements=turn.requirements)
        if new := await comparison.add_fields(find_missing_fields(table, (*state.columns, *turn.columns))):
            await comparison.fill(fields=new)
        state = structs.replace(state, columns=())
        state = record_refinement(
            state, f"more options{f' like {cell_text(like.cell(PRODUCT_COLUMN))}' if like else ''}", message
        )
        return await self.search(state, like=described, count=turn.count)
