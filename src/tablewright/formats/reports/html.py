"""A report as one HTML file: `report.html` is its template, `report.css` its style."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tablewright.domain.research import Reference, Report
from tablewright.domain.text import shortened
from tablewright.formats.reports import wording
from tablewright.formats.reports.tidy import found_nothing
from tablewright.formats.reports.wording import PARTS, Words

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FEWEST_FOR_CONTENTS = 4
_QUOTE_CHARS = 320
_SHOWN_OPEN = 12
"""Sources up to which their list is not folded."""


def to_html(report: Report) -> str:
    """Write a tidy report as HTML."""
    words = Words(report.language, report.words)
    return _template().render(
        report=report,
        words=words,
        parts=_parts(report, words),
        references={reference.number: reference for reference in report.references},
        found_nothing=found_nothing(report),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "policy": _POLICY,
        "fewest_for_contents": _FEWEST_FOR_CONTENTS,
        "shown_open": _SHOWN_OPEN,
        "part_names": PARTS,
        "quote_for": _quote_for,
        "link": wording.link,
        "host": wording.host,
        "address": wording.address,
        "source_title": wording.source_title,
    }
    return environment.get_template("report.html")


def _quote_for(reference: Reference, text: str) -> str:
    return shortened(wording.best_quote(reference, text), _QUOTE_CHARS)


def _parts(report: Report, words: Words) -> list[tuple[str, str, object]]:
    """Return anchor, heading and content of each part that is not empty, in their order."""
    table = report.table
    parts: list[tuple[str, str, object]] = [
        ("table", words("At a glance"), table if table and table.rows else None),
        ("others", words("Also considered"), table.others if table else None),
        *(
            (f"section-{place}", section.heading or words("Findings"), section.sentences)
            for place, section in enumerate(report.sections, 1)
        ),
        ("disagreements", words("Where sources disagree"), report.disagreements),
        ("claims", words("Claims checked"), report.claims),
        ("unfound", words("What we could not find, and where we looked"), report.unfound),
        ("next-steps", words("Next steps"), report.next_steps),
        ("completeness", words("Is the list complete?"), report.completeness),
        ("references", words("References"), report.references),
        ("sources", words("Every source seen"), report.sources),
        ("rounds", words("How the research went"), list(words.happened(report.rounds))),
        ("cost", words("What it cost"), words.cost(report.usage)),
    ]
    return [part for part in parts if part[2]]
