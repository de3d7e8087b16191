"""The grid as people know it from spreadsheets: ranges, clipboard, undo, menus, filters and views."""

from __future__ import annotations

from pathlib import Path

from tablewright.conditions.evaluate import make_column_filter
from tablewright.domain.condition import Condition
from tablewright.domain.history import ColumnLayout, View
from tablewright.domain.model import Cell, Field, Money, Value
from tablewright.interfaces.page.table.dialogs import column_statistics
from tablewright.operations.grid_rows import RowQuery, find_matching_rows
from tablewright.services import Services
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_table_paste import paste
from tests.interfaces.page.test_tables_page import cell, filled_table, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

PEOPLE = "Name,City,Age,Note\nAnn,Oslo,31,a\nBob,Bergen,25,b\nCid,Oslo,47,c\nDot,Turku,19,d\nEve,Oslo,,e\n"
COPIED = """
() => {
  const clipboardData = new DataTransfer();
  document.activeElement.dispatchEvent(new ClipboardEvent("copy", {clipboardData, bubbles: true, cancelable: true}));
  return clipboardData.getData("text/plain");
}
"""
CUT = COPIED.replace('"copy"', '"cut"')


async def values(services: Services, table_id: str, *names: str) -> list[tuple[Value, ...]]:
    rows = (await services.load(table_id)).rows
    return [tuple(row.cell(name).value for name in names) for row in rows]


async def drag(page: playwright.Page, start: playwright.Locator, end: playwright.Locator) -> None:
    await start.hover()
    await page.mouse.down()
    await end.hover()
    await page.mouse.up()


async def choose(page: playwright.Page, name: str) -> None:
    await page.get_by_role("menuitem", name=name).click()


async def column_menu(page: playwright.Page, column: str, name: str) -> None:
    await page.get_by_role("button", name=f"Menu of {column}").click()
    await choose(page, name)


async def test_ranges_are_copied_cut_pasted_filled_cleared_undone_and_done_again(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, PEOPLE, "Ranges")
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        await drag(page, cell(page, 1, "City"), cell(page, 2, "Age"))
        await expect(page.locator("#tw-selected")).to_have_text("4 cells selected")
        assert await page.evaluate(COPIED) == "Oslo\t31\nBergen\t25"

        await cell(page, 4, "City").click()
        await paste(page, "Oslo\t31\nBergen\t25")
        await expect(cell(page, 5, "Age")).to_contain_text("25")
        await expect(cell(page, 4, "City")).to_contain_text("Oslo")
        await cell(page, 1, "Name").click()
        await page.keyboard.press("Control+z")
        await expect(cell(page, 4, "City")).to_contain_text("Turku")
        await page.keyboard.press("Control+y")
        await expect(page.get_by_text("Done again.")).to_be_visible()
        await expect(cell(page, 4, "City")).to_contain_text("Oslo")

        # With keys alone: three cells of a column, filled with the first, cut, and brought back.
        await cell(page, 1, "Note").click()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("Shift+ArrowDown")
        await expect(page.locator("#tw-selected")).to_have_text("3 cells selected")
        await page.keyboard.press("Control+d")
        await expect(cell(page, 3, "Note")).to_have_text("a")
        assert await page.evaluate(CUT) == "a\na\na"
        await expect(cell(page, 3, "Note")).to_have_text("")
        await page.keyboard.press("Control+z")
        await expect(cell(page, 3, "Note")).to_have_text("a")
        await page.keyboard.press("Delete")
        await expect(cell(page, 2, "Note")).to_have_text("")
        # One value goes into all that is selected.
        await paste(page, "x")
        await expect(cell(page, 3, "Note")).to_have_text("x")
        assert await values(services, table_id, "City", "Age", "Note") == [
            ("Oslo", 31, "x"),
            ("Bergen", 25, "x"),
            ("Oslo", 47, "x"),
            ("Oslo", 31, "d"),
            ("Bergen", 25, "e"),
        ]
        for _ in range(5):
            await page.keyboard.press("Control+z")
        await expect(page.get_by_text("Nothing left to undo on this page")).to_be_visible()
        await expect(cell(page, 5, "Age")).to_have_text("")
        assert await values(services, table_id, "Note") == [("a",), ("b",), ("c",), ("d",), ("e",)]


