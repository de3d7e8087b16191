"""The work of a run that reads documents. It continues where an interrupted run stopped."""

from __future__ import annotations

import platform
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tablewright.errors import ModelError, UsageError
from tablewright.jobs.kinds import RunContext

if TYPE_CHECKING:
    from tablewright.corpus.ingest import Ingested
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
