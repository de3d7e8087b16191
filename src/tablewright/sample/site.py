"""The sites and pages of the sample web, as written in `world/`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright.domain.model import Struct
from tablewright.sample import markup

# Fields that the pages of the sample's companies answer.
COLUMNS = (
    "Founded:number=What year was {Company} founded?",
    "Headquarters=In which city is {Company} headquartered?",
    "CEO=Who is the chief executive of {Company}?",
    "Employees:number=How many people does {Company} employ?",
)

Layout: TypeAlias = Literal["plain", "cards", "frames", "news", "wiki", "register", "shop", "app", "board"]


class SamplePage(Struct, frozen=True):
    """`body` is markup. `indexed` is what search engines still remember of a page that visitors get no text of."""

    site: str
    path: str
    title: str
    body: str = ""
    menu: str = ""
    """The page's name in the site's navigation; empty when it is not there."""
    published: str = "2026-01-15"
    byline: str = ""
    status: int = 200
    redirect: str = ""
    delay: float = 0.0
    """Seconds until the server answers."""
    consent: bool = False
    """Whether the text is shown only to visitors with the cookie `consent=yes`."""
    indexed: str = ""
    document: str = ""
    """The sample document that is served here instead of a page."""

    @property
    def url(self) -> str:
        return site_address(self.site) + self.path

    @property
    def text(self) -> str:
        """The text that a person can read on the page."""
        return markup.markup_to_text(self.body)


class Site(Struct, frozen=True):
    name: str
    title: str
    layout: Layout = "plain"
    tagline: str = ""
    footer: str = ""
    charset: Literal["utf-8", "iso-8859-1"] = "utf-8"
    forbids: tuple[str, ...] = ()
    """Folders that robots.txt closes."""
    pages: Mapping[str, SamplePage] = {}


def site_address(site: str) -> str:
    return f"http://www.{site}.example"


def read_topic(topic: str) -> dict[str, Any]:
    """Numbers with a point stay decimal, as written: a price of 78.50 keeps its cents."""
    written = (files("tablewright.sample") / "world" / f"{topic}.toml").read_text(encoding="utf-8")
    return tomllib.loads(written, parse_float=Decimal)


def written_sites(topic: Mapping[str, Any]) -> Iterator[Site]:
    for entry in topic["site"]:
        pages = msgspec.convert([{"site": entry["name"], **page} for page in entry["page"]], list[SamplePage])
        about = msgspec.convert({name: value for name, value in entry.items() if name != "page"}, Site)
        yield msgspec.structs.replace(about, pages={page.path: page for page in pages})


def slugify(name: str) -> str:
    """Return a name as used in addresses: "Vindarö Kraft AB" is vindaro-kraft-ab."""
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