async def test_rows_are_selected_deleted_and_brought_back(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, PEOPLE, "Rows to delete")
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        await cell(page, 2, "tw:number").click()
        await cell(page, 4, "tw:number").click(modifiers=["Control"])
        await expect(page.locator("#tw-selected")).to_have_text("2 rows selected")
        assert await page.evaluate(COPIED) == "Bob\tBergen\t25\tb\nDot\tTurku\t19\td"
        await cell(page, 4, "City").click(button="right")
        await choose(page, "Delete 2 rows")
        await expect(cell(page, 2, "Name")).to_have_text("Cid")
        assert await values(services, table_id, "Name") == [("Ann",), ("Cid",), ("Eve",)]
        await cell(page, 1, "Name").click()
        await page.keyboard.press("Control+z")
        await expect(cell(page, 2, "Name")).to_have_text("Bob")
        # All rows, whichever of them the browser has.
        await page.keyboard.press("Control+a")
        await expect(page.locator("#tw-selected")).to_have_text("5 rows selected")
        await page.keyboard.press("Shift+F10")
        await page.get_by_role("menu", name="Selected cells").get_by_role("menuitem").first.press("Escape")
        await expect(page.get_by_role("menu")).to_have_count(0)


async def test_a_column_is_filtered_counted_changed_hidden_and_deleted_from_its_menu(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, PEOPLE, "Columns")
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        await column_menu(page, "Age", "Statistics")
        facts = page.get_by_role("dialog")
        await expect(facts).to_contain_text("4 of 5")
        await expect(facts).to_contain_text("122")
        await facts.get_by_role("button", name="Close").click()

        await column_menu(page, "Age", "Filter…")
        await page.get_by_role("dialog").get_by_label("Value").fill("30")
        await page.keyboard.press("Enter")
        await expect(page.locator("#tw-found")).to_have_text("2 rows")
        await expect(page.locator(".tw-conditions")).to_contain_text("Age is at least 30")
        await column_menu(page, "City", "Filter…")
        await page.get_by_role("dialog").get_by_label("Value").fill("berg")
        await page.keyboard.press("Enter")
        await expect(page.locator("#tw-found")).to_have_text("0 rows")
        await page.get_by_role("button", name="Remove filter").first.click()
        await expect(page.locator("#tw-found")).to_have_text("1 row")
        await page.get_by_role("button", name="Remove filter").click()
        await expect(page.locator("#tw-found")).to_have_text("5 rows")

        await column_menu(page, "City", "Edit column…")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name="number").click()
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert")).to_contain_text("5 of 5 values of City cannot be read as number")
        await dialog.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name="text").click()
        await expect(dialog.get_by_label("Unit (optional)")).to_be_hidden()  # the window has been drawn anew by now
        await dialog.get_by_label("Name").fill("Home town")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("columnheader", name="Home town")).to_be_visible()
        await expect(cell(page, 2, "Home town")).to_have_text("Bergen")

        await column_menu(page, "Note", "Delete column")
        await expect(page.get_by_role("columnheader", name="Note")).to_have_count(0)
        await cell(page, 1, "Name").click()
        await page.keyboard.press("Control+z")
        await expect(page.get_by_role("columnheader", name="Note")).to_be_visible()
        await expect(cell(page, 2, "Note")).to_have_text("b")
        assert [field.name for field in (await services.table(table_id)).fields] == [
            "Name",
            "Home town",
            "Age",
            "Note",
        ]


async def test_how_a_table_was_left_is_found_again_and_a_named_view_has_a_link(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, PEOPLE, "Views")

    async def heads(page: playwright.Page) -> list[str]:
        found = await page.locator(".ag-header-cell").evaluate_all(
            """(heads) => heads.sort((one, other) => one.ariaColIndex - other.ariaColIndex)
                               .map((head) => head.getAttribute("col-id"))"""
        )
        return [name for name in found if name != "tw:number"]

    async with browser() as page, site.open() as services:

        async def kept(**wanted: object) -> None:
            while True:
                left = await services.views.left_by(table_id, "owner")
                if all(getattr(left, name) == value for name, value in wanted.items()):
                    return
                await page.wait_for_timeout(50)

        await open_table(page, site, table_id)
        await column_menu(page, "Note", "Hide")
        await expect(page.get_by_role("columnheader", name="Note")).to_have_count(0)
        await column_menu(page, "Age", "Move left")
        await column_menu(page, "Age", "Sort descending")
        await expect(cell(page, 1, "Name")).to_have_text("Cid")
        await page.get_by_role("button", name="View").click()
        await page.get_by_text("Wrap text").click()
        await expect(page.locator(".tw-wrapped")).to_have_count(1)
        await page.get_by_role("button", name="View").click()
        await page.get_by_text("Save view…").click()
        await page.get_by_role("dialog").get_by_label("Name").fill("By age")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("finds “By age” under View")).to_be_visible()
        await kept(sort="Age", wrap=True)

        await open_table(page, site, table_id)
        await expect(cell(page, 1, "Name")).to_have_text("Cid")
        assert await heads(page) == ["Name", "Age", "City"]
        await expect(page.locator(".tw-wrapped")).to_have_count(1)
        await page.get_by_role("button", name="View").click()
        await page.get_by_text("Reset").click()
        await expect(cell(page, 1, "Name")).to_have_text("Ann")
        await expect(page.get_by_role("columnheader", name="Note")).to_be_visible()

        await page.goto(f"{site.url}/tables/{table_id}?view=By%20age")
        await expect(cell(page, 1, "Name")).to_have_text("Cid")
        assert await heads(page) == ["Name", "Age", "City"]
        assert [view.name for view in await services.views.named(table_id)] == ["By age"]


