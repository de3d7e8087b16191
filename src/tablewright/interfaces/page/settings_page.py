"""The settings page for admins: cards that are tested and saved one by one, and used without a restart.

Keys go in and never come out again. A setting from the environment or `tablewright.toml` is shown but cannot be changed
here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from nicegui import ui
from nicegui.elements.mixins.disableable_element import DisableableElement
from nicegui.elements.mixins.value_element import ValueElement

from tablewright.domain.health import Check
from tablewright.errors import TablewrightError, UsageError
from tablewright.interfaces.page.elements import (
    flex_row,
    loading_button,
    progress_bar,
    show_chip,
    show_paragraph,
    show_remark,
    small_button,
    titled_page,
)
from tablewright.interfaces.page.frame import (
    current_visit,
    error_advice,
    hide_paths,
    show_heading,
    show_notice,
    visit_now,
)
from tablewright.interfaces.page.live import PageTask, page_tasks
from tablewright.interfaces.page.words import t, translate_choices
from tablewright.messages.catalogue import LANGUAGES, PageText
from tablewright.operations.health import ModelShown, PullModel, list_models, pull_model
from tablewright.operations.operation import NoInput
from tablewright.operations.settings import (
    ListOfferedModels,
    SaveSettings,
    TrySettings,
    list_local_servers,
    list_offered_models,
    save_settings,
    try_settings,
)
from tablewright.settings import DECLARED, Settings
from tablewright.settings_sources import find_set_elsewhere

if TYPE_CHECKING:
    from tablewright.domain.health import LocalServer


@ui.page("/settings", title="Settings · Tablewright")
async def settings_page() -> None:
    visit = await visit_now()
    with titled_page(t("Settings"), here="/settings"):
        if not visit.person.may_administer:
            show_remark(t("Only admins can see and change the settings."))
            return
        show_remark(
            t(
                "Saved on this server, with keys encrypted. The settings apply to everyone who uses it and to "
                "commands run on this computer."
            )
        )
        for part in SETTINGS_CARDS.values():
            part(visit.server.settings).build()


# "builtin", "local" and "endpoint" are no providers of their own: each shows other fields.
MODEL_PROVIDERS: PageText[dict[str, str]] = {
    "builtin": "No model",
    "anthropic": "Anthropic",
    "google": "Google Gemini",
    "openai": "OpenAI",
    "ollama": "Ollama on this computer",
    "local": "A model downloaded to this computer",
    "endpoint": "Another OpenAI-compatible server",
}


SettingInput: TypeAlias = ui.input | ui.select | ui.radio


def make_input(name: str, value: str) -> SettingInput:
    """Make the input of a setting from its declaration. One for a key shows if there is one, never which."""
    # Most characters of an input, where they differ from the usual 2,000.
    limits = {"google_sheets_key": 10_000, "search_language": 10}
    examples = {"model_base_url": "http://127.0.0.1:8000/v1", "webhook_url": "https://example.com/hook"}
    # Names of choices whose values are codes.
    choice_names: dict[str, dict[str, str]] = {"language": LANGUAGES}
    explained: PageText[dict[str, dict[str, str]]] = {
        "evidence": {
            "judged": "Also values that a model concludes from quotes, marked “judged”",
            "strict": "Only what a source states, or what follows from it by a rule such as a unit conversion",
        }
    }
    declared = DECLARED[name]
    label = t(declared.label)
    if name in explained:
        return ui.radio(translate_choices(explained[name]), value=value).props(f'aria-label="{label}"')
    if declared.choices:
        return ui.select(choice_names.get(name, list(declared.choices)), value=value, label=label)
    longest = f"maxlength={limits.get(name, 2_000)} stack-label"
    if declared.is_secret:
        hidden_key = ui.input(label, placeholder=t("Saved. Type to replace it.") if value else "")
        return hidden_key.props(f"type=password autocomplete=new-password {longest}")
    return ui.input(label, value=value, placeholder=examples.get(name)).props(longest)


class SettingsCard:
    """One card. Its inputs are made from the declarations of `names`; a subclass may show more, or others."""

    title: PageText[str] = ""
    note: PageText[str] = ""
    names: tuple[str, ...] = ()
    tests: Literal["model", "search", "embedder", "webhook", "sheets", ""] = ""

    def __init__(self, settings: Settings, *, on_save: Callable[[], None] = lambda: None) -> None:
        self.settings = settings
        self.elsewhere = find_set_elsewhere()
        self.on_save = on_save
        self.inputs: dict[str, SettingInput] = {}

    def build(self) -> None:
        with ui.element("section").classes("tw-card tw-setting") as card:
            card.props["aria-label"] = t(self.title)
            show_heading(t(self.title))
            with ui.element("div").classes("tw-settings") as fields:
                self.fields()
            inputs = [each for each in fields.descendants() if isinstance(each, ValueElement)]
            with flex_row():
                if any(each.visible and each.enabled for each in inputs if isinstance(each, DisableableElement)):
                    ui.button(t("Save"), icon="save", on_click=self.save).props("unelevated")
                if self.tests:
                    self.testing = ui.button(t("Test"), icon="bolt", on_click=self.test).props("outline")
                self.result = ui.element("div").classes("tw-grow").props("role=status")

    def fields(self) -> None:
        if self.note:
            show_remark(t(self.note))
        for name in self.names:
            self.add_input(name)

    def add_input(self, name: str) -> SettingInput:
        field = self.inputs[name] = make_input(name, self.settings.texts[name])
        self.fix(field, name)
        return field

    def typed(self, *names: str) -> dict[str, str]:
        """Return the values of these inputs. A key that was not typed is not among them."""
        values = {name: str(self.inputs[name].value or "").strip() for name in names}
        return {name: value for name, value in values.items() if value or not DECLARED[name].is_secret}

    def changes(self) -> dict[str, str]:
        """Return the settings as the inputs are now. Raise UsageError for what is missing."""
        return self.typed(*self.names)

    def saved(self, settings: Settings) -> None:
        """After saving, take the keys that were typed from the page."""
        for name, field in self.inputs.items():
            if DECLARED[name].is_secret:
                field.set_value("")
                field.props["placeholder"] = t("Saved. Type to replace it.") if getattr(settings, name) else ""

    def fix(self, element: DisableableElement, name: str) -> None:
        """Disable an input, and show which variable or file sets it, if one does."""
        if name in self.elsewhere:
            element.disable()
            show_remark(t("Set by {where}. Change it there.", where=self.elsewhere[name]))

    def show(self, good: bool, *lines: str) -> None:
        self.result.clear()
        with self.result:
            with ui.element("div").classes("tw-row no-wrap items-start"):
                show_chip(t("works") if good else t("problem"), "high" if good else "failed")
                show_paragraph(hide_paths(lines[0]))
            for line in filter(None, lines[1:]):
                show_remark(hide_paths(line))

    async def test(self) -> None:
        assert self.tests
        self.result.clear()
        with loading_button(self.testing), self.shown_errors():
            visit = await visit_now("administer")
            found = await try_settings(visit.services, TrySettings(part=self.tests, changes=self.changes()))
            self.show(found.ok, self.describe(found), *([found.advice] if "TABLEWRIGHT_" not in found.advice else []))

    @contextmanager
    def shown_errors(self) -> Iterator[None]:
        """Show an error in the card."""
        try:
            yield
        except TablewrightError as error:
            self.show(False, error.what, *error_advice(error))

    def describe(self, found: Check) -> str:
        return found.detail

    async def save(self) -> None:
        with self.shown_errors():
            visit = await visit_now("administer")
            await save_settings(visit.services, SaveSettings(changes=self.changes()))
            self.settings = visit.server.settings
            self.saved(self.settings)
            self.result.clear()
            show_notice(t("Saved and in use. Runs in progress keep the settings they started with."))
            self.on_save()


class ModelPart(SettingsCard):
    title: PageText[str] = "Model"
    tests = "model"

    def fields(self) -> None:
        settings = self.settings
        provider, _, name = settings.model.partition(":")
        # An address of its own means another server that speaks OpenAI's protocol.
        if provider == "openai" and settings.model_base_url:
            provider = "endpoint"
        providers = translate_choices(MODEL_PROVIDERS)
        if provider not in providers:
            providers[provider] = settings.model
        self.local = ui.element("div").classes("tw-column")
        self.provider = ui.select(providers, value=provider, label=t("Language model"))
        self.fix(self.provider, "model")
        self.explained = show_remark(
            t(
                "Without a model, Tablewright reads only what pages and documents state plainly: labels, tables and "
                "simple sentences. Questions in your own words need a model."
            )
        )
        self.base_url, self.key = self.add_input("model_base_url"), self.add_input("model_api_key")
        self.name = ui.select(
            [name] if name else [], value=name or None, label=t("Model"), with_input=True, new_value_mode="add-unique"
        ).props("input-debounce=0")
        self.name.props["hint"] = t("Choose from the list, or type a name and press Enter")
        self.listing = ui.button(t("Show available models"), icon="list", on_click=self.list_names)
        self.listing.props("flat dense no-caps")
        self.downloads = ModelDownloads(lambda name: self.name.set_options([name], value=name))
        self.downloads.build()
        if "model" in self.elsewhere:
            self.name.disable()
        self.provider.on_value_change(self.choose)
        self.show_fields()
        ui.timer(0.1, self.look_for_local, once=True)

    def show_fields(self) -> None:
        chosen = self.provider.value
        self.explained.set_visibility(chosen == "builtin")
        self.base_url.set_visibility(chosen in ("endpoint", "ollama"))
        self.key.set_visibility(chosen in (*("anthropic", "google", "openai"), "endpoint"))
        self.name.set_visibility(chosen not in ("builtin", "local"))
        self.listing.set_visibility(chosen in MODEL_PROVIDERS and chosen not in ("builtin", "local"))
        self.downloads.box.set_visibility(chosen == "local")

    def choose(self) -> None:
        # Names of models differ between providers.
        self.name.set_options([], value=None)
        self.base_url.set_value("")
        self.show_fields()

    async def look_for_local(self) -> None:
        """Offer programs on this computer that serve models; they need no key."""
        found = await list_local_servers()
        if not found or "model" in self.elsewhere or self.settings.model != "builtin":
            return
        with self.local:
            for server in found:
                with flex_row():
                    show_paragraph(
                        t(
                            "{name} is running on this computer, with {count} model.|"
                            "{name} is running on this computer, with {count} models.",
                            name=server.name,
                            count=len(server.models),
                        )
                    )
                    use = partial(self.use_local, server)
                    small_button(t("Use {name}", name=server.name), use, look="outline no-caps")

    def use_local(self, server: LocalServer) -> None:
        self.provider.set_value(server.provider if server.provider == "ollama" else "endpoint")
        if server.provider != "ollama":
            self.base_url.set_value(server.base_url)
        self.name.set_options(list(server.models), value=server.models[0])

    async def list_names(self) -> None:
        visit = await visit_now("administer")
        provider = "openai" if self.provider.value == "endpoint" else self.provider.value
        with loading_button(self.listing), self.shown_errors():
            request = ListOfferedModels(provider=provider, changes=self.access())
            names = list((await list_offered_models(visit.services, request)).names)
            self.name.set_options(names, value=self.name.value if self.name.value in names else None)
            self.name.run_method("showPopup")

    def access(self) -> dict[str, str]:
        """Return the settings that reach the chosen provider: its address and key. The model's name stays as it is."""
        provider = "openai" if self.provider.value == "endpoint" else self.provider.value
        address = (self.base_url.value or "").strip() if self.provider.value in ("endpoint", "ollama") else ""
        if self.provider.value == "endpoint" and not address:
            raise UsageError(t("The address of the server is missing."), advice=t("The address usually ends in /v1."))
        model = f"{provider}:{self.name.value or '-'}"
        return {"model": model, "model_base_url": address, **self.typed("model_api_key")}

    def changes(self) -> dict[str, str]:
        provider = self.provider.value
        if provider == "builtin":
            return {"model": "builtin", "model_base_url": "", "model_api_key": ""}
        if provider not in MODEL_PROVIDERS:
            return {"model": self.settings.model}
        if not self.name.value:
            raise UsageError(t("Choose a model, or type a name and press Enter."))
        return self.access()


