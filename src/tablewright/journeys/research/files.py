"""What a piece of research came to, as a file and as one JSON document."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tablewright.domain.document import document
from tablewright.domain.research import Research
from tablewright.errors import UsageError
from tablewright.formats.reports import render, report_format
from tablewright.journeys.files import replacing


async def write_report(research: Research, path: Path) -> None:
    format = report_format(path)
    if research.report is None:
        raise UsageError(
            f"Research {research.id} has no report yet.",
            advice=f"`tablewright research --resume {research.id}` continues it.",
        )
    content = await asyncio.to_thread(render, research.report, format)
    with replacing(path, kept="The report is safe.") as stream:
        stream.write(content)


def research_report(research: Research) -> dict[str, Any]:
    """The memo of each round, the gaps that are left, the claims with their verdicts, the table and the report."""
    last = research.rounds[-1] if research.rounds else None
    report = research.report
    return {
        "research_id": research.id,
        "status": research.status,
        "table_id": research.table_id,
        "brief": document(research.brief),
        "rounds": document(research.rounds),
        "gaps": document(last.memo.gaps) if last else [],
        "claims": [each for round in document(research.rounds) for each in round.get("checked", [])],
        "table": document(report.table) if report else None,
        "report": document(report) if report else None,
        "answered": document(research.answered),
        "usage": document(report.usage) if report else None,
    }