async def test_the_marks_are_the_filter_with_their_counts_and_the_opened_cell_stays_in_sight(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Marked", apply=True)
    async with browser(1000, 700) as page, site.open() as services:
        await services.changes.write_values(table_id, {(1, "Company"): "Brightwater Foods"})
        await open_table(page, site, table_id)
        marks = page.get_by_role("group", name="Filter rows by status")
        await expect(marks.get_by_role("button", name="All rows 4")).to_have_attribute("aria-pressed", "true")
        await marks.get_by_role("button", name="Sources disagree 1").click()
        await expect(page.locator("#tw-found")).to_have_text("1 row")
        await expect(cell(page, 1, "Company")).to_contain_text("Halden")
        await expect(cell(page, 1, "Founded").locator(".tw-right")).to_have_count(1)
        await marks.get_by_role("button", name="All rows").click()
        await expect(cell(page, 2, "Founded")).to_contain_text("1962")

        await cell(page, 2, "Founded").click()
        panel = page.locator(".q-drawer--right")
        await expect(panel.locator(".tw-big")).to_have_text("1962")
        inside = """() => {
            const cell = document.querySelector("[row-index='1'] [col-id='Founded']").getBoundingClientRect();
            const panel = document.querySelector(".q-drawer--right").getBoundingClientRect();
            return panel.left > 0 && cell.right <= panel.left + 1;
        }"""
        await page.wait_for_function(inside)
        handle = panel.get_by_role("separator", name="Panel width")
        await handle.focus()
        await page.keyboard.press("ArrowLeft")
        await page.wait_for_function("document.querySelector('.q-drawer--right').getBoundingClientRect().width === 480")
        await page.wait_for_function(inside)


def passing(field: Field, operator: str, value: str = "") -> list[Value]:
    values: list[Value] = [3, 12.5, Money(amount=7, currency="EUR"), "Oslo", "2026-03-01", ("red", "blue"), None]
    keep = make_column_filter(
        Condition(column=field.name, operator=operator, values=(value,) if value else ()), [field]
    )
    return [each for each in values if keep({field.name: Cell(value=each)}).truth == "match"]


def test_a_filter_compares_figures_as_figures_and_texts_as_texts() -> None:
    number, text, date = Field(name="N", type="number"), Field(name="T"), Field(name="D", type="date")
    assert passing(number, ">", "5") == [12.5, Money(amount=7, currency="EUR")]
    assert passing(number, "=", "3") == [3]
    assert passing(text, "contains", "OSL") == ["Oslo"]
    assert passing(text, "not contains", "e") == [3, 12.5, "Oslo", "2026-03-01", None]
    assert "2026-03-01" in passing(date, "<=", "1 March 2026")
    assert "2026-03-01" not in passing(date, "<", "1 March 2026")
    assert passing(text, "unknown") == [None]
    assert None not in passing(text, "known")


async def test_the_filter_does_not_compare_amounts_of_other_currencies_and_says_how_many(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    prices = "Name,Price\nAnn,50 USD\nBob,55 KWD\nCid,55 GBP\nDot,70 GBP\nEve,\nFay,8 USD\n"
    table_id = await new_table(site, tmp_path, prices, "Prices in several currencies")
    async with site.open() as services:
        await services.changes.change_column(table_id, "Price", Field(name="Price", type="money"))
        below = Condition(column="Price", operator="<", values=("60 GBP",))
        await services.views.keep(table_id, View(name="Below", filters=(below,)))
        found = await find_matching_rows(services, RowQuery(table_id=table_id, filters=(below,)))
        assert ([*found.row_ids], found.unlike_amounts, found.currencies) == ([3], 3, {"KWD", "USD"})
        narrowed = RowQuery(table_id=table_id, filters=(below, Condition(column="Name", operator="=", values=("Ann",))))
        assert (await find_matching_rows(services, narrowed)).unlike_amounts == 1
    async with browser() as page:
        await page.goto(f"{site.url}/tables/{table_id}?view=Below")
        await expect(page.locator("#tw-found")).to_have_text(
            "1 row · 3 rows not compared: their amounts are in other currencies (KWD, USD)"
        )


async def test_amounts_are_sorted_and_added_for_each_currency_apart(site: Site, tmp_path: Path) -> None:
    prices = "Name,Price\nAnn,50 USD\nBob,9000 JPY\nCid,55 GBP\nDot,70 GBP\nEve,\nFay,8 USD\n"
    table_id = await new_table(site, tmp_path, prices, "Prices to sort")
    async with site.open() as services:
        await services.changes.change_column(table_id, "Price", Field(name="Price", type="money"))
        table = await services.table(table_id)
        up = await find_matching_rows(services, RowQuery(table_id=table_id, sort="Price"))
        assert [*up.row_ids] == [3, 4, 2, 6, 1, 5]
        figures = dict(await column_statistics(services, table, table.fields[1]))
    assert figures["Sum"] == "125 GBP\n9000 JPY\n58 USD"
    assert figures["Largest"] == "70 GBP\n9000 JPY\n50 USD"


async def test_a_view_of_a_person_is_theirs_and_one_with_a_name_goes_with_the_table(site: Site, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, PEOPLE, "Kept views")
    async with site.open() as services:
        own = View(columns=(ColumnLayout(name="Age", width=90, hidden=True),), sort="Name")
        await services.views.keep(table_id, own, person="ann")
        assert await services.views.left_by(table_id, "ann") == own
        assert await services.views.left_by(table_id, "bob") == View()
        shared = View(name="Adults", filters=(Condition(column="Age", operator=">=", values=("18",)),))
        await services.views.keep(table_id, shared)
        assert await services.views.named(table_id) == [shared]
        await services.views.remove(table_id, "Adults")
        assert await services.views.named(table_id) == []


# What Ctrl+C would put on the clipboard.
COPY = """() => new Promise((done) => {
    document.addEventListener("copy", (event) => done(event.clipboardData.getData("text/plain")), {once: true});
    document.execCommand("copy");
})"""


async def test_select_all_and_copy_take_the_table_and_not_the_page(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    """All rows of the view, also those that the browser has not loaded."""
    rows = "".join(f'Name {number},"{number}\tx"\n' for number in range(1, 3_001))
    table_id = await new_table(site, tmp_path, f"Name,Note\n{rows}", "To copy whole")
    expected = "\n".join(f'Name {number}\t"{number}\tx"' for number in range(1, 3_001))
    async with browser() as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
        await open_table(page, site, table_id)
        await page.evaluate("document.activeElement.blur()")
        await page.keyboard.press("Control+a")
        await expect(page.get_by_text("3,000 rows selected")).to_be_visible()
        assert await page.evaluate("String(getSelection())") == ""
        await page.keyboard.press("Control+c")
        await expect(page.get_by_text("Copied.")).to_be_visible()
        assert (await page.evaluate("navigator.clipboard.readText()")).replace("\r\n", "\n") == expected

        await page.get_by_label("Find in the table").fill("Name 2999")
        await expect(page.get_by_text("1 row", exact=True)).to_be_visible()
        await page.keyboard.press("Control+a")  # in the search it is the text of the search
        assert await page.evaluate("String(getSelection())") == "Name 2999"
        await cell(page, 1, "Name").click()
        await page.keyboard.press("Control+a")
        assert await page.evaluate(COPY) == 'Name 2999\t"2999\tx"'


async def test_more_than_a_clipboard_takes_is_refused_with_the_bound(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    rows = "".join(f"{number},{'x' * 20_000}\n" for number in range(1_050))
    table_id = await new_table(site, tmp_path, f"Number,Note\n{rows}", "Too large to copy")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.keyboard.press("Control+a")
        await page.keyboard.press("Control+c")
        told = page.get_by_text("That is more than 20,000,000 characters.")
        await expect(told).to_contain_text("Export the table instead.")
