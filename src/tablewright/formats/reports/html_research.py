"""The parts of an HTML report that show how it came about: claims, gaps, references, sources, rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tablewright.domain.model import Evidence
from tablewright.domain.research import CheckedClaim, Reference, RoundSummary, SeenSource, Unfound
from tablewright.formats.reports import wording
from tablewright.formats.reports.html_marks import anchor, grid
from tablewright.formats.reports.wording import PARTS, Words

_SHOWN_OPEN = 12


def claims(checked: Sequence[CheckedClaim], words: Words) -> str:
    return "\n".join(_claim(each, words) for each in checked)


def _claim(checked: CheckedClaim, words: Words) -> str:
    claim = checked.claim
    source = anchor(claim.source_url, wording.host(claim.source_url) or claim.source_url)
    said = f' <span class="from">({words("claimed by")} {source})</span>' if claim.source_url else ""
    rests_on = words.rests_on(checked)
    reason = f'<p class="reason" dir="auto">{escape(rests_on)}</p>' if rests_on else ""
    return (
        f'<article class="claim {checked.verdict.replace(" ", "-")}">'
        f'<p class="verdict">{words.mark(checked.verdict)}</p>'
        f'<p class="claimed" dir="auto">{escape(claim.claim_text)}{said}</p>{reason}'
        f"{''.join(_evidence(each, words) for each in checked.evidence)}</article>"
    )


def _evidence(evidence: Evidence, words: Words) -> str:
    quote = f'<p dir="auto">{escape(words.quoted(evidence.quote))}</p>' if evidence.quote else ""
    source = anchor(evidence.origin, words.evidence_source(evidence))
    return f"<blockquote>{quote}<footer><b>{words.mark(evidence.stance)}:</b> {source}</footer></blockquote>"


def unfound(missing: Sequence[Unfound]) -> str:
    points = "".join(
        f'<li dir="auto">{f"<b>{escape(each.what)}</b>" if each.what else ""}'
        + (f' <span class="from">{escape(each.where)}</span>' if each.where else "")
        + "</li>"
        for each in missing
    )
    return f'<ul class="unfound">{points}</ul>' if points else ""


def references(listed: Sequence[Reference], words: Words) -> str:
    points = "\n".join(_reference(each, words) for each in listed)
    return f'<ol class="references">\n{points}\n</ol>' if points else ""


def _reference(reference: Reference, words: Words) -> str:
    title = anchor(reference.url, words.reference_title(reference))
    details = words.reference_details(reference)
    address = reference.url if reference.url != words.reference_title(reference) else ""
    return (
        f'<li id="reference-{reference.number}"><span class="number">[{reference.number}]</span><div>'
        f'<p class="title" dir="auto">{title}</p>'
        + (f'<p class="from">{escape(details)}</p>' if details else "")
        + (f'<p class="address">{escape(address)}</p>' if address else "")
        + "".join(f'<blockquote dir="auto">{escape(words.quoted(quote))}</blockquote>' for quote in reference.quotes)
        + "</div></li>"
    )


def sources(seen: Sequence[SeenSource], words: Words) -> str:
    """A long list is folded: its sum is what most readers want."""
    if not seen:
        return ""
    counted = f"{words('{count} source|{count} sources', count=len(seen))}: {words.source_counts(tuple(seen))}"
    header = words("Source"), words("Status"), words("Detail")
    return (
        f"<details{' open' if len(seen) <= _SHOWN_OPEN else ''}><summary>{counted}</summary>\n"
        f"{grid('sources', header, [_source(source, words) for source in seen])}</details>"
    )


def _source(source: SeenSource, words: Words) -> tuple[str, str, str]:
    site = f' <span class="from">{escape(source.domain)}</span>' if source.domain and source.title else ""
    return (
        anchor(source.url, wording.source_title(source)) + site,
        f'<span class="status {source.status}">{words.status(source.status)}</span>',
        escape(source.detail),
    )


def rounds(summaries: Sequence[RoundSummary], words: Words) -> str:
    points = "\n".join(_round(each, parts, words) for each, parts in words.happened(summaries))
    return f'<ol class="rounds">\n{points}\n</ol>' if points else ""


def _round(summary: RoundSummary, parts: Mapping[str, Sequence[str]], words: Words) -> str:
    lists = {kind: texts for kind, texts in parts.items() if kind != "stopped"}
    stopped = f'<p class="stopped" dir="auto"><b>{words("Why it stopped")}:</b> {escape(summary.stopped)}</p>'
    return (
        f"<li><h3>{escape(words.round_name(summary))}</h3>"
        + "".join(_what_happened(kind, words(PARTS[kind]), texts) for kind, texts in lists.items())
        + (stopped if summary.stopped else "")
        + "</li>"
    )


def _what_happened(kind: str, said: str, texts: Sequence[str]) -> str:
    points = "".join(f'<li dir="auto">{escape(text)}</li>' for text in texts if text)
    return f'<div class="{kind}"><p class="label">{said}</p><ul>{points}</ul></div>'
