"""The work of the runs that are done as a whole: reading documents, finding rows, rechecking, refreshing, research.

Each function continues where an interrupted run stopped: documents already read are not read again, research goes on
with its next round, pages are rechecked with their validators.
"""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tablewright.engine.fill import Fill
from tablewright.errors import Cancelled, ModelError, Paused, UsageError
from tablewright.jobs.authority import check_authority
from tablewright.jobs.kinds import RunContext
from tablewright.journeys import refresh

if TYPE_CHECKING:
    from tablewright.corpus.ingest import Ingested
    from tablewright.engine.recheck import Rechecked
    from tablewright.services import Services


async def run_ingest(services: Services, context: RunContext) -> Ingested:
    """Read documents into the collection. It continues only on the machine that has the files."""
    from tablewright.corpus.ingest import Ingest
    from tablewright.journeys.ask.kinds import guess_kinds

    request, store = context.request, services.store
    if request["host"] != platform.node():
        raise UsageError(f"The files are on {request['host']}.", advice="Add them there.")
    corpus = await services.toolbox.open_corpus(store)
    reader = Ingest(store, corpus.embedder, workers=request["workers"], parsers=services.toolbox.parsers)
    paths = [Path(path) for path in request["paths"]]
    done = await reader.add(paths, context.tell, kind=request.get("kind", ""))
    context.forgets = True  # the name of a document that is removed later must be found nowhere
    await store.kinds.mark_changed()
    classified = await _classify_new_documents(services)
    return msgspec.structs.replace(done, classified=classified, from_titles=await guess_kinds(store))


async def _classify_new_documents(services: Services) -> int:
    from tablewright.assembly import BUILTIN
    from tablewright.journeys.ask.kinds import AT_INGEST, classify

    if services.settings.model.strip() in ("", BUILTIN):
        return 0
    # The documents are read by now: a model that cannot be opened, or may not be paid, takes nothing from them.
    with suppress(UsageError, ModelError):
        await services.store.ledger.refuse_spent()
        return await classify(services.store, await services.toolbox.open_model(), lambda _: None, most=AT_INGEST)
    return 0


async def run_recheck(services: Services, context: RunContext) -> Rechecked:
    """Check if the cited pages still say what the cells say."""
    from tablewright.engine.recheck import Recheck

    table_id, request = context.run.table_id, context.request
    checking = Recheck(
        services.store,
        await services.store.tables.find(table_id),
        await (await services.toolbox_for(table_id)).open_pages(),
        actor=services.actor,
        fields=request["fields"],
        row_ids=request["row_ids"],
        dry_run=request["dry_run"],
        watch=context.tell,
    )
    context.on_stop = checking.cancel
    return await checking.run()


async def run_refresh(services: Services, context: RunContext) -> None:
    """Recheck a table, then fill again the cells that are flagged, stale, or empty because nothing looked for them.
    The result is a proposal, or applied if the schedule's author said so."""
    await run_recheck(services, context)
    store, fields = services.store, context.request["fields"]
    table = await store.tables.find(context.run.table_id)
    for way in await refresh.ways(store, table, fields):
        fill = await services.plan_enrich(table.id, way.fields, way.strategy, params=way.params, watch=context.tell)
        await _fill_and_apply(services, context, fill)
    for each in await refresh.rounds(store, table.id, fields):
        again = await services.plan_refresh(table.id, each, watch=context.tell)
        if again is not None:
            await _fill_and_apply(services, context, again)


async def _fill_and_apply(services: Services, context: RunContext, fill: Fill) -> None:
    context.on_stop = fill.cancel
    if context.stopped:  # while something before it was done
        raise Cancelled(f"Run {context.run.id} was stopped.", kept="What it had come to is kept.")
    filled = await fill.run()
    if filled.status == "paused":
        raise Paused(filled.problem, kept="What it had come to is kept.")
    if context.request["apply"] and filled.status == "done":
        await check_authority(services.store, context.run)
        await services.changes.apply_unseen(filled.proposal_id)