class SearchPart(SettingsCard):
    title: PageText[str] = "Web search"
    tests = "search"

    def fields(self) -> None:
        names: PageText[dict[str, str]] = {
            "ddgs": "DuckDuckGo: no key, but limited to few searches in a row",
            "brave": "Brave Search",
            "exa": "Exa",
            "serper": "Serper (Google results)",
            "tavily": "Tavily",
            "searxng": "SearXNG, your own server",
            "sample": "Sample web: fictional, on this computer, to try things out",
        }
        engine, _, address = self.settings.search.partition(":")
        engines = translate_choices(names)
        engines.setdefault(engine, engine)
        self.engine = ui.select(engines, value=engine, label=t("Search with"))
        self.fix(self.engine, "search")
        self.address = ui.input(t("Address"), value=address, placeholder="http://127.0.0.1:8888").props("stack-label")
        self.key, self.language = self.add_input("search_api_key"), self.add_input("search_language")
        if "search" in self.elsewhere:
            self.address.disable()
        self.engine.on_value_change(self.show_fields)
        self.show_fields()

    def show_fields(self) -> None:
        self.address.set_visibility(self.engine.value == "searxng")
        # Engines that need no key.
        self.key.set_visibility(self.engine.value not in ("ddgs", "searxng", "sample"))
        self.language.set_visibility(self.engine.value in ("searxng", "brave", "serper"))

    def changes(self) -> dict[str, str]:
        engine, address = self.engine.value, (self.address.value or "").strip()
        if engine == "searxng" and not address:
            raise UsageError(t("The address of the SearXNG server is missing."))
        search = f"{engine}:{address}" if engine == "searxng" else engine
        return {"search": search, **self.typed("search_language", "search_api_key")}


