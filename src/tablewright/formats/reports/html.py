"""Render a tidy report as one HTML file: `report.html` is its template, `report.css` its style."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tablewright.domain.research import Report
from tablewright.domain.text import shorten_text
from tablewright.formats.reports import wording
from tablewright.formats.reports.tidy import found_nothing
from tablewright.formats.reports.wording import PARTS, ReportWords


def render_html_report(report: Report) -> str:
    """Write a tidy report as HTML."""
    words = ReportWords(report.language, report.words)
    return _load_template().render(
        report=report,
        words=words,
        parts=_list_parts(report, words),
        references={reference.number: reference for reference in report.references},
        found_nothing=found_nothing(report),
    )


@cache
def _load_template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # The file must load nothing and run nothing, whatever its retrieved words contain.
    environment.globals |= {
        "policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        "fewest_for_contents": 4,
        "shown_open": 12,
        "part_names": PARTS,
        # A tooltip of about five lines.
        "quote_for": lambda reference, text: shorten_text(wording.choose_best_quote(reference, text), 320),
        "link": wording.safe_link,
        "host": wording.site_of_link,
        "address": wording.short_address,
        "source_title": wording.title_of_source,
    }
    return environment.get_template("report.html")


def _list_parts(report: Report, words: ReportWords) -> list[tuple[str, str, object]]:
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
