"""The parts of the settings, each a card that is tested and saved by itself. Keys go in and never come out again; what
the environment or `tablewright.toml` sets is shown and cannot be changed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from nicegui import ui
from nicegui.elements.mixins.disableable_element import DisableableElement
from nicegui.elements.mixins.value_element import ValueElement

from tablewright.doors.web.elements import chip, paragraph, quiet, row
from tablewright.doors.web.frame import heading, hidden, say, visit_to_administer, what_next
from tablewright.doors.web.model_downloads import ModelDownloads
from tablewright.doors.web.words import language, t, translated
from tablewright.errors import TablewrightError, UsageError
from tablewright.messages.catalogue import LANGUAGES, PageText
from tablewright.operations.files import test_google_sheets
from tablewright.operations.webhooks import send_test_message
from tablewright.services import find_local_servers, list_models, try_settings
from tablewright.settings import Settings
from tablewright.settings_sources import set_elsewhere, with_changes

if TYPE_CHECKING:
    from tablewright.doors.server.context import Visit
    from tablewright.services import LocalServer

NO_MODEL = "builtin"
ENDPOINT = "endpoint"
LOCAL = "local"
PROVIDERS: PageText[dict[str, str]] = {
    NO_MODEL: "No model",
    "anthropic": "Anthropic",
    "google": "Google Gemini",
    "openai": "OpenAI",
    "ollama": "Ollama on this computer",
    LOCAL: "A model downloaded to this computer",
    ENDPOINT: "Another OpenAI-compatible server",
}
NEEDS_KEY = ("anthropic", "google", "openai")
WITHOUT_A_MODEL: PageText[str] = (
    "Without a model, Tablewright reads only what pages and documents state plainly: labels, tables and simple "
    "sentences. Questions in your own words need a model."
)
ENGINES: PageText[dict[str, str]] = {
    "ddgs": "DuckDuckGo: no key, but limited to few searches in a row",
    "brave": "Brave Search",
    "exa": "Exa",
    "serper": "Serper (Google results)",
    "tavily": "Tavily",
    "searxng": "SearXNG, your own server",
    "sample": "Sample web: fictional, on this computer, to try things out",
}
FREE_ENGINES = ("ddgs", "searxng", "sample")
EVIDENCE: PageText[dict[str, str]] = {
    "judged": "Also values that a model concludes from quotes, marked “judged”",
    "strict": "Only what a source states, or what follows from it by a rule such as a unit conversion",
}
EMBEDDERS: PageText[dict[str, str]] = {
    "wordllama": "On this computer (no key)",
    "openai": "OpenAI or a compatible server",
}
KEY_SAVED: PageText[str] = "Saved. Type to replace it."
LONGEST_JSON_KEY = 10_000


class SettingsCard:
    """One card. A subclass builds its fields and says which settings they come to."""

    title: PageText[str] = ""
    tests: Literal["model", "search", "embedder", "webhook", "sheets", ""] = ""

    def __init__(self, settings: Settings, *, on_save: Callable[[], None] = lambda: None) -> None:
        self.settings = settings
        self.elsewhere = set_elsewhere()
        self.on_save = on_save

    def build(self) -> None:
        with ui.element("section").classes("tw-card tw-setting") as card:
            card.props["aria-label"] = t(self.title)
            heading(t(self.title))
            with ui.element("div").classes("tw-settings") as fields:
                self.fields()
            inputs = [each for each in fields.descendants() if isinstance(each, ValueElement)]
            with row():
                if any(each.visible and each.enabled for each in inputs if isinstance(each, DisableableElement)):
                    ui.button(t("Save"), icon="save", on_click=self.save).props("unelevated")
                if self.tests:
                    self.testing = ui.button(t("Test"), icon="bolt", on_click=self.test).props("outline")
                self.result = ui.element("div").classes("tw-grow").props("role=status")

    def fields(self) -> None:
        raise NotImplementedError

    def changes(self) -> dict[str, str]:
        """As the fields are now; raises UsageError for what is missing. A key that was not typed is not in it."""
        raise NotImplementedError

    def saved(self, settings: Settings) -> None:
        """After saving: keys that were typed are gone from the page."""

    def fixed(self, element: DisableableElement, *names: str) -> None:
        """Shows which variable or file sets it, where one does."""
        for name in names:
            if name in self.elsewhere:
                element.disable()
                quiet(t("Set by {where}. Change it there.", where=self.elsewhere[name]))

    def key_field(self, name: str, label: str, *, longest: int = 500) -> ui.input:
        """Write-only: whether there is a key, never which."""
        there = bool(getattr(self.settings, name))
        field = ui.input(label, placeholder=t(KEY_SAVED) if there else "").props(
            f"type=password outlined dense autocomplete=new-password maxlength={longest} stack-label"
        )
        self.fixed(field, name)
        return field

    def show(self, good: bool, *lines: str) -> None:
        self.result.clear()
        with self.result:
            with ui.element("div").classes("tw-row no-wrap items-start"):
                chip(t("works") if good else t("problem"), "high" if good else "failed")
                paragraph(hidden(lines[0]))
            for line in filter(None, lines[1:]):
                quiet(hidden(line))

    async def test(self) -> None:
        assert self.tests
        self.result.clear()
        self.testing.props("loading")
        try:
            visit = await visit_to_administer()
            settings, _ = with_changes(visit.server.settings, self.changes())
            ok, detail, advice = await self.ask(visit, settings)
            self.show(ok, detail, *([advice] if "TABLEWRIGHT_" not in advice else []))
        except TablewrightError as error:
            self.show(False, error.what, *what_next(error))
        finally:
            self.testing.props(remove="loading")

    async def ask(self, visit: Visit, settings: Settings) -> tuple[bool, str, str]:
        """Whether these settings work, what was found, and what to do."""
        assert self.tests in ("model", "search", "embedder")
        found = await try_settings(settings, self.tests)
        return found.ok, found.detail, found.advice

    async def save(self) -> None:
        try:
            visit = await visit_to_administer()
            await visit.server.save_settings(self.changes(), actor=visit.person.name)
        except TablewrightError as error:
            self.show(False, error.what, *what_next(error))
            return
        self.settings = visit.server.settings
        self.saved(self.settings)
        self.result.clear()
        say(t("Saved and in use. Runs in progress keep the settings they started with."))
        self.on_save()


class ModelPart(SettingsCard):
    title: PageText[str] = "Model"
    tests = "model"

    def fields(self) -> None:
        settings = self.settings
        provider, _, name = settings.model.partition(":")
        if provider == "openai" and settings.model_base_url:
            provider = ENDPOINT
        providers = translated(PROVIDERS)
        if provider not in providers:
            providers[provider] = settings.model
        self.local = ui.element("div").classes("tw-column")
        self.provider = ui.select(providers, value=provider, label=t("Language model"))
        self.fixed(self.provider, "model")
        self.explained = quiet(t(WITHOUT_A_MODEL))
        self.base_url = ui.input(
            t("Address"), value=settings.model_base_url, placeholder="http://127.0.0.1:8000/v1"
        ).props("stack-label")
        self.key = self.key_field("model_api_key", t("Key"))
        self.name = ui.select(
            [name] if name else [], value=name or None, label=t("Model"), with_input=True, new_value_mode="add-unique"
        ).props("input-debounce=0")
        self.name.props["hint"] = t("Choose from the list, or type a name and press Enter")
        self.listing = ui.button(t("Show available models"), icon="list", on_click=self.list_names)
        self.listing.props("flat dense no-caps")
        self.downloads = ModelDownloads(self.use_download)
        self.downloads.build()
        self.fixed(self.base_url, "model_base_url")
        if "model" in self.elsewhere:
            self.name.disable()
        self.provider.on_value_change(self.choose)
        self.show_fields()
        ui.timer(0.1, self.look_for_local, once=True)

    def show_fields(self) -> None:
        chosen = self.provider.value
        self.explained.set_visibility(chosen == NO_MODEL)
        self.base_url.set_visibility(chosen in (ENDPOINT, "ollama"))
        self.key.set_visibility(chosen in (*NEEDS_KEY, ENDPOINT))
        self.name.set_visibility(chosen not in (NO_MODEL, LOCAL))
        self.listing.set_visibility(chosen in PROVIDERS and chosen not in (NO_MODEL, LOCAL))
        self.downloads.box.set_visibility(chosen == LOCAL)

    def choose(self) -> None:
        self.name.set_options([], value=None)
        self.base_url.set_value("")
        self.show_fields()

    async def look_for_local(self) -> None:
        """A program on this computer that serves models needs no key: it is offered."""
        found = await find_local_servers()
        if not found or "model" in self.elsewhere or self.settings.model != NO_MODEL:
            return
        with self.local:
            for server in found:
                with row():
                    paragraph(
                        t(
                            "{name} is running on this computer, with {count} model.|"
                            "{name} is running on this computer, with {count} models.",
                            name=server.name,
                            count=len(server.models),
                        )
                    )
                    ui.button(
                        t("Use {name}", name=server.name), on_click=lambda server=server: self.use_local(server)
                    ).props("outline dense no-caps padding='4px 12px'")

    def use_local(self, server: LocalServer) -> None:
        self.provider.set_value(server.provider if server.provider == "ollama" else ENDPOINT)
        if server.provider != "ollama":
            self.base_url.set_value(server.base_url)
        self.name.set_options(list(server.models), value=server.models[0])

    def use_download(self, name: str) -> None:
        """One of the catalog, which is on this computer by now."""
        self.name.set_options([name], value=name)

    async def list_names(self) -> None:
        visit = await visit_to_administer()
        self.listing.props("loading")
        provider = "openai" if self.provider.value == ENDPOINT else self.provider.value
        try:
            settings, _ = with_changes(visit.server.settings, self.access())
            names = await list_models(provider, settings.model_base_url, settings.model_api_key)
        except TablewrightError as error:
            self.show(False, error.what, *what_next(error))
            return
        finally:
            self.listing.props(remove="loading")
        kept = self.name.value if self.name.value in names else None
        self.name.set_options(names, value=kept)
        self.name.run_method("showPopup")

    def access(self) -> dict[str, str]:
        """Where and with which key the chosen provider is asked; the name of the model is left as it is."""
        provider = "openai" if self.provider.value == ENDPOINT else self.provider.value
        address = (self.base_url.value or "").strip() if self.provider.value in (ENDPOINT, "ollama") else ""
        if self.provider.value == ENDPOINT and not address:
            raise UsageError(t("The address of the server is missing."), advice=t("The address usually ends in /v1."))
        changes = {"model": f"{provider}:{self.name.value or '-'}", "model_base_url": address}
        if key := (self.key.value or "").strip():
            changes["model_api_key"] = key
        return changes

    def changes(self) -> dict[str, str]:
        provider = self.provider.value
        if provider == NO_MODEL:
            return {"model": NO_MODEL, "model_base_url": "", "model_api_key": ""}
        if provider not in PROVIDERS:
            return {"model": self.settings.model}
        if not self.name.value:
            raise UsageError(t("Choose a model, or type a name and press Enter."))
        return self.access()

    def saved(self, settings: Settings) -> None:
        forget_key(self.key, there=bool(settings.model_api_key))


class SearchPart(SettingsCard):
    title: PageText[str] = "Web search"
    tests = "search"

    def fields(self) -> None:
        engine, _, address = self.settings.search.partition(":")
        engines = translated(ENGINES)
        engines.setdefault(engine, engine)
        self.engine = ui.select(engines, value=engine, label=t("Search with"))
        self.fixed(self.engine, "search")
        self.address = ui.input(t("Address"), value=address, placeholder="http://127.0.0.1:8888").props("stack-label")
        self.key = self.key_field("search_api_key", t("Key"))
        self.language = ui.input(
            t("Language of results (optional), e.g. de"), value=self.settings.search_language
        ).props("maxlength=10")
        self.fixed(self.language, "search_language")
        if "search" in self.elsewhere:
            self.address.disable()
        self.engine.on_value_change(self.show_fields)
        self.show_fields()

    def show_fields(self) -> None:
        self.address.set_visibility(self.engine.value == "searxng")
        self.key.set_visibility(self.engine.value not in FREE_ENGINES)
        self.language.set_visibility(self.engine.value in ("searxng", "brave", "serper"))

    def changes(self) -> dict[str, str]:
        engine, address = self.engine.value, (self.address.value or "").strip()
        if engine == "searxng" and not address:
            raise UsageError(t("The address of the SearXNG server is missing."))
        changes = {
            "search": f"{engine}:{address}" if engine == "searxng" else engine,
            "search_language": (self.language.value or "").strip(),
        }
        if key := (self.key.value or "").strip():
            changes["search_api_key"] = key
        return changes

    def saved(self, settings: Settings) -> None:
        forget_key(self.key, there=bool(settings.search_api_key))


class BudgetPart(SettingsCard):
    title: PageText[str] = "Budget"

    def fields(self) -> None:
        quiet(t("A run stops when it reaches its budget and keeps what it found. Leave empty for no limit."))
        self.dollars = ui.input(t("Spending limit per run, in dollars"), value=self.settings.texts["budget"])
        self.tokens = ui.input(t("Token limit per run"), value=self.settings.texts["budget_tokens"])
        self.fixed(self.dollars, "budget")
        self.fixed(self.tokens, "budget_tokens")

    def changes(self) -> dict[str, str]:
        return {
            "budget": (self.dollars.value or "").strip(),
            "budget_tokens": (self.tokens.value or "").strip(),
        }


class EvidencePart(SettingsCard):
    title: PageText[str] = "Evidence"

    def fields(self) -> None:
        self.choice = ui.radio(translated(EVIDENCE), value=self.settings.evidence)
        self.choice.props["aria-label"] = t("Which values count")
        self.fixed(self.choice, "evidence")

    def changes(self) -> dict[str, str]:
        return {"evidence": self.choice.value}


class EmbedderPart(SettingsCard):
    title: PageText[str] = "Search in documents"
    tests = "embedder"

    def fields(self) -> None:
        kind, _, name = self.settings.embedder.partition(":")
        quiet(t("Finds passages by meaning. After a change, documents have to be added again."))
        self.kind = ui.select(translated(EMBEDDERS), value=kind, label=t("Embeddings"))
        self.name = ui.input(t("Model"), value=name, placeholder="text-embedding-3-small").props("stack-label")
        self.base_url = ui.input(t("Address (leave empty for OpenAI)"), value=self.settings.embedder_base_url)
        self.key = self.key_field("embedder_api_key", t("Key"))
        self.fixed(self.kind, "embedder")
        self.fixed(self.base_url, "embedder_base_url")
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
        changes = {"embedder": f"openai:{name}", "embedder_base_url": (self.base_url.value or "").strip()}
        if key := (self.key.value or "").strip():
            changes["embedder_api_key"] = key
        return changes

    def saved(self, settings: Settings) -> None:
        forget_key(self.key, there=bool(settings.embedder_api_key))


class WebhookPart(SettingsCard):
    title: PageText[str] = "Webhook"
    tests = "webhook"

    def fields(self) -> None:
        quiet(t("When a run ends, this server sends signed JSON to your address."))
        self.address = ui.input(t("Address"), value=self.settings.webhook_url, placeholder="https://example.com/hook")
        self.address.props("stack-label maxlength=2000")
        self.key = self.key_field("webhook_secret", t("Signing secret"))
        self.fixed(self.address, "webhook_url")

    def changes(self) -> dict[str, str]:
        changes = {"webhook_url": (self.address.value or "").strip()}
        if key := (self.key.value or "").strip():
            changes["webhook_secret"] = key
        return changes

    async def ask(self, visit: Visit, settings: Settings) -> tuple[bool, str, str]:
        if not settings.webhook_url:
            raise UsageError(t("The address is missing."))
        await send_test_message(settings)
        return True, t("The address accepted a test message."), ""

    def saved(self, settings: Settings) -> None:
        forget_key(self.key, there=bool(settings.webhook_secret))


class SheetsPart(SettingsCard):
    title: PageText[str] = "Google Sheets"
    tests = "sheets"

    def fields(self) -> None:
        quiet(
            t(
                "To export tables to Google Sheets, enable the Google Sheets API and the Google Drive API in the "
                "Google Cloud console, create a service account there and a JSON key for it, and paste the whole key "
                "here."
            )
        )
        self.key = self.key_field("google_sheets_key", t("JSON key"), longest=LONGEST_JSON_KEY)

    def changes(self) -> dict[str, str]:
        key = (self.key.value or "").strip()
        return {"google_sheets_key": key} if key else {}

    async def ask(self, visit: Visit, settings: Settings) -> tuple[bool, str, str]:
        account = await test_google_sheets(settings)
        return True, t("Google accepted the key of {account}.", account=account), ""

    def saved(self, settings: Settings) -> None:
        forget_key(self.key, there=bool(settings.google_sheets_key))


class LanguagePart(SettingsCard):
    title: PageText[str] = "Language"

    def fields(self) -> None:
        self.choice = ui.select(LANGUAGES, value=language(), label=t("Language of the page"))
        quiet(t("Texts written by models and some technical messages are not translated."))
        self.fixed(self.choice, "language")

    def changes(self) -> dict[str, str]:
        return {"language": self.choice.value}

    def saved(self, settings: Settings) -> None:
        ui.navigate.reload()


PARTS: Mapping[str, type[SettingsCard]] = {
    "model": ModelPart,
    "search": SearchPart,
    "budget": BudgetPart,
    "evidence": EvidencePart,
    "embedder": EmbedderPart,
    "webhook": WebhookPart,
    "sheets": SheetsPart,
    "language": LanguagePart,
}


def forget_key(field: ui.input, *, there: bool) -> None:
    field.set_value("")
    field.props["placeholder"] = t(KEY_SAVED) if there else ""
