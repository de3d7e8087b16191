"""Annotations as plain tuples, so that tests show what was read."""

from __future__ import annotations

from tablewright.documents.annotate.annotate import annotate_parsed, is_sound_annotation
from tablewright.domain.documents import Annotation, Property
from tablewright.extraction.layout.draft import Parsed


def read(text: str, media: str = "txt") -> tuple[Annotation, ...]:
    found = annotate_parsed(Parsed(text=text, media=media))
    assert all(is_sound_annotation(each, text) for each in found)
    return found


def facts(text: str, by: str = "") -> dict[str, Property]:
    """By label; the first of each."""
    found: dict[str, Property] = {}
    for each in read(text):
        if each.shape == "fact" and by in ("", each.by):
            found.setdefault(each.properties[0].label, each.properties[0])
    return found


def rows(text: str) -> list[dict[str, str]]:
    return [{prop.label: prop.value.raw for prop in each.properties} for each in read(text) if each.shape == "row"]
