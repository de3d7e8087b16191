"""What the advisor replies: sentences that stand on cells, the best five, where to buy, the file that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.shortlist import Card, CellRef, ChatReply, ReplySentence, ShopListing
from tablewright.doors.web.citations import open_cell
from tablewright.doors.web.elements import Shown, bar, grid, inline, outside, paragraph, quiet, row, safe, when
from tablewright.doors.web.words import language, t
from tablewright.messages.catalogue import translate

MOST_CELLS = 6


def show_reply(reply: ChatReply, table_id: str, file: tuple[str, bytes] | None) -> None:
    for each in reply.said:
        show_sentence(each, table_id)
    for best in reply.cards:
        show_card(best, table_id)
    if reply.rows:
        rows: list[list[Shown]] = [list(line) for line in reply.rows]
        if reply.cards:
            with ui.expansion(t("Side by side")).props("dense"):
                grid(reply.columns, rows, t("Comparison"))
        else:
            grid(reply.columns, rows, t("Comparison"))
    if reply.listings:
        grid(
            [t("Product"), t("Shop"), t("Price"), t("In stock"), t("Seen")],
            [listing_line(each) for each in reply.listings],
            t("Where to buy"),
        )
    for each in reply.notes:
        show_sentence(each, table_id)
    if file is not None:
        name, content = file
        ui.button(
            t("Download {name}", name=safe(name, 80)),
            icon="download",
            on_click=lambda: ui.download.content(content, name),
        ).props("outline").style("align-self: flex-start")


def show_sentence(each: ReplySentence, table_id: str) -> None:
    """A sentence, and the cells it stands on; those open the source."""
    with ui.element("div").classes("tw-cited"):
        inline(each.text)
        for cell in list({cell.field: cell for cell in reversed(each.cells)}.values())[::-1][:MOST_CELLS]:
            button = inline(cell.field, "button").classes("tw-cite").props("type=button")
            button.props["aria-label"] = t("Show the source of {field}", field=safe(cell.field, 60))
            button.on("click", partial(open_ref, table_id, cell))


async def open_ref(table_id: str, cell: CellRef) -> None:
    await open_cell(table_id, cell.row_id, cell.field)


def show_card(best: Card, table_id: str) -> None:
    with ui.element("article").classes("tw-card") as article:
        article.props["aria-label"] = t("Place {place}: {name}", place=best.place, name=safe(best.name, 120))
        with row().classes("no-wrap"):
            inline(str(best.place)).classes("tw-rank").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                outside(best.name, best.official_url).classes("tw-h2")
                if best.best_for:
                    quiet(t("Best for {best_for}", best_for=safe(best.best_for, 80)))
                if best.is_open:
                    inline(translate("shortlist", "not known to meet every must", language())).classes("tw-chip")
            score = inline(f"{best.score:.2f}").classes("tw-chip")
            score.props["aria-label"] = t("Score {score} of 1", score=f"{best.score:.2f}")
        for each in best.said:
            show_sentence(each, table_id)
        if best.parts:
            with ui.expansion(t("Score breakdown")).props("dense"):
                show_parts(best)


def show_parts(best: Card) -> None:
    with ui.element("div").classes("tw-parts"):
        for part in best.parts:
            paragraph(f"{part.field}: {part.why}" if part.why else part.field)
            bar(
                part.score,
                t(
                    "{field}: {score} of 1, weight {weight}",
                    field=safe(part.field, 60),
                    score=f"{part.score:.2f}",
                    weight=f"{part.weight:.2f}",
                ),
            )


def listing_line(offer: ShopListing) -> Sequence[Shown]:
    def shop() -> None:
        outside(offer.shop or offer.url, offer.url)
        if offer.evidence is not None and offer.evidence.quote:
            quiet(f"“{' '.join(offer.evidence.quote.split())[:160]}”")

    state = "" if offer.offered_as == "new" else f" ({offer.offered_as})"
    price = offer.price_text or t("not stated")
    missed = f"; {offer.missed(language())}" if offer.misses else ""
    return [offer.product, shop, f"{price}{state}{missed}", offer.stock or t("not stated"), when(offer.at)]
