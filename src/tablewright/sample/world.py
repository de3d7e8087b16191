"""The sample web: written sites, sites put together from tables of facts, and the business register."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from tablewright.domain.model import Struct
from tablewright.sample.products import KETTLES, LAMPS, product_sites
from tablewright.sample.site import SamplePage, Site, read_topic, site_address, slugify, written_sites

# The world's calendar stands still, so that "the last month" means the same pages for ever.
TODAY = "2026-06-30"


@cache
def sample_world() -> Mapping[str, Site]:
    # Files of written sites in `world/`; products and the register are put together from tables of facts.
    sites = {
        site.name: site
        for topic in ("companies", "press", "providers", "solar")
        for site in written_sites(read_topic(topic))
    }
    sites |= {site.name: site for topic in (KETTLES, LAMPS) for site in product_sites(topic)}
    for page in register_pages():
        site = sites[page.site]
        sites[site.name] = msgspec.structs.replace(site, pages={**site.pages, page.path: page})
    return sites


@cache
def sample_edition() -> str:
    """Differs where the world may: with every version of Tablewright, and with every change of what it is made of."""
    digest = hashlib.sha256(version("tablewright").encode())
    for name, content in sorted(package_files(files("tablewright.sample"))):
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def package_files(folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield entry.name, entry.read_bytes()
        elif entry.name != "__pycache__":
            yield from package_files(entry)


def sample_pages() -> list[SamplePage]:
    return [page for site in sample_world().values() for page in site.pages.values()]


class RegisterEntry(Struct, frozen=True):
    name: str
    city: str
    country: str
    trade: str
    phone: str
    site: str
    registered: str
    size: str


def register_pages() -> list[SamplePage]:
    entries = [_register_page(entry) for entry in msgspec.convert(read_topic("register")["entry"], list[RegisterEntry])]
    listed = "\n".join(f"- [{page.title}]({page.path})" for page in entries)
    home = SamplePage(site="ledgerline", path="/", menu="All businesses", title="All businesses", body=listed)
    return [home, *entries]


def _register_page(entry: RegisterEntry) -> SamplePage:
    lines = [
        f"Trade :: {entry.trade}",
        f"Address :: {entry.city}, {entry.country}",
        f"Telephone :: {entry.phone}",
        f"Entered in the trade register :: {entry.registered}",
    ]
    if entry.site:
        lines.append(f"Web :: [{site_address(entry.site)}]({site_address(entry.site)}/)")
    if entry.size:
        lines.append(f"Size class :: {entry.size} persons")
    body = f"{entry.name} is listed under {entry.trade.lower()} in {entry.city}.\n\n" + "\n".join(lines)
    return SamplePage(
        site="ledgerline", path=f"/b/{slugify(entry.name)}", title=entry.name, body=body, published="2026-04-01"
    )
