"""Models that can be downloaded to run on this computer: which fit its memory, how far a download is, which to use."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from nicegui import ui

from tablewright.doors.web.elements import (
    bar,
    chip,
    paragraph,
    quiet,
    row,
)
from tablewright.doors.web.frame import hidden, visit, visit_to_administer
from tablewright.doors.web.live import Undertaking, undertakings
from tablewright.doors.web.words import t
from tablewright.operations.health import ModelShown, NoInput, PullModel, list_models, pull_model

GIGABYTE = 1e9


class ModelDownloads:
    """`use` is told the name of the model that is chosen."""

    def __init__(self, use: Callable[[str], None]) -> None:
        self._use = use
        self._seen = visit()
        self._chosen = ""
        self._busy = False

    def build(self) -> None:
        self.box = ui.element("div").classes("tw-column")
        self._list = ui.refreshable(self._show)
        with self.box:
            quiet(t("Qwen models, free to use. Each download is verified against the checksum published by its maker."))
            ui.timer(0.1, self._first, once=True)
        ui.timer(1.0, self._look)

    async def _first(self) -> None:
        with self.box:
            await self._list()

    async def _show(self) -> None:
        installed = memory_of_computer()
        for model in (await list_models(self._seen.services, NoInput())).catalog:
            with ui.element("section").classes("tw-model"):
                self._show_model(model, installed)

    def _show_model(self, model: ModelShown, installed: float) -> None:
        size, needed = f"{model.size / GIGABYTE:.1f}", str(model.memory)
        with row():
            paragraph(model.name, "tw-strong tw-grow")
            if model.pulled:
                chip(t("downloaded"), "high")
                label = t("Chosen") if model.name == self._chosen else t("Use this model")
                ui.button(label, on_click=partial(self._choose, model.name)).props("outline dense padding='4px 12px'")
            elif not self._download(model.name):
                ui.button(
                    t("Download {size} GB", size=size), icon="download", on_click=partial(self._begin, model.name)
                ).props("outline dense padding='4px 12px'")
        quiet(f"{model.about} {t('Needs {needed} GB of memory.', needed=needed)} {model.licence}")
        if installed and installed < model.memory:
            paragraph(
                t("This computer has only {installed} GB.", installed=f"{installed:.0f}"),
                "tw-small tw-problem",
            )
        under_way = self._newest(model.name)
        if under_way is not None and not under_way.ended:
            bar(under_way.fraction, t("Progress of the download"))
            done, total = under_way.done / GIGABYTE, under_way.total / GIGABYTE
            quiet(t("{done} of {total} GB", done=f"{done:.2f}", total=f"{total:.2f}") if total else t("Starting"))
        elif under_way is not None and under_way.problem:
            paragraph(hidden(under_way.problem), "tw-small tw-problem")

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._use(name)
        self._list.refresh()

    def _newest(self, name: str) -> Undertaking | None:
        return undertakings(self._seen).get(f"model {name}")

    def _download(self, name: str) -> bool:
        return undertakings(self._seen).under_way(f"model {name}")

    async def _begin(self, name: str) -> None:
        """It goes on when the page is closed; what was fetched is used by the next try."""
        now = await visit_to_administer()

        async def fetch(undertaking: Undertaking) -> None:
            def progress(done: int, total: int) -> None:
                undertaking.done, undertaking.total = done, total

            await pull_model(now.services, PullModel(name=name), watch=progress)

        undertakings(now).begin(f"model {name}", "Downloading", fetch)
        self._busy = True
        self._list.refresh()

    async def _look(self) -> None:
        busy = any(self._download(model.name) for model in (await list_models(self._seen.services, NoInput())).catalog)
        if busy or self._busy:
            self._list.refresh()
        self._busy = busy


def memory_of_computer() -> float:
    """In gigabytes; 0 where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIGABYTE
    except (ValueError, OSError, AttributeError):
        return 0.0
