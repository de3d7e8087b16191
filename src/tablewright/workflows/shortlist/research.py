"""The RESEARCH phase: find candidates, choose the columns to compare, and get more of either.

Every step that costs something is estimated and confirmed first. The table is written through `ProductComparison`.

`ProductExploration` finds candidates with their makers and official pages: ten to fifteen queries, the results worth
opening, and whole pages read for products; a second round searches for what they leave open. The model decides each
step; code proves its quotes and addresses and enforces the limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import structs
from msgspec.structs import replace

from tablewright.domain.model import Evidence, Field, Row, Step, Struct, Table, column_key
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import (
    EDIT,
    ENRICH,
    GO_ON,
    MODIFY,
    OFFERED_AS_COLUMN,
    PRICE_FIELD,
    PRODUCT_COLUMN,
    STANDING_FIELDS,
    TRY_AGAIN,
    ChatReply,
    PendingRefinement,
    Phase,
    Product,
    ReplySentence,
    Requirements,
    ShortlistLimits,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import cell_text, count_noun
from tablewright.llm.tasks.choose_pages import pages_for_products
from tablewright.llm.tasks.decision import Tell, decide
from tablewright.llm.tasks.shortlist.columns import MAX_EXAMPLE_PAGES, ColumnsToPropose, ProposeColumns
from tablewright.llm.tasks.shortlist.products import (
    FindProducts,
    FoundProducts,
    PagesForProducts,
    merge_products,
    one_quote_per_page,
)
from tablewright.llm.tasks.shortlist.searches import PlanSearches, SearchesToPlan
from tablewright.llm.tasks.shortlist.turn import TurnTaken
from tablewright.llm.text_budget import TEXT_LIMITS, split_batches
from tablewright.messages.catalogue import localize_figure, translate
from tablewright.strategies.gathering import Gathering, make_offer
from tablewright.strategies.strategy import Tools
from tablewright.strategies.subject import allow_queries, is_from_documents, require_web
from tablewright.text import remove_personal_data
from tablewright.values.money import BUNDLED_RATES
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.web.source import Hit
from tablewright.workflows.shortlist.advice import present_comparison
from tablewright.workflows.shortlist.comparison import (
    MAX_PAGES_PER_PRODUCT,
    ProductComparison,
    count_pending,
    ensure_table,
    make_product_cells,
)
from tablewright.workflows.shortlist.comparison_answers import ComparisonAnswers
from tablewright.workflows.shortlist.context import Taken, TurnContext
from tablewright.workflows.shortlist.ranking import format_product_cell, rank_products
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
        exploration.avoid(state.read)
        found = await exploration.run(like, count)
        if found.failed:
            return self._nothing(state, found)
        # The products that were left out are found there again.
        read = () if found.left_out else (page.origin for page in found.pages)
        state = structs.replace(state, tried=(*state.tried, *found.queries), read=(*state.read, *read))
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
        say = self._context.translate_for(state)
        lines = [say("{count} candidate found.|{count} candidates found.", count=count), *found.notes]
        if outcome.degraded:
            lines.append(state.translate("The columns are those of your wishes alone: {why}", why=outcome.degraded))
        return await self.proposed(state, make_sentences(*lines))

    async def proposed(self, state: ShortlistState, said: Sequence[ReplySentence]) -> Taken:
        names = ", ".join(localize_column_name(field.name, state.language) for field in state.proposed)
        compared = state.translate("I would compare: {columns}.", columns=names)
        effort = await self.fill_effort(state, state.proposed)
        return state, make_reply(said, compared, effort, buttons=(ENRICH, MODIFY))

    async def fill_effort(self, state: ShortlistState, fields: Sequence[Field]) -> str:
        """Say what filling these columns takes."""
        likely = await ProductComparison(self._context, state).estimate(fields)
        searches = state.translate("{count} search|{count} searches", count=likely.searches)
        pages = state.translate("{count} page|{count} pages", count=likely.pages)
        parts = [state.translate("at most {searches} and {pages}", searches=searches, pages=pages)]
        if likely.calls.likely:
            parts.append(
                state.translate("about {count} model call|about {count} model calls", count=round(likely.calls.likely))
            )
        if likely.cost_usd is not None and likely.cost_usd.likely:
            parts.append(f"${localize_figure(f'{likely.cost_usd.likely:.2f}', state.language)}")
        return state.translate(
            "Filling {count} cell takes {parts}; what was read already is not asked for again.|"
            "Filling {count} cells takes {parts}; what was read already is not asked for again.",
            count=likely.cells,
            parts=", ".join(parts),
        )

    def search_effort(self, state: ShortlistState) -> dict[str, Any]:
        """Return the limits of a search for products, and its price, as a text says them."""
        searches = self._context.limits.queries * EXPLORATION_ROUNDS
        price = self._context.policy.search_price * searches
        return {
            "searches": searches,
            "pages": MAX_FIRST_ROUND_PAGES + MAX_FIRST_ROUND_PAGES // 2,
            "price": f", ${localize_figure(f'{price:.2f}', state.language)}" if price else "",
        }

    async def to_confirm(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken | None:
        """Say what more products or new columns take, and wait for a yes; None if the user wants it at once, or if it
        takes nothing."""
        if turn.is_ready or turn.products or state.waiting == "fields":
            return None
        table = await self._context.table(state)
        if turn.intent == "more":
            effort = state.translate(
                "That takes up to {searches} searches and {pages} pages to find more{price}; each of up to {count} new "
                "ones is then compared like the others.",
                count=min(turn.count or self._context.limits.products, self._context.limits.products),
                **self.search_effort(state),
            )
        else:
            there = [field for name in turn.about_columns if (field := table.field(name)) is not None]
            fields = [
                *find_missing_fields(table, turn.columns),
                *(each for each in there if count_pending(table, [each])),
            ]
            if not fields:
                return None
            effort = await self.fill_effort(state, fields)
        refinement = PendingRefinement(
            intent="more" if turn.intent == "more" else "columns",
            message=message,
            requirements=turn.requirements,
            columns=turn.columns,
            drop_columns=turn.drop_columns,
            about_columns=turn.about_columns,
            like=turn.like,
            count=turn.count,
        )
        state = structs.replace(state, waiting="refinement", refinement=refinement)
        return state, make_reply(turn.said, effort, buttons=(GO_ON,))

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
        say = self._context.translate_for(state)
        none = [say("{column} was found for none of the candidates.", column=name) for name in names]
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


# ── exploration ───────────────────────────────────────────────────────────────────────────────────────────────────────

# The second round only closes what the first left open.
EXPLORATION_ROUNDS = 2
# Pages opened in the first round; the second opens half as many.
MAX_FIRST_ROUND_PAGES = 30


class Explored(Struct, frozen=True, gc=True):
    """The result of an exploration. `notes` tell the user that few were found or a search failed; `failed` says why no
    search worked at all."""

    products: tuple[Product, ...]
    queries: tuple[str, ...]
    pages: tuple[Retrieved, ...] = ()
    notes: tuple[str, ...] = ()
    failed: str = ""
    left_out: int = 0
    """Number of products that were found but exceed the limit."""


class ProductExploration(Gathering):
    """Everything searched and opened for one exploration, so that its limits hold for all of it."""

    def __init__(
        self,
        requirements: Requirements,
        tools: Tools,
        limits: ShortlistLimits,
        *,
        known: Sequence[str] = (),
        tried: Sequence[str] = (),
        language: str = "",
        tell: Tell,
    ) -> None:
        super().__init__(require_web(tools), tools.model, tell)
        self.search_seconds = limits.search_seconds
        self.products: list[Product] = []
        self._requirements = requirements
        self._limits = limits
        self._known = {row_key(name): name for name in known}
        self._tried = tried
        self._language = language
        self._degraded: dict[str, None] = {}
        self._places: dict[str, int] = {}
        """The best rank of each product among those read in the same batch of pages."""
        self._mentions: dict[str, list[tuple[Evidence, ...]]] = {}
        """The passages that name each product, per batch."""
        self._states = {
            value for wish in requirements.wishes if wish.column == OFFERED_AS_COLUMN for value in wish.values
        }

    async def run(self, like: str = "", most: int = 0) -> Explored:
        """Find products that are not known yet; search once more and more broadly if none is found."""
        with track_provenance(Provenance(self._requirements, list(self._known.values()), list(self._tried), like)):
            await self._plan(like, broader=False)
            if not self.products:
                await self._plan(like, broader=True)
            if self.model is None:
                self.products.sort(key=lambda each: not self._is_product_page(each))
            # More than 50 would make filling the table expensive.
            products = self._most_suitable(min(most or self._limits.products, self._limits.products, 50))
            # Opened now, so that the first cells are read from pages that are already there.
            await self.open([each.official_url for each in products if each.official_url])
        return self._outcome(products, most)

    def _is_product_page(self, product: Product) -> bool:
        return any(page.is_product for each in product.evidence if (page := self.page_of(each.origin)))

    async def _plan(self, like: str, *, broader: bool) -> None:
        most = self._limits.queries - len(self.queries) if broader else self._limits.queries
        asked = SearchesToPlan(
            requirements=self._requirements,
            # The exploration is planned for ten to fifteen queries; fewer only if the limit says so.
            least=min(10, max(1, most)),
            most=max(most, 3),
            sent=(*self._tried, *self.queries),
            known=tuple(self._known.values()),
            like=like,
            broader=broader,
        )
        self._tell(Step(type="thinking", detail="Planning the searches."))
        planned = await self.decide(PlanSearches(), asked, ())
        queries: Sequence[str] = planned.decided
        allow_queries(queries, is_replanned=True)
        self._note(planned.degraded)
        for round in range(EXPLORATION_ROUNDS):
            # Results that earlier queries had found count again: they may fit these queries better.
            hits = await self.search_all(list(filter(None, map(remove_personal_data, queries))))
            pages = await self._open_best(hits, MAX_FIRST_ROUND_PAGES if round == 0 else MAX_FIRST_ROUND_PAGES // 2)
            queries = await self._read(pages, is_last=round == EXPLORATION_ROUNDS - 1)
            if self.model is None or not queries or self._is_enough:
                break

    def _note(self, degraded: str) -> None:
        if degraded:
            self._degraded[self.translate("Without the model, pages stand for products: {why}", why=degraded)] = None

    @property
    def _is_enough(self) -> bool:
        return len(self.products) >= self._limits.products and all(each.official_url for each in self.products)

    def _too_slow(self) -> str:
        seconds = round(self._limits.search_seconds)
        return self.translate("the search took longer than {seconds} s", seconds=seconds)

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the conversation."""
        return translate("shortlist", text, self._language, **values)

    async def _open_best(self, hits: Sequence[Hit], most: int) -> tuple[Retrieved, ...]:
        lacking = tuple(each.name for each in self.products if not each.official_url)
        chosen = await self.choose(pages_for_products(self._requirements, lacking), most, hits)
        return await self.open(chosen.decided)

    async def _read(self, pages: Sequence[Retrieved], *, is_last: bool) -> tuple[str, ...]:
        """Read the pages in batches that fit the model, each knowing the products found before; return its further
        queries."""
        queries: list[str] = []
        room = self.model.text_room if self.model is not None else TEXT_LIMITS.default_room
        left = max(0, self._limits.queries - 2)
        for batch in split_batches(
            # A long page counts as half the room, so that at least two pages share a batch.
            pages,
            lambda page: min(len(page.text), room // 2) + TEXT_LIMITS.around_page,
            room=room,
        ):
            detail = f"Looking for products in {count_noun(len(batch), 'page')}."
            self._tell(Step(type="thinking", detail=detail))
            # Further searches that the model may request while it reads pages.
            asked = PagesForProducts(
                requirements=self._requirements,
                sources=batch,
                known=(*self._known.values(), *(each.name for each in self.products)),
                room=room,
                queries=0 if is_last else 6,
                closed=tuple(make_offer(self.hits[origin]) for origin in self.refusals if origin in self.hits),
                addresses=frozenset(self.hits),
            )
            outcome = await self.decide(FindProducts(), asked, [page.origin for page in batch])
            found: FoundProducts = outcome.decided
            self._note(outcome.degraded)
            new = [each for each in found.products if row_key(each.name) not in self._known]
            for place, each in enumerate(new):
                key = row_key(each.name)
                # The best rank counts, because each batch ranks only its own products.
                self._places[key] = min(place, self._places.get(key, place))
                self._mentions.setdefault(key, []).append(each.evidence)
            pages_of = ({each.origin for reading in of for each in reading} for of in self._mentions.values())
            named = Counter(origin for pages_named in pages_of for origin in pages_named)
            self.products = [
                replace(each, evidence=spread(self._mentions[row_key(each.name)], each.official_url, named))
                for each in merge_products(self.products, new, self._states)
            ]
            queries += found.queries
        return tuple(dict.fromkeys(queries))[:left]

    def _most_suitable(self, most: int) -> list[Product]:
        """Return the most suitable products, in the order found. The model ranks them within each batch; those that
        surely fail, such as discontinued ones, come last."""
        if len(self.products) <= most:
            return self.products
        rows = [Row(id=number, cells=make_product_cells(each)) for number, each in enumerate(self.products)]
        table = Table(id="", name="", fields=STANDING_FIELDS, rows=tuple(rows))
        out = {each.row_id for each in rank_products(table, self._requirements, BUNDLED_RATES).excluded}
        places = [self._places[row_key(each.name)] for each in self.products]
        order = sorted(range(len(self.products)), key=lambda number: (number in out, places[number]))
        return [self.products[number] for number in sorted(order[:most])]

    def _outcome(self, products: Sequence[Product], most: int) -> Explored:
        notes = list(self._degraded)
        problems = list(self.problems(self.queries).values())
        failed = problems[0] if problems and not self.hits else ""
        if problems and not failed:
            count = len(problems)
            of, why = len(self.queries), problems[0]
            notes.append(self.translate("{count} of {all} searches failed: {why}", count=count, all=of, why=why))
        left_out = len(self.products) - len(products)
        if left_out and not most:
            further = self.translate(
                "{count} more was found and left out; the limit allows no more at once.|"
                "{count} more were found and left out; the limit allows no more at once.",
                count=left_out,
            )
            limited = self.translate(
                "{count} of them is compared; the limit allows no more.|"
                "{count} of them are compared; the limit allows no more.",
                count=len(products),
            )
            notes.append(further if self._known else limited)
        # With fewer candidates the reply says that availability is limited.
        if 0 < len(products) < min(10, most or self._limits.products) and not self._known:
            few = self.translate(
                "Only {count} was found: there may be few of them.|Only {count} were found: there may be few of them.",
                count=len(products),
            )
            notes.append(few)
        return Explored(
            products=tuple(products),
            queries=tuple(self.queries),
            pages=tuple(self.pages.values()),
            notes=tuple(notes),
            failed=failed,
            left_out=left_out,
        )


def spread(readings: Sequence[Sequence[Evidence]], official: str, named: Mapping[str, int]) -> tuple[Evidence, ...]:
    """Return the evidence with the pages worth opening first: the official page, then per site the page that names the
    fewest products (`named` counts them), since it says most about this one. The first of each reading comes before the
    second of any."""
    found = one_quote_per_page([each for reading in readings for each in reading])
    turns = [each.origin for turn in zip_longest(*readings) for each in turn if each is not None]
    origins = sorted(dict.fromkeys(turns), key=lambda origin: named.get(origin, 0))
    first = {registrable_domain(origin): origin for origin in reversed(origins)}
    looked_at = sorted(origins, key=lambda origin: (origin != official, origin not in first.values()))[
        :MAX_PAGES_PER_PRODUCT
    ]
    return tuple(sorted(found, key=lambda each: each.origin not in looked_at))
