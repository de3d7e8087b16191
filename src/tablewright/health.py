"""What is configured and what works: the checks behind `doctor`, and a first question to the model."""

from __future__ import annotations

import platform
import shutil
import time
from importlib.metadata import version

import httpx2
from pydantic import BaseModel

from tablewright import extras
from tablewright.assembly import BUILTIN, SAMPLE
from tablewright.domain.health import Check, ModelTrial
from tablewright.domain.run import metered
from tablewright.domain.text import count_noun
from tablewright.errors import BadSetting, TablewrightError, UsageError
from tablewright.keys import trusted_certificates
from tablewright.models.build import build
from tablewright.models.embedder import build_embedder
from tablewright.models.tokens import known_window
from tablewright.secrets import masked
from tablewright.settings import Settings
from tablewright.sources.search.provider import find_provider
from tablewright.sources.source import Query
from tablewright.store.home import make_home
from tablewright.store.store import Store
from tablewright.strategies.strategy import announced

TRIAL = "The kettle holds 1.7 litres and was first sold in 2019."
TRIAL_SEARCH = "weather"


async def examine(settings: Settings, *, ask: bool = False) -> list[Check]:
    """What is configured and what works; never raises. With `ask` the model and the search are really asked, which
    may cost a little."""
    checks = [
        Check(name="Tablewright", ok=True, detail=f"{version('tablewright')} on Python {platform.python_version()}"),
        check_home(settings),
        await check_database(settings),
        check_strategies(),
        await (ask_model(settings) if ask else check_model(settings)),
        await (ask_search(settings) if ask else check_search(settings)),
    ]
    for extra in extras.MODULES:
        detail = "installed" if extras.is_installed(extra) else f"not installed: {extras.command(extra)}"
        checks.append(Check(name=f"Extra {extra}", ok=True, detail=detail))
    return checks


def check_strategies() -> Check:
    found = announced()
    broken = [f"{name}: {problem.what}" for name, problem in found.items() if isinstance(problem, UsageError)]
    return Check(name="Strategies", ok=not broken, detail="; ".join([", ".join(found), *broken]))


def check_home(settings: Settings) -> Check:
    folder = settings.home_folder
    if settings.database_url and not folder.exists():
        return Check(name="Home", ok=True, detail=f"{folder} (not needed: the data is in PostgreSQL)")
    try:
        make_home(folder)
    except TablewrightError as error:
        return Check(name="Home", ok=False, detail=error.what, advice=error.advice)
    free = shutil.disk_usage(folder).free
    enough = free > 100 * 1024**2
    advice = "" if enough else "Free some space before you start a long run."
    return Check(name="Home", ok=enough, detail=f"{folder}, {free / 1024**3:.1f} GB free", advice=advice)


async def check_database(settings: Settings) -> Check:
    try:
        if not settings.database_url:
            make_home(settings.home_folder)
        async with await Store.open(settings.database) as store:
            location = store.database.location
            found = await store.tables.all()
            problems = [problem for table in found for problem in await store.log.problems(table.id)]
    except TablewrightError as error:
        return Check(name="Database", ok=False, detail=error.what, advice=error.advice)
    if problems:
        return Check(name="Database", ok=False, detail="; ".join(problems), advice="Restore it from a backup.")
    return Check(name="Database", ok=True, detail=f"{location}, tables: {len(found)}, no problems found")


async def check_model(settings: Settings) -> Check:
    """Whether the model could be asked; asking it is left to `models test`, since that may cost something."""
    try:
        model = build(settings)
    except TablewrightError as error:
        return Check(name="Model", ok=False, detail=error.what, advice=error.advice)
    if model is None:
        return Check(name="Model", ok=True, detail="no model: only plainly stated values are found")
    known = settings.model_window or known_window(model.agent_model)
    return Check(
        name="Model",
        ok=True,
        detail=f"{model.name}, {model.window:,} tokens at once, not asked",
        advice="" if known else "Its context window is not known; set model_window if it is larger or smaller.",
    )


async def ask_model(settings: Settings) -> Check:
    """As `check_model`, and with one small question."""
    configured = await check_model(settings)
    if not configured.ok or settings.model == BUILTIN:
        return configured
    try:
        trial = await try_model(settings)
    except TablewrightError as error:
        return Check(name="Model", ok=False, detail=error.what, advice=error.advice)
    answered = f"{trial.model} answered in {trial.seconds} s"
    if not trial.right:
        return Check(
            name="Model",
            ok=False,
            detail=f"{answered}, but wrongly: it was to read a year from a sentence, and said {trial.answer}",
            advice="Choose a more capable model.",
        )
    return Check(name="Model", ok=True, detail=answered)


async def check_search(settings: Settings) -> Check:
    """Whether it could be searched; a SearXNG of one's own is asked."""
    name = settings.search.partition(":")[0].strip().lower()
    if name in (SAMPLE, "searxng"):
        return await ask_search(settings)
    try:
        async with httpx2.AsyncClient(verify=trusted_certificates()) as client:
            find_provider(settings.search, api_key=settings.search_api_key, client=client)
    except TablewrightError as error:
        return Check(name="Search", ok=False, detail=error.what, advice=error.advice)
    return Check(name="Search", ok=True, detail=f"{name}, not asked")


async def ask_search(settings: Settings) -> Check:
    """With one search, whatever it costs."""
    if settings.search == SAMPLE:
        return Check(name="Search", ok=True, detail="sample: a small fictional web, on this machine")
    try:
        async with httpx2.AsyncClient(verify=trusted_certificates()) as client:
            provider = find_provider(settings.search, api_key=settings.search_api_key, client=client)
            hits = await provider.search(Query(text=TRIAL_SEARCH))
    except TablewrightError as error:
        return Check(name="Search", ok=False, detail=error.what, advice=error.advice)
    found = f"{masked(settings.search)} answers, {count_noun(len(hits), 'result')}"
    return Check(name="Search", ok=True, detail=found)


async def ask_embedder(settings: Settings) -> Check:
    try:
        embedder = build_embedder(settings)
        try:
            vectors = await embedder.embed([TRIAL])
        finally:
            await embedder.close()
    except TablewrightError as error:
        return Check(name="Embedder", ok=False, detail=error.what, advice=error.advice)
    return Check(name="Embedder", ok=True, detail=f"{embedder.name} answers, {vectors.shape[1]} dimensions")


class Year(BaseModel):
    year: int


async def try_model(settings: Settings) -> ModelTrial:
    model = build(settings)
    if model is None:
        raise BadSetting(
            "No model is configured.", advice="Set TABLEWRIGHT_MODEL, for example to openai:NAME or local:FILE.gguf."
        )
    started = time.monotonic()
    async with model:
        with metered() as meter:
            reply = await model.ask(
                instructions="Answer from the text alone.",
                prompt=f"In which year was it first sold?\n{TRIAL}",
                output=Year,
            )
    return ModelTrial(
        model=model.name,
        answer=reply.year,
        right=reply.year == 2019,
        seconds=round(time.monotonic() - started, 2),
        usage=meter.usage,
    )