class BudgetPart(SettingsCard):
    title: PageText[str] = "Budget"
    note: PageText[str] = "A run stops when it reaches its budget and keeps what it found. Leave empty for no limit."
    names = ("budget", "budget_tokens")


class EvidencePart(SettingsCard):
    title: PageText[str] = "Evidence"
    names = ("evidence",)


class EmbedderPart(SettingsCard):
    title: PageText[str] = "Search in documents"
    tests = "embedder"

    def fields(self) -> None:
        embedders: PageText[dict[str, str]] = {
            "wordllama": "On this computer (no key)",
            "openai": "OpenAI or a compatible server",
        }
        kind, _, name = self.settings.embedder.partition(":")
        show_remark(t("Finds passages by meaning. After a change, documents have to be added again."))
        self.kind = ui.select(translate_choices(embedders), value=kind, label=t("Embeddings"))
        self.name = ui.input(t("Model"), value=name, placeholder="text-embedding-3-small").props("stack-label")
        self.base_url, self.key = self.add_input("embedder_base_url"), self.add_input("embedder_api_key")
        self.fix(self.kind, "embedder")
        if "embedder" in self.elsewhere:
            self.name.disable()
        self.kind.on_value_change(self.show_fields)
        self.show_fields()

    def show_fields(self) -> None:
        for field in (self.name, self.base_url, self.key):
            field.set_visibility(self.kind.value == "openai")

    def changes(self) -> dict[str, str]:
        if self.kind.value == "wordllama":
            return {"embedder": "wordllama", "embedder_base_url": "", "embedder_api_key": ""}
        name = (self.name.value or "").strip()
        if not name:
            raise UsageError(t("The name of the embedding model is missing."))
        return {"embedder": f"openai:{name}", **self.typed("embedder_base_url", "embedder_api_key")}


