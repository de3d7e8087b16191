#!/usr/bin/env python3
"""Takes the pictures of docs/images: a server of its own on the sample world, and a Chromium that visits it.

    .venv/bin/python scripts/pictures.py [NAME …]             all of them, or those of these names
    .venv/bin/python scripts/pictures.py --looks FOLDER       each in light and dark, wide and on a phone, to look at

Each picture is what a person sees after doing what its function does, so they are done in order, and look at them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WIDE, TALL, PHONE = (1280, 720), (1280, 860), (390, 780)
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
# Pixels of a page that are looked at.
LONGEST = 2_400
PATIENCE = 180_000
expect.set_options(timeout=PATIENCE)


class Tour:
    def __init__(self, page: Page, url: str, folder: Path) -> None:
        self.page = page
        self.url = url
        self.folder = folder
        self.table = ""

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)
        self.page.wait_for_function("window.did_handshake === true")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def say(self, label: str, words: str) -> None:
        self.page.get_by_label(label).fill(words)
        self.page.keyboard.press("Enter")

    def tables_first_visit(self) -> None:
        self.go("/")
        expect(self.page.get_by_text("Open a filled sample")).to_be_visible()

    def settings(self) -> None:
        self.go("/settings")
        self.page.get_by_label("Language model").click()
        self.page.get_by_role("option", name="Anthropic").click()
        expect(self.page.get_by_role("button", name="Show available models")).to_be_visible()

    def table_(self) -> None:
        self.go("/")
        self.press("Open a filled sample")
        self.page.wait_for_url("**/tables/*")
        self.table = self.page.url.removeprefix(self.url)
        self.ask("Staff", "number", "How many people does {Company} employ?")
        self.press("Accept all")
        expect(self.page.locator(".tw-waiting")).to_be_hidden()
        self.ask("Start", "number", "What year was {Company} founded?")
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def ask(self, name: str, kind: str, question: str) -> None:
        self.press("Add columns")
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("Column name").fill(name)
        dialog.get_by_label("Type").click()
        self.page.get_by_role("option", name=kind, exact=True).click()
        dialog.get_by_label("Question or formula").fill(question)
        dialog.get_by_role("button", name="Start").click()
        expect(self.page.locator(".tw-waiting")).to_contain_text("proposed")
        self.page.locator(".tw-run").wait_for(state="hidden")

    def evidence(self) -> None:
        staff = self.page.locator(".ag-row[row-index='3'] [col-id='Staff']")
        staff.scroll_into_view_if_needed()
        staff.click()
        expect(self.page.locator(".tw-quote").first).to_be_visible()

    def review(self) -> None:
        self.go(self.table)
        self.press("Review")
        expect(self.page.get_by_text("Review what was found")).to_be_visible()
        for key in ("a", "a", "r"):
            self.page.keyboard.press(key)
        expect(self.page.locator(".tw-quote").first).to_be_visible()

    def phone(self) -> None:
        self.go(self.table)
        expect(self.page.locator(".ag-row .tw-value").first).to_be_visible()

    def documents(self) -> None:
        papers = self.folder / "papers"
        subprocess.run([sys.executable, "-m", "tablewright.sample", "--papers", str(papers)], check=True)
        paths = sorted(path for path in papers.rglob("*") if path.is_file())
        broken = self.folder / "contract-scan.pdf"
        broken.write_bytes(paths[0].read_bytes()[:300] if paths[0].suffix == ".pdf" else b"%PDF-1.4 cut short")
        self.go("/documents")
        self.page.set_input_files("input[type=file]", [str(path) for path in (*paths, broken)])
        expect(self.page.get_by_text("not read:")).to_be_visible()

    def ask_(self) -> None:
        self.go("/ask")
        self.say("Your question", "all receipts that contain tires")
        expect(self.page.get_by_role("log").get_by_role("region", name="Answer")).to_be_visible()

    def research(self) -> None:
        self.go("/research")
        question = "Identify 5 AI business models with pricing and case studies"
        self.page.get_by_label("What do you want to find out?").fill(question)
        self.press("Plan")
        self.page.get_by_role("region", name="Plan").get_by_role("button", name="Start").click()
        expect(self.page.get_by_role("region", name="Report", exact=True)).to_be_visible()

    def shortlist(self) -> None:
        self.go("/shortlist")
        self.page.get_by_label("Product").fill("electric kettle")
        self.page.get_by_label("Budget, with currency").fill("50 GBP")
        self.page.get_by_label("Must have").fill("Capacity >= 1 l")
        self.page.get_by_role("button", name="Start").click()
        self.press("Confirm Requirements")
        self.press("Enrich Now")
        expect(self.page.get_by_role("article")).to_have_count(5)

    def runs(self) -> None:
        self.go("/runs")
        expect(self.page.locator("canvas").first).to_be_visible()

    def health(self) -> None:
        self.go("/status")
        expect(self.page.get_by_text("Database").first).to_be_visible()

    def start(self) -> None:
        self.go("/start")
        expect(self.page.get_by_role("combobox", name="Language model")).to_be_visible()

    def preview(self) -> None:
        self.go("/start?step=table")
        self.press("Paste a list")
        self.page.get_by_label("Rows").fill("Company\tFounded\nKestrelworks\t2009\nQuillon Robotics\tabout 2016\n")
        self.press("Preview")
        expect(self.page.get_by_role("button", name="Import")).to_be_visible()

    def add_columns(self) -> None:
        self.go(self.table)
        self.press("Add columns")
        self.page.get_by_label("Column name").fill("Revenue")
        self.page.get_by_label("Question or formula").fill("What was the revenue of {Company} last year?")
        self.press("Estimate")
        expect(self.page.locator(".tw-outlook")).to_be_visible()

    def column_menu(self) -> None:
        self.go(self.table)
        self.page.get_by_role("button", name="Menu of Founded").click()
        expect(self.page.get_by_role("menuitem").first).to_be_visible()

    def history(self) -> None:
        self.go(self.table)
        self.press("History")
        expect(self.page.get_by_role("dialog")).to_be_visible()

    def empty_cell(self) -> None:
        self.go(self.table)
        self.page.locator(".ag-center-cols-viewport").evaluate("view => { view.scrollLeft = 700 }")  # loads the column
        self.page.locator(".ag-row[row-index='3'] [col-id='CEO']").click()
        expect(self.page.get_by_text("How it was found")).to_be_visible()

    def find(self) -> None:
        self.go("/find")
        expect(self.page.get_by_role("button", name="Find rows")).to_be_visible()

    def lookup(self) -> None:
        self.go("/lookup")
        expect(self.page.get_by_role("button", name="Look up")).to_be_visible()

    def document(self) -> None:
        self.go("/documents")
        self.page.get_by_role("link", name="helioscrest-hx8.pdf").click()
        expect(self.page.get_by_role("link", name="← All documents")).to_be_visible()

    def tables(self) -> None:
        self.go("/")
        expect(self.page.get_by_role("list", name="Tables")).to_be_visible()

    def cell_menu(self) -> None:
        self.go(self.table)
        self.page.locator(".ag-row[row-index='3'] [col-id='Company']").click(button="right")
        expect(self.page.get_by_role("menuitem").first).to_be_visible()

    def export_menu(self) -> None:
        self.go(self.table)
        self.press("Export")
        expect(self.page.get_by_text("Excel with evidence")).to_be_visible()

    def view_menu(self) -> None:
        self.go(self.table)
        self.press("View")
        expect(self.page.get_by_text("Wrap text")).to_be_visible()

    def column_dialog(self, entry: str) -> None:
        self.column_menu()
        self.page.get_by_role("menuitem", name=entry).click()
        expect(self.page.get_by_role("dialog")).to_be_visible()

    def filter_dialog(self) -> None:
        self.column_dialog("Filter…")

    def statistics(self) -> None:
        self.column_dialog("Statistics")

    def edit_column(self) -> None:
        self.column_dialog("Edit column…")

    def schedule(self) -> None:
        self.column_dialog("Schedule…")

    def disputed(self) -> None:
        self.go(self.table)
        self.page.locator(".ag-center-cols-viewport").evaluate("view => { view.scrollLeft = 700 }")
        self.page.locator(".ag-row[row-index='1'] [col-id='CEO']").click()
        expect(self.page.get_by_text("Other sources say").first).to_be_visible()

    def wrong(self) -> None:
        self.disputed()
        self.press("This is wrong")
        expect(self.page.get_by_role("dialog")).to_be_visible()

    def research_start(self) -> None:
        self.go("/research")
        expect(self.page.get_by_role("button", name="Plan")).to_be_visible()

    def shortlist_start(self) -> None:
        self.go("/shortlist")
        expect(self.page.get_by_label("Product")).to_be_visible()

    def citation(self) -> None:
        self.ask_()
        self.page.locator(".tw-cite").first.click()
        expect(self.page.get_by_role("dialog")).to_be_visible()

    def missing(self) -> None:
        self.go("/tables/nothing-here")

    def run(self) -> None:
        self.go("/runs")
        self.page.get_by_role("link", name="Staff · 12 rows").click()
        expect(self.page.get_by_role("link", name="← All runs")).to_be_visible()


STOPS = (
    ("tables-first-visit", WIDE, Tour.tables_first_visit),
    ("settings", (1280, 1000), Tour.settings),
    ("table", WIDE, Tour.table_),
    ("evidence", WIDE, Tour.evidence),
    ("review", WIDE, Tour.review),
    ("phone", PHONE, Tour.phone),
    ("documents", TALL, Tour.documents),
    ("ask", TALL, Tour.ask_),
    ("research", TALL, Tour.research),
    ("shortlist", TALL, Tour.shortlist),
    ("runs", (1280, 1500), Tour.runs),
    ("health", TALL, Tour.health),
)

# Seen by whoever looks, not shown in the docs.
LOOKS_ONLY = (
    ("start", WIDE, Tour.start),
    ("preview", WIDE, Tour.preview),
    ("add-columns", WIDE, Tour.add_columns),
    ("column-menu", WIDE, Tour.column_menu),
    ("history", WIDE, Tour.history),
    ("empty-cell", WIDE, Tour.empty_cell),
    ("find", WIDE, Tour.find),
    ("lookup", WIDE, Tour.lookup),
    ("document", WIDE, Tour.document),
    ("run", WIDE, Tour.run),
    ("tables", WIDE, Tour.tables),
    ("cell-menu", WIDE, Tour.cell_menu),
    ("export-menu", WIDE, Tour.export_menu),
    ("view-menu", WIDE, Tour.view_menu),
    ("filter", WIDE, Tour.filter_dialog),
    ("statistics", WIDE, Tour.statistics),
    ("edit-column", WIDE, Tour.edit_column),
    ("schedule", WIDE, Tour.schedule),
    ("disputed", WIDE, Tour.disputed),
    ("wrong", WIDE, Tour.wrong),
    ("research-start", WIDE, Tour.research_start),
    ("shortlist-start", WIDE, Tour.shortlist_start),
    ("citation", WIDE, Tour.citation),
    ("missing", WIDE, Tour.missing),
)


def take_looks(page: Page, name: str, folder: Path) -> None:
    """Not for the docs: so that somebody sees each of them."""
    width = (page.viewport_size or {})["width"]
    for look in ("dark", "light"):
        page.emulate_media(color_scheme=look)
        page.wait_for_timeout(600)
        height = page.evaluate("document.documentElement.scrollHeight")
        whole = {"x": 0, "y": 0, "width": width, "height": min(height, LONGEST)}
        page.screenshot(path=folder / f"{name}-{width}-{look}.png", full_page=True, clip=whole)


def main(wanted: set[str], looks: Path | None = None) -> None:
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        sys.exit("Chromium is not installed (apt install chromium).")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for size in (WIDE, PHONE) if looks is not None else (None,):
            with serving() as (url, folder):
                page = browser.new_page()
                page.set_default_timeout(PATIENCE)
                tour = Tour(page, url, folder)
                for stop, own_size, go in STOPS if looks is None else (*STOPS, *LOOKS_ONLY):
                    width, height = size or own_size
                    page.set_viewport_size({"width": width, "height": height})
                    go(tour)
                    page.wait_for_timeout(1_200)  # until what moves has come to rest
                    if looks is not None:
                        take_looks(page, stop, looks)
                    elif not wanted or stop in wanted:
                        page.screenshot(path=IMAGES / f"{stop}.png")
                    print(stop)
                page.close()
        browser.close()


@contextmanager
def serving() -> Iterator[tuple[str, Path]]:
    """The address of a server that nobody has visited yet, and its folder."""
    with tempfile.TemporaryDirectory(prefix="tablewright-pictures-") as name:
        folder = Path(name)
        environ = {**os.environ, "TABLEWRIGHT_HOME": "data", "TABLEWRIGHT_SEARCH": "sample"}
        log = folder / "log"
        with log.open("w") as output:
            command = [str(Path(sys.executable).with_name("tablewright")), "serve", "--port", "0"]
            server = subprocess.Popen(command, env=environ, cwd=folder, stdout=output, stderr=output)
        try:
            while "http://" not in log.read_text():
                if server.poll() is not None:
                    sys.exit(log.read_text())
                time.sleep(0.2)
            yield "http://" + log.read_text().split("http://", 1)[1].split()[0].rstrip("./"), folder
        finally:
            server.terminate()
            server.wait(timeout=20)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--looks"]:
        Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
        main(set(), Path(sys.argv[2]))
    else:
        main(set(sys.argv[1:]))
