"""The whole sample web: the written sites, and those that are put together from tables of facts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from tablewright.sample.kettles import kettle_sites
from tablewright.sample.register import register_pages
from tablewright.sample.site import Page, Site, read_topic, written_sites

TOPICS = ("companies", "press", "providers", "solar")
TODAY = "2026-06-30"
"""The world's calendar stands still, so that "the last month" means the same pages for ever."""


@cache
def world() -> Mapping[str, Site]:
    sites = {site.name: site for topic in TOPICS for site in written_sites(read_topic(topic))}
    sites |= {site.name: site for site in kettle_sites()}
    for page in register_pages():
        site = sites[page.site]
        sites[site.name] = msgspec.structs.replace(site, pages={**site.pages, page.path: page})
    return sites


def pages() -> list[Page]:
    return [page for site in world().values() for page in site.pages.values()]
