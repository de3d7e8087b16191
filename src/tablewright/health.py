"""Check what is configured and what works: the checks behind `doctor`, and a trial question to the model."""

from __future__ import annotations

import platform
import shutil
import time
from importlib.metadata import version

import httpx2
from pydantic import BaseModel

from tablewright import extras
from tablewright.domain.health import Check, ModelTrial
from tablewright.domain.run import measure_usage
from tablewright.domain.text import count_noun
from tablewright.errors import BadSetting, TablewrightError, UsageError
from tablewright.keys import trusted_certificates
from tablewright.llm.build import build_model
from tablewright.llm.embedder import build_embedder
from tablewright.llm.spec import BUILTIN
from tablewright.llm.tokens import find_window_tokens
from tablewright.secrets import mask_secrets
from tablewright.settings import Settings
from tablewright.store.database import make_home
from tablewright.store.store import Store
from tablewright.strategies.strategy import list_installed_strategies
from tablewright.web.search.provider import find_search_provider
from tablewright.web.source import Query

# Two numbers, so that a model that only repeats a number is found out.
TRIAL_TEXT = "The kettle holds 1.7 litres and was first sold in 2019."


async def check_health(settings: Settings, *, ask: bool = False) -> list[Check]:
    """Return the results of all checks; never raise. With `ask` the model and the search get a real request, which may
    cost a little."""
    checks = [
        Check(name="Tablewright", ok=True, detail=f"{version('tablewright')} on Python {platform.python_version()}"),
        check_home(settings),
        await check_store(settings),
        await (check_embedder_answer(settings) if ask else check_embedder(settings)),
        await check_documents(settings),
        check_strategies(),
        await (check_model_answer(settings) if ask else check_model(settings)),
        await (check_search_answer(settings) if ask else check_search(settings)),
    ]
    for extra in extras.EXTRA_MODULES:
        detail = "installed" if extras.is_installed(extra) else f"not installed: {extras.install_command(extra)}"
        # A missing extra is no problem, only a fact.
        checks.append(Check(name=f"Extra {extra}", ok=True, detail=detail))
    return checks


def check_strategies() -> Check:
    found = list_installed_strategies()
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
    # A long run stores the pages that it reads; below a hundred megabytes it may stop in the middle.
    enough = free > 100 * 1024**2
    advice = "" if enough else "Free some space before you start a long run."
    return Check(name="Home", ok=enough, detail=f"{folder}, {free / 1024**3:.1f} GB free", advice=advice)


async def check_store(settings: Settings) -> Check:
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
    """Check the model without asking it: `models test` does that, since it may cost something."""
    try:
        model = build_model(settings)
    except TablewrightError as error:
        return Check(name="Model", ok=False, detail=error.what, advice=error.advice)
    if model is None:
        return Check(name="Model", ok=True, detail="no model: only plainly stated values are found")
    known = settings.model_window or find_window_tokens(model.asked)
    return Check(
        name="Model",
        ok=True,
        detail=f"{model.name}, {model.window:,} tokens at once, not asked",
        advice="" if known else "Its context window is not known; set model_window if it is larger or smaller.",
    )


async def check_model_answer(settings: Settings) -> Check:
    """Check the model with one small question."""
    configured = await check_model(settings)
    if not configured.ok or settings.model == BUILTIN:
        return configured
    try:
        trial = await run_model_trial(settings)
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
    """Check the search without a request, except to your own SearXNG."""
    name = settings.search.partition(":")[0].strip().lower()
    # Both cost nothing, and only a request shows whether your own engine gives results as JSON.
    if name in ("sample", "searxng"):
        return await check_search_answer(settings)
    try:
        async with httpx2.AsyncClient(verify=trusted_certificates()) as client:
            find_search_provider(settings.search, api_key=settings.search_api_key, client=client)
    except TablewrightError as error:
        return Check(name="Search", ok=False, detail=error.what, advice=error.advice)
    return Check(name="Search", ok=True, detail=f"{name}, not asked")


async def check_search_answer(settings: Settings) -> Check:
    """Check the search with one real request, whatever it costs."""
    if settings.search == "sample":
        return Check(name="Search", ok=True, detail="sample: a small fictional web, on this machine")
    try:
        async with httpx2.AsyncClient(verify=trusted_certificates()) as client:
            provider = find_search_provider(settings.search, api_key=settings.search_api_key, client=client)
            # A word for which every engine, in every language of results, has something.
            hits = await provider.search(Query(text="weather"))
    except TablewrightError as error:
        return Check(name="Search", ok=False, detail=error.what, advice=error.advice)
    found = f"{mask_secrets(settings.search)} answers, {count_noun(len(hits), 'result')}"
    return Check(name="Search", ok=True, detail=found)


async def check_embedder(settings: Settings) -> Check:
    try:
        embedder = build_embedder(settings)
    except TablewrightError as error:
        return Check(name="Embedder", ok=False, detail=error.what, advice=error.advice)
    await embedder.close()
    return Check(name="Embedder", ok=True, detail=f"{embedder.name}, not asked")


async def check_documents(settings: Settings) -> Check:
    """Check that all documents can be found, by words and by meaning."""
    try:
        embedder = build_embedder(settings)
        await embedder.close()
        async with await Store.open(settings.database) as store:
            documents = await store.documents.all()
            blind = len(await store.documents.without_vectors(embedder.name))
    except TablewrightError:
        return Check(name="Documents", ok=False, detail="not checked: the database or the embedder does not work")
    unread = sum(bool(each.problem) for each in documents)
    detail = f"{len(documents):,}, unreadable: {unread:,}"
    if not blind:
        return Check(name="Documents", ok=True, detail=detail)
    detail += f", without vectors of {embedder.name}, so found by words alone: {blind:,}"
    return Check(name="Documents", ok=False, detail=detail, advice="`tablewright docs add` their files again.")


async def check_embedder_answer(settings: Settings) -> Check:
    try:
        embedder = build_embedder(settings)
        try:
            vectors = await embedder.embed([TRIAL_TEXT])
        finally:
            await embedder.close()
    except TablewrightError as error:
        return Check(name="Embedder", ok=False, detail=error.what, advice=error.advice)
    return Check(name="Embedder", ok=True, detail=f"{embedder.name} answers, {vectors.shape[1]} dimensions")


class TrialAnswer(BaseModel):
    year: int


async def run_model_trial(settings: Settings) -> ModelTrial:
    model = build_model(settings)
    if model is None:
        raise BadSetting(
            "No model is configured.", advice="Set TABLEWRIGHT_MODEL, for example to openai:NAME or local:FILE.gguf."
        )
    started = time.monotonic()
    async with model:
        with measure_usage() as meter:
            reply = await model.ask(
                instructions="Answer from the text alone.",
                prompt=f"In which year was it first sold?\n{TRIAL_TEXT}",
                output=TrialAnswer,
            )
    return ModelTrial(
        model=model.name,
        answer=reply.year,
        right=reply.year == 2019,
        seconds=round(time.monotonic() - started, 2),
        usage=meter.usage,
    )