class WebhookPart(SettingsCard):
    title: PageText[str] = "Webhook"
    note: PageText[str] = "When a run ends, this server sends signed JSON to your address."
    names = ("webhook_url", "webhook_secret")
    tests = "webhook"

    async def test(self) -> None:
        if not self.inputs["webhook_url"].value:
            self.show(False, t("The address is missing."))
            return
        await super().test()

    def describe(self, found: Check) -> str:
        return t("The address accepted a test message.") if found.ok else found.detail


class SheetsPart(SettingsCard):
    title: PageText[str] = "Google Sheets"
    note: PageText[str] = (
        "To export tables to Google Sheets, enable the Google Sheets API and the Google Drive API in the Google Cloud "
        "console, create a service account there and a JSON key for it, and paste the whole key here."
    )
    names = ("google_sheets_key",)
    tests = "sheets"

    def describe(self, found: Check) -> str:
        return t("Google accepted the key of {account}.", account=found.detail)


class LanguagePart(SettingsCard):
    title: PageText[str] = "Language"
    note: PageText[str] = "Texts written by models and some technical messages are not translated."
    names = ("language",)

    def saved(self, settings: Settings) -> None:
        ui.navigate.reload()


# ── downloads of models ──────────────────────────────────────────────────────────────────────────────────────────────


