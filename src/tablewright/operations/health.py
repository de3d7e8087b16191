"""Health: what is installed and configured, and whether it works; strategies; models for this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tablewright.domain.access import INSTALLATION_OWNER, Role
from tablewright.domain.health import Check, ModelTrial
from tablewright.domain.model import Struct
from tablewright.errors import BadSetting, UsageError
from tablewright.operations.operation import NoInput, Request, check_permission, copy_fields, operation
from tablewright.operations.paths import path_hider_for
from tablewright.settings import Settings

if TYPE_CHECKING:
    from tablewright.services import Services


class Version(Struct, frozen=True):
    """`user` and `role` are those of the token that was sent."""

    version: str
    user: str
    role: Role


@operation("read")
async def get_version(services: Services, request: NoInput) -> Version:
    """The installed version, and who you are."""
    person = services.person or INSTALLATION_OWNER
    return Version(version=version("tablewright"), user=person.name, role=person.role)


class Checks(Struct, frozen=True):
    """`ok` is true if every check is."""

    ok: bool
    checks: tuple[Check, ...]


class RunDoctor(Request, frozen=True):
    ask: Annotated[
        bool, msgspec.Meta(description="Also ask the model and the search something small, which may cost a little.")
    ] = False


@operation("read")
async def run_doctor(services: Services, request: RunDoctor) -> Checks:
    """Show the configuration and check that it works, for editors and admins. Models and searches are not called,
    because they may cost money, unless an admin asks for it; a SearXNG is. Problems of tables are shown to admins
    only."""
    # Asking a model costs money, so only admins may; editors see what is configured.
    if services.person is not None:
        check_permission(services.person, "administer" if request.ask else "write")
    found = await check_installation(services.settings, ask=request.ask)
    checks = tuple(censor_check(services, each) for each in found.checks)
    return Checks(ok=found.ok, checks=checks)


async def check_installation(settings: Settings, invalid: Iterable[BadSetting] = (), *, ask: bool = False) -> Checks:
    """Check what is configured, even if the store cannot be opened or settings were `invalid`."""
    from tablewright.health import check_health

    checks = [Check(name="Settings", ok=False, detail=each.what, advice=each.advice) for each in invalid]
    checks += await check_health(settings, ask=ask)
    return Checks(ok=all(each.ok for each in checks), checks=tuple(checks))


def censor_check(services: Services, check: Check) -> Check:
    """Return a check as the caller may see it: problems of the database name tables, which only admins may know of."""
    person = services.person
    if check.name == "Database" and not check.ok and person is not None and not person.may_administer:
        return Check(name=check.name, ok=False, detail="not all is sound", advice="Ask an admin, who sees what.")
    hide = path_hider_for(person, services.settings)
    return Check(name=check.name, ok=check.ok, detail=hide(check.detail), advice=hide(check.advice))


# ── strategies ───────────────────────────────────────────────────────────────────────────────────────────────────────


class ParameterShown(Struct, frozen=True):
    """A parameter that a user may set: one of `choices`, a whole number between `least` and `most`, or any text."""

    name: str
    help: str
    default: str
    choices: tuple[str, ...]
    least: int | None
    most: int | None


class StrategyShown(Struct, frozen=True):
    """`kind` is `action` for one that has an effect outside the table."""

    name: str
    display_name: str
    summary: str
    kind: Literal["enrichment", "action"]
    concurrency: int
    max_steps: int
    parameters: tuple[ParameterShown, ...]


class BrokenStrategy(Struct, frozen=True):
    name: str
    problem: str
    advice: str


class Strategies(Struct, frozen=True):
    strategies: tuple[StrategyShown, ...]
    broken: tuple[BrokenStrategy, ...]


class ListStrategies(Request, frozen=True):
    kind: Annotated[Literal["enrichment", "action"] | None, msgspec.Meta(description="Only those of this kind.")] = None


@operation("read")
async def list_strategies(services: Services, request: ListStrategies) -> Strategies:
    """The installed strategies and their parameters. An enrichment produces values, an action has an effect outside the
    table."""
    return show_strategies(request.kind)


def show_strategies(kind: Literal["enrichment", "action"] | None = None) -> Strategies:
    from tablewright.strategies.strategy import list_installed_strategies

    found = list_installed_strategies(kind)
    broken = [
        BrokenStrategy(name=name, problem=each.what, advice=each.advice)
        for name, each in found.items()
        if isinstance(each, UsageError)
    ]
    usable = [
        copy_fields(StrategyShown, each, parameters=tuple(copy_fields(ParameterShown, one) for one in each.parameters))
        for each in found.values()
        if not isinstance(each, UsageError)
    ]
    return Strategies(strategies=tuple(usable), broken=tuple(broken))


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class ModelShown(Struct, frozen=True):
    """A model that runs on the machine of the store; `pulled` is true if it is there. `memory` is the gigabytes that a
    computer needs to run it."""

    name: str
    size: int
    licence: str
    about: str
    memory: int
    sha256: str
    pulled: bool


class Models(Struct, frozen=True):
    """`model` is the configured one."""

    model: str
    catalog: tuple[ModelShown, ...]


@operation("read")
async def list_models(services: Services, request: NoInput) -> Models:
    """The configured model, and the models that can be downloaded to run on this machine."""
    from tablewright.llm.pull import CATALOG

    folder = services.settings.home_folder / "models"
    catalog = tuple(copy_fields(ModelShown, each, pulled=each.is_pulled(folder)) for each in CATALOG)
    model = path_hider_for(services.person, services.settings)(services.settings.model)
    return Models(model=model, catalog=catalog)


class PullModel(Request, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="A name from `models list`.")]


class ModelPulled(Struct, frozen=True):
    name: str
    path: str


@operation("administer")
async def pull_model(
    services: Services, request: PullModel, *, watch: Callable[[int, int], None] = lambda done, total: None
) -> ModelPulled:
    """Download a model and verify it, resuming an earlier download. `watch` is called with the bytes so far and all."""
    from tablewright.llm.pull import pull_catalog_model

    path = await pull_catalog_model(request.name, services.settings.home_folder / "models", watch)
    return ModelPulled(name=request.name, path=str(path))


@operation("run")
async def test_model(services: Services, request: NoInput) -> ModelTrial:
    """Ask the configured model one small question."""
    from tablewright.health import run_model_trial

    return await run_model_trial(services.settings)
