"""The entries of the business register, one page each."""

from __future__ import annotations

import re
import unicodedata

import msgspec

from tablewright.sample.site import Page, address, read_topic
from tablewright.table.model import Noun


class Entry(Noun, frozen=True):
    name: str
    city: str
    country: str
    trade: str
    phone: str
    site: str
    registered: str
    size: str


def register_pages() -> list[Page]:
    return [_page(entry) for entry in msgspec.convert(read_topic("register")["entry"], list[Entry])]


def _page(entry: Entry) -> Page:
    lines = [
        f"Trade :: {entry.trade}",
        f"Address :: {entry.city}, {entry.country}",
        f"Telephone :: {entry.phone}",
        f"Entered in the trade register :: {entry.registered}",
    ]
    if entry.site:
        lines.append(f"Web :: [{address(entry.site)}]({address(entry.site)}/)")
    if entry.size:
        lines.append(f"Size class :: {entry.size} persons")
    body = f"{entry.name} is listed under {entry.trade.lower()} in {entry.city}.\n\n" + "\n".join(lines)
    return Page(site="ledgerline", path=f"/b/{slug(entry.name)}", title=entry.name, body=body, published="2026-04-01")


def slug(name: str) -> str:
    """A name as it stands in an address: "Vindarö Kraft AB" is vindaro-kraft-ab."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