class ModelDownloads:
    """The list of models to download; `use` is called with the name of the chosen one."""

    def __init__(self, use: Callable[[str], object]) -> None:
        self._use = use
        self._seen = current_visit()
        self._chosen = ""
        self._busy = False

    def build(self) -> None:
        self.box = ui.element("div").classes("tw-column")
        self._list = ui.refreshable(self._show)

        async def show_first() -> None:
            with self.box:
                await self._list()

        with self.box:
            show_remark(
                t("Qwen models, free to use. Each download is verified against the checksum published by its maker.")
            )
            # Reading the list of models takes a moment, so the page is shown first.
            ui.timer(0.1, show_first, once=True)
        ui.timer(1.0, self._look)

    async def _show(self) -> None:
        installed = computer_memory_gigabytes()
        for model in (await list_models(self._seen.services, NoInput())).catalog:
            with ui.element("section").classes("tw-model"):
                self._show_model(model, installed)

    def _show_model(self, model: ModelShown, installed: float) -> None:
        size, needed = f"{model.size / 1e9:.1f}", str(model.memory)
        with flex_row():
            show_paragraph(model.name, "tw-strong tw-grow")
            if model.pulled:
                show_chip(t("downloaded"), "high")
                label = t("Chosen") if model.name == self._chosen else t("Use this model")
                small_button(label, partial(self._choose, model.name))
            elif not page_tasks(self._seen).under_way(f"model {model.name}"):
                begin = partial(self._begin, model.name)
                small_button(t("Download {size} GB", size=size), begin, icon="download")
        show_remark(f"{model.about} {t('Needs {needed} GB of memory.', needed=needed)} {model.licence}")
        if installed and installed < model.memory:
            show_paragraph(
                t("This computer has only {installed} GB.", installed=f"{installed:.0f}"),
                "tw-small tw-problem",
            )
        under_way = page_tasks(self._seen).get(f"model {model.name}")
        if under_way is not None and not under_way.ended:
            progress_bar(under_way.fraction, t("Progress of the download"))
            done, total = under_way.done / 1e9, under_way.total / 1e9
            show_remark(t("{done} of {total} GB", done=f"{done:.2f}", total=f"{total:.2f}") if total else t("Starting"))
        elif under_way is not None and under_way.problem:
            show_paragraph(hide_paths(under_way.problem), "tw-small tw-problem")

    def _choose(self, name: str) -> None:
        self._chosen = name
        self._use(name)
        self._list.refresh()

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
        models, tasks = (await list_models(self._seen.services, NoInput())).catalog, page_tasks(self._seen)
        busy = any(tasks.under_way(f"model {model.name}") for model in models)
        # One more refresh after the end shows the result.
        if busy or self._busy:
            self._list.refresh()
        self._busy = busy


def computer_memory_gigabytes() -> float:
    """Return the memory of this computer; 0 if the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    except (ValueError, OSError, AttributeError):
        return 0.0


# In the order of the page: first what a run cannot do without.
SETTINGS_CARDS: Mapping[str, type[SettingsCard]] = {
    "model": ModelPart,
    "search": SearchPart,
    "budget": BudgetPart,
    "evidence": EvidencePart,
    "embedder": EmbedderPart,
    "webhook": WebhookPart,
    "sheets": SheetsPart,
    "language": LanguagePart,
}
