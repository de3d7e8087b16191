"""The whole sample web: the written sites, and those that are put together from tables of facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from tablewright.sample.kettles import kettle_sites
from tablewright.sample.register import register_pages
from tablewright.sample.site import Page, Site, read_topic

TODAY = "2026-06-30"
"""The world's calendar stands still, so that "the last month" means the same pages for ever."""


@cache
def world() -> Mapping[str, Site]:
    sites = {site.name: site for topic in ("companies", "press", "providers", "solar") for site in _written(topic)}
    sites |= {site.name: site for site in kettle_sites()}
    for page in register_pages():
        site = sites[page.site]
        sites[site.name] = msgspec.structs.replace(site, pages={**site.pages, page.path: page})
    return sites


def pages() -> list[Page]:
    return [page for site in world().values() for page in site.pages.values()]


def _written(topic: str) -> Iterator[Site]:
    for entry in read_topic(topic)["site"]:
        written = [{"site": entry["name"], **page} for page in entry.pop("page")]
        found = msgspec.convert(written, list[Page])
        yield msgspec.structs.replace(msgspec.convert(entry, Site), pages={page.path: page for page in found})
