"""Downloads of models for this computer: whether they fit its memory, the progress, and the choice of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from nicegui import ui

from tablewright.interfaces.page.elements import (
    flex_row,
    progress_bar,
    show_chip,
    show_paragraph,
    show_remark,
)
from tablewright.interfaces.page.frame import current_visit, hide_paths, visit_now
from tablewright.interfaces.page.live import PageTask, page_tasks
from tablewright.interfaces.page.words import t
from tablewright.operations.health import ModelShown, PullModel, list_models, pull_model
from tablewright.operations.operation import NoInput

# Decimal, as the sizes of downloads and disks are stated.
GIGABYTE_BYTES = 1e9


class ModelDownloads:
    """The list of models to download; `use` is called with the name of the chosen one."""

    def __init__(self, use: Callable[[str], None]) -> None:
        self._use = use
        self._seen = current_visit()
        self._chosen = ""
        self._busy = False

    def build(self) -> None:
        self.box = ui.element("div").classes("tw-column")
        self._list = ui.refreshable(self._show)
        with self.box:
            show_remark(
                t("Qwen models, free to use. Each download is verified against the checksum published by its maker.")
            )
            # Reading the list of models takes a moment, so the page is shown first.
            ui.timer(0.1, self._first, once=True)
        ui.timer(1.0, self._look)

    async def _first(self) -> None:
        with self.box:
            await self._list()

    async def _show(self) -> None:
        installed = computer_memory_gigabytes()
        for model in (await list_models(self._seen.services, NoInput())).catalog:
            with ui.element("section").classes("tw-model"):
                self._show_model(model, installed)

    def _show_model(self, model: ModelShown, installed: float) -> None:
        size, needed = f"{model.size / GIGABYTE_BYTES:.1f}", str(model.memory)
        with flex_row():
            show_paragraph(model.name, "tw-strong tw-grow")
            if model.pulled:
                show_chip(t("downloaded"), "high")
                label = t("Chosen") if model.name == self._chosen else t("Use this model")
                ui.button(label, on_click=partial(self._choose, model.name)).props("outline dense padding='4px 12px'")
            elif not self._download(model.name):
                ui.button(
                    t("Download {size} GB", size=size), icon="download", on_click=partial(self._begin, model.name)
                ).props("outline dense padding='4px 12px'")
        show_remark(f"{model.about} {t('Needs {needed} GB of memory.', needed=needed)} {model.licence}")
        if installed and installed < model.memory:
            show_paragraph(
                t("This computer has only {installed} GB.", installed=f"{installed:.0f}"),
                "tw-small tw-problem",
            )
        under_way = self._newest(model.name)
        if under_way is not None and not under_way.ended:
            progress_bar(under_way.fraction, t("Progress of the download"))
            done, total = under_way.done / GIGABYTE_BYTES, under_way.total / GIGABYTE_BYTES
            show_remark(t("{done} of {total} GB", done=f"{done:.2f}", total=f"{total:.2f}") if total else t("Starting"))
        elif under_way is not None and under_way.problem:
            show_paragraph(hide_paths(under_way.problem), "tw-small tw-problem")

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._use(name)
        self._list.refresh()

    def _newest(self, name: str) -> PageTask | None:
        return page_tasks(self._seen).get(f"model {name}")

    def _download(self, name: str) -> bool:
        return page_tasks(self._seen).under_way(f"model {name}")

    async def _begin(self, name: str) -> None:
        """Start a download, which continues when the page is closed; the next attempt resumes a partial one."""
        now = await visit_now("administer")

        async def fetch(task: PageTask) -> None:
            def progress(done: int, total: int) -> None:
                task.done, task.total = done, total

            await pull_model(now.services, PullModel(name=name), watch=progress)

        page_tasks(now).begin(f"model {name}", "Downloading", fetch)
        self._busy = True
        self._list.refresh()

    async def _look(self) -> None:
        busy = any(self._download(model.name) for model in (await list_models(self._seen.services, NoInput())).catalog)
        # One more refresh after the end shows the result.
        if busy or self._busy:
            self._list.refresh()
        self._busy = busy


def computer_memory_gigabytes() -> float:
    """Return the memory of this computer; 0 if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIGABYTE_BYTES
    except (ValueError, OSError, AttributeError):
        return 0.0
