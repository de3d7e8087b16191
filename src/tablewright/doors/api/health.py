"""Whether it works, and with what: health, version, strategies, models."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query

from tablewright.domain.access import Role
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import resource
from tablewright.doors.api.schemas import described
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import UsageError
from tablewright.operations.paths import hider_for
from tablewright.services import Kind, Parameter, Strategy, doctor

if TYPE_CHECKING:
    from tablewright.services import Check

DATABASE = "Database"
"""What `doctor` calls it."""

router = resource("health")
open_to_all = resource("health")


class Alive(Noun, frozen=True):
    status: Literal["ok"]


class Version(Noun, frozen=True):
    """`user` and `role` are those of the token that was sent."""

    version: str
    user: str
    role: Role


class CheckShown(Noun, frozen=True):
    name: str
    ok: bool
    detail: str
    advice: str


class Checks(Noun, frozen=True):
    """`ok` is whether every check is."""

    ok: bool
    checks: tuple[CheckShown, ...]


class StrategyShown(Noun, frozen=True):
    """`kind` is `action` for one that has an effect outside the table."""

    name: str
    display_name: str
    kind: Literal["enrichment", "action"]
    concurrency: int
    max_steps: int
    parameters: tuple[Parameter, ...]


class BrokenStrategy(Noun, frozen=True):
    name: str
    problem: str
    advice: str


class Strategies(Noun, frozen=True):
    strategies: tuple[StrategyShown, ...]
    broken: tuple[BrokenStrategy, ...]


class ModelShown(Noun, frozen=True):
    """A model that runs on the server's machine; `pulled` is whether it is there."""

    name: str
    size: int
    licence: str
    about: str
    pulled: bool


class Models(Noun, frozen=True):
    """`model` is who thinks now."""

    model: str
    catalog: tuple[ModelShown, ...]


@open_to_all.get("/health", response_model=described(Alive))
async def get_health() -> Json:
    """Whether the process is alive. Needs no token and does not use the database; `/ready`, outside the API, checks
    it."""
    return Json(Alive(status="ok"))


@router.get("/version", response_model=described(Version))
async def get_version(visit: Visiting) -> Json:
    """The installed version, and who you are."""
    return Json(Version(version=version("tablewright"), user=visit.person.name, role=visit.person.role))


@router.get("/doctor", response_model=described(Checks))
async def run_doctor(visit: Visiting) -> Json:
    """What is configured and whether it works, for editors and admins. Of models and searches only a SearXNG is
    actually called, because others may cost money. Problems of tables are shown to admins only."""
    visit.must_change()
    checks = tuple(check_shown(visit, each) for each in await doctor(visit.services.settings))
    return Json(Checks(ok=all(each.ok for each in checks), checks=checks))


def check_shown(visit: Visit, check: Check) -> CheckShown:
    """What is wrong with the database names tables, which not everybody may know of."""
    if check.name == DATABASE and not check.ok and not visit.person.may_administer:
        return CheckShown(name=check.name, ok=False, detail="not all is sound", advice="Ask an admin, who sees what.")
    hide = hider_for(visit.person, visit.services.settings)
    return CheckShown(name=check.name, ok=check.ok, detail=hide(check.detail), advice=hide(check.advice))


@router.get("/strategies", response_model=described(Strategies))
async def list_strategies(
    visit: Visiting, kind: Annotated[Kind | None, Query(description="Only those of this kind.")] = None
) -> Json:
    """The installed strategies and their parameters. An enrichment produces values, an action has an effect outside the
    table."""
    found = visit.services.strategies(kind)
    broken = [
        BrokenStrategy(name=name, problem=each.what, advice=each.advice)
        for name, each in found.items()
        if isinstance(each, UsageError)
    ]
    usable = [strategy_shown(each) for each in found.values() if not isinstance(each, UsageError)]
    return Json(Strategies(strategies=tuple(usable), broken=tuple(broken)))


def strategy_shown(strategy: Strategy) -> StrategyShown:
    return StrategyShown(
        name=strategy.name,
        display_name=strategy.display_name,
        kind=strategy.kind,
        concurrency=strategy.concurrency,
        max_steps=strategy.max_steps,
        parameters=tuple(strategy.parameters),
    )


@router.get("/models", response_model=described(Models))
async def list_models(visit: Visiting) -> Json:
    """The configured model, and the models that can be downloaded to the server's machine."""
    catalog = [
        ModelShown(name=each.name, size=each.size, licence=each.licence, about=each.about, pulled=pulled)
        for each, pulled in await visit.services.models()
    ]
    settings = visit.services.settings
    return Json(Models(model=hider_for(visit.person, settings)(settings.model), catalog=tuple(catalog)))
