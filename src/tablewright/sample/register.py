"""The business register: one page for each entry, and the list of them."""

from __future__ import annotations

import msgspec

from tablewright.domain.model import Noun
from tablewright.sample.site import SamplePage, address, read_topic, slug


class RegisterEntry(Noun, frozen=True):
    name: str
    city: str
    country: str
    trade: str
    phone: str
    site: str
    registered: str
    size: str


def register_pages() -> list[SamplePage]:
    entries = [_page(entry) for entry in msgspec.convert(read_topic("register")["entry"], list[RegisterEntry])]
    listed = "\n".join(f"- [{page.title}]({page.path})" for page in entries)
    home = SamplePage(site="ledgerline", path="/", menu="All businesses", title="All businesses", body=listed)
    return [home, *entries]


def _page(entry: RegisterEntry) -> SamplePage:
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
    return SamplePage(
        site="ledgerline", path=f"/b/{slug(entry.name)}", title=entry.name, body=body, published="2026-04-01"
    )
