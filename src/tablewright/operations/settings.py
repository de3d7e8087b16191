"""Settings: show them, save those of the settings page, and test a model, a search or a service before saving it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

import httpx2
import msgspec

from tablewright.domain.health import Check, LocalServer
from tablewright.domain.model import Struct
from tablewright.operations.operation import NoInput, Request, copy_fields, operation
from tablewright.operations.paths import path_hider_for
from tablewright.settings import DECLARED, Settings
from tablewright.settings_sources import change_settings, find_set_elsewhere, write_saved

if TYPE_CHECKING:
    from tablewright.services import Services

Changes = Annotated[
    dict[Annotated[str, msgspec.Meta(max_length=100)], Annotated[str, msgspec.Meta(max_length=20_000)]],
    msgspec.Meta(description="Values by the names of their settings; an empty one is the default again."),
]


class SettingShown(Struct, frozen=True):
    """The `value` of a secret is only "set" or empty. `set_by` is the variable or the file that sets it, if the
    settings page cannot change it."""

    name: str
    value: str
    default: str
    accepted: str
    help: str
    set_by: str


class SettingsShown(Struct, frozen=True):
    settings: tuple[SettingShown, ...]


@operation("administer")
async def list_settings(services: Services, request: NoInput) -> SettingsShown:
    """All settings, those that differ from their defaults first, and what they accept."""
    settings, hide = services.settings, path_hider_for(services.person, services.settings)
    shown, usual, elsewhere = settings.shown, Settings().texts, find_set_elsewhere()
    found = [
        copy_fields(
            SettingShown,
            declared,
            name=name,
            value=hide(shown[name]),
            default=usual[name],
            set_by=hide(elsewhere.get(name, "")),
        )
        for name, declared in DECLARED.items()
    ]
    return SettingsShown(settings=tuple(sorted(found, key=lambda each: each.value == each.default)))


class SaveSettings(Request, frozen=True):
    changes: Changes


@operation("administer")
async def save_settings(services: Services, request: SaveSettings) -> SettingsShown:
    """Save settings for everyone who uses this home folder, and use them from now on; runs in progress keep theirs. The
    audit log has them, but for the keys."""
    server = services.server
    settings, changes = change_settings(server.settings, request.changes)
    check_can_work(settings)
    await asyncio.to_thread(write_saved, settings.home_folder, changes)
    server.use_settings(settings)
    await note_settings(server, services.actor)
    return await list_settings(server.acting(services.actor, services.person), NoInput())


async def note_settings(services: Services, actor: str = "") -> None:
    """Write the settings to the audit log if they differ from those of its last entry. Never a secret."""
    usual = Settings().shared
    said = "; ".join(f"{name} = {value}" for name, value in services.settings.shared.items() if value != usual[name])
    entries = await services.store.audit.entries(action="settings", limit=1_000)
    said, server = said or "all as they come", "server"
    last = [each for each in entries if each.thing == server]
    if not last or last[0].detail != said:
        await services.store.audit.note("settings", server, said, who=actor)


def check_can_work(settings: Settings) -> None:
    """Raise BadSetting for what can never work; nothing is contacted."""
    from tablewright.keys import trusted_certificates
    from tablewright.llm.build import build_model
    from tablewright.llm.embedder import build_embedder
    from tablewright.web.search.provider import find_search_provider

    build_model(settings)
    build_embedder(settings)
    if settings.search != "sample":
        client = httpx2.AsyncClient(verify=trusted_certificates())
        find_search_provider(settings.search, api_key=settings.search_api_key, client=client)


class TrySettings(SaveSettings, frozen=True):
    part: Literal["model", "search", "embedder", "webhook", "sheets"]


@operation("administer")
async def try_settings(services: Services, request: TrySettings) -> Check:
    """Ask one of them something small, with these changes but without saving them."""
    from tablewright import health
    from tablewright.operations import webhooks
    from tablewright.operations.files import test_google_sheets

    settings, _ = change_settings(services.settings, request.changes)
    if request.part == "webhook":
        await webhooks.send_test_message(settings)
        return Check(name="Webhook", ok=True, detail="The address accepted a test message.")
    if request.part == "sheets":
        return Check(name="Google Sheets", ok=True, detail=await test_google_sheets(settings))
    tests = {
        "model": health.check_model_answer,
        "search": health.check_search_answer,
        "embedder": health.check_embedder_answer,
    }
    return await tests[request.part](settings)


class ListOfferedModels(SaveSettings, frozen=True):
    provider: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class OfferedModels(Struct, frozen=True):
    names: tuple[str, ...]


@operation("administer")
async def list_offered_models(services: Services, request: ListOfferedModels) -> OfferedModels:
    """List what a provider offers to the holder of the key; without a key what the price list knows, newest first."""
    from tablewright.llm import listing

    settings, _ = change_settings(services.settings, request.changes)
    address, key = settings.model_base_url, settings.model_api_key
    if key or address or request.provider == "ollama":
        return OfferedModels(names=tuple(await listing.list_provider_models(request.provider, address, key)))
    return OfferedModels(names=tuple(await asyncio.to_thread(listing.list_priced_models, request.provider)))


async def list_local_servers() -> list[LocalServer]:
    """Return the programs on this machine that serve models, with the models."""
    from tablewright.llm import listing

    return await listing.detect_local_servers()
