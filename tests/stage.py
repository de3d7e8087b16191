"""Where a scenario of a recording runs: the product with a model at an address, and what is kept of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell, Field
from tablewright.domain.research import Research, ResearchRequest
from tablewright.domain.text import to_json_document
from tablewright.llm.build import build_model
from tablewright.llm.tasks.decision import Decision, decide
from tablewright.operations.ask import open_asker
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.operations.find import open_finder
from tablewright.operations.research import open_researcher
from tablewright.sample.documents import sample_files
from tablewright.services import Services
from tablewright.settings import Settings
from tests.operating import add_documents, begin_research, find_rows, run_research, shortlist_turn

# Seconds: what is recorded must not depend on how fast the model that is recorded answers.
UNHURRIED = "36000"


@dataclass
class Stage:
    """Where a scenario runs: the address of the model, and a folder of its own."""

    url: str
    folder: Path

    def settings(self, **values: str) -> Settings:
        given = {
            "home": str(self.folder / "home"),
            "model": "openai:recorded",
            "model_base_url": self.url,
            "model_window": "128000",
            "model_timeout": "1800",
            "search": "sample",
            "concurrency": "1",
            "attempts": "1",
        }
        return Settings(**(given | values))

    async def decide(self, decision: Decision[Any, Any], asked: Any) -> Any:
        model = build_model(self.settings())
        assert model is not None
        async with model:
            outcome = await decide(decision, asked, model, lambda step: None)
        assert not outcome.degraded, outcome.degraded
        decided = json.loads(json.dumps(to_json_document(outcome.decided), default=BaseModel.model_dump))
        return {"decided": decided, "left_out": outcome.left_out}

    async def enrich(
        self,
        table: str,
        *fields: str,
        strategy: str,
        papers: tuple[str, ...] = (),
        sources: str = "web",
        attempts: str = "1",
        **params: str,
    ) -> Any:
        """The cells of each row by its first column; `papers` are sample documents whose names begin so."""
        (self.folder / "table.csv").write_text(table, encoding="utf-8")
        async with Services.open(self.settings(sources=sources, attempts=attempts)) as services:
            if papers:
                await add_documents(services, self._written(papers), workers=1)
            imported = await import_table_file(services, self.folder / "table.csv")
            asked = [parse_field(text) for text in fields]
            run = await plan_fill(services, imported.table.id, asked, strategy, how=FillOptions(params=params or {}))
            filled = await run.run()
            rows = [row async for row in services.rows(imported.table.id)]
            names = {row.id: str(next(iter(row.cells.values())).value) for row in rows}
            found: dict[str, Any] = {}
            for operation in await services.store.proposals.operations(filled.proposal_id):
                cells = found.setdefault(names[operation.row_id], {})
                cells[operation.field] = shown(operation.cell)
        return found

    async def ask(self, *questions: str, papers: tuple[str, ...]) -> Any:
        """A conversation about sample documents: what is answered, how complete it is, and the quotes it stands on."""
        replies = []
        async with Services.open(self.settings()) as services:
            await add_documents(services, self._written(papers), workers=1)
            asker = await open_asker(services)
            object.__setattr__(asker.context, "today", lambda: date(2026, 11, 17))
            conversation = ""
            for question in questions:
                reply = await asker.ask(question, conversation)
                conversation = reply.conversation
                replies.append(
                    {
                        "question": question,
                        "answer": reply.answer,
                        "completeness": reply.completeness,
                        "ledger": str(reply.ledger or ""),
                        "rows": [[row.title, *row.values] for row in reply.rows],
                        "quotes": [cited.quote for cited in reply.citations],
                    }
                )
        return replies

    async def find(self, question: str, *columns: str, rows: int) -> Any:
        """A table from a description: its rows, what was set aside, and how complete it is said to be."""
        async with Services.open(self.settings()) as services:
            finder = await open_finder(services)
            object.__setattr__(finder, "today", lambda: date(2026, 11, 17))
            listing = await finder.begin(question, fields=fields(*columns), rows=rows)
            found = await find_rows(services, listing.table_id)
            table = await services.load(listing.table_id)
        return {
            "rows": [{name: shown(cell) for name, cell in row.cells.items()} for row in table.rows],
            "aside": [[each.name, each.reason] for each in found.aside],
            "undecided": [[each.name, each.reason] for each in found.undecided],
            "completeness": found.completeness,
            "queries": list(found.queries),
            "read": list(found.read),
        }

    async def research(self, question: str) -> Any:
        """A whole piece of research on the sample web: what was noted, searched, checked and written."""
        async with Services.open(self.settings(fetch_delay="0")) as services:
            begun = await self.begin_research(services, question)
            return researched(await run_research(services, begun.id))

    async def begin_research(self, services: Services, question: str) -> Research:
        researcher = await open_researcher(services)
        researcher._today = lambda: date(2026, 11, 17)
        request = ResearchRequest(question=question)
        return await begin_research(services, request, brief=await researcher.brief(request))

    async def shortlist(self, *messages: str, products: str = "8") -> Any:
        """A conversation with the adviser: what it says and proposes, and what the state is in the end."""
        turns = []
        limits = {"shortlist_products": products, "shortlist_queries": "10", "shortlist_seconds": UNHURRIED}
        limits["shortlist_retries"] = "0"
        async with Services.open(self.settings(**limits)) as services:
            state = await services.store.shortlists.start()
            for message in messages:
                state, reply = await shortlist_turn(services, state.id, message, exports=self.folder)
                turns.append(
                    {
                        "message": message,
                        "said": [said.text for said in reply.said],
                        "cards": [
                            [card.name, card.score, card.best_for, *(s.text for s in card.said)] for card in reply.cards
                        ],
                        "rows": [list(row) for row in reply.rows],
                        "offers": [
                            [offer.shop, str(offer.price), offer.offered_as, *offer.misses] for offer in reply.listings
                        ],
                        "notes": [said.text for said in reply.notes],
                        "buttons": list(reply.buttons),
                        "phase": state.phase,
                    }
                )
        return {"turns": turns, "requirements": to_json_document(state.requirements)}

    def _written(self, beginnings: tuple[str, ...]) -> list[Path]:
        paths = []
        for paper in sample_files():
            if paper.name.startswith(beginnings):
                path = self.folder / "papers" / paper.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(paper.content)
                paths.append(path)
        assert paths, beginnings
        return paths


def shown(cell: Cell) -> Any:
    """Of a cell what the model has a part in; how sure it is is fitted elsewhere."""
    if cell.value is None:
        return {"value": None, "reason": cell.reason}
    quotes = [evidence.quote for evidence in cell.evidence]
    return {"value": to_json_document(cell.value), "basis": cell.shown_basis, "quotes": quotes}


def researched(found: Research) -> Any:
    report = found.report
    assert report is not None
    cited = {reference.number: reference.url for reference in report.references}
    sentences = [*report.summary, *(each for section in report.sections for each in section.sentences)]
    return {
        "status": found.status,
        "type": report.report_type,
        "searches": [[task.search_query for task in each.tasks] for each in found.rounds],
        "closed": [list(each.closed) for each in found.rounds],
        "report": [[each.text, [cited[number] for number in each.citations]] for each in sentences],
        "disagreements": [each.text for each in report.disagreements],
        "claims": [[each.claim.claim_text, each.verdict] for each in report.claims],
        "not found": [each.what for each in report.unfound],
        "remarks": list(report.notes),
        "quotes": [quote for reference in report.references for quote in reference.quotes],
    }


def fields(*texts: str) -> tuple[Field, ...]:
    return tuple(parse_field(text) for text in texts)
