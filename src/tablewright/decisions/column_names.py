"""Columns that people often ask for: the names they go by, and the kind of answer. They tell a column's name from other
words, and give a column the type that it mostly has."""

from __future__ import annotations

import re
from functools import lru_cache

from tablewright.extraction.wanted import Kind
from tablewright.table.model import Noun
from tablewright.text.words import normal


class KnownColumn(Noun, frozen=True):
    """The first of its names is the plainest."""

    names: tuple[str, ...]
    kind: Kind


_COLUMNS: tuple[tuple[Kind, str], ...] = (
    (
        "year",
        "founded|founding year|year founded|year of foundation|founding date|foundation|established|"
        "year established|formed|year formed|inception|incorporated|founding|start of business|est|"
        "in business since",
    ),
    (
        "year",
        "born|birth|year of birth|birth year|date of birth|birth date|birthdate|dob|birthday",
    ),
    (
        "year",
        "died|death|year of death|date of death|death date",
    ),
    (
        "year",
        "released|release date|release|original release|year released|release year|date released|"
        "premiere|premiered|first aired|air date|original air date|published|year published|"
        "publication date|publication year|first published|date published|issued|debut",
    ),
    (
        "year",
        "recorded|year recorded|recording date|date recorded",
    ),
    (
        "year",
        "opened|year opened|opening|opening date|opening year|date opened|inaugurated|inauguration",
    ),
    (
        "year",
        "completed|year completed|completion|built|year built|constructed|construction|date built|"
        "erected|finished|commissioned|launched",
    ),
    (
        "year",
        "start year|first year|year started|began|start date|start|first season|debut year|joined|"
        "from|year first used|introduced|year introduced|start of term|took office|term start|since",
    ),
    (
        "year",
        "end year|last year|ended|end date|end of term|term end|retired|disbanded|closed|dissolved|"
        "left office|until|year closed",
    ),
    (
        "year",
        "year|years|date|when|season|edition",
    ),
    (
        "date",
        "effective date|date of agreement|agreement date|commencement date",
    ),
    (
        "date",
        "invoice date|receipt date|date of purchase|purchase date|transaction date|bill date|order date|date of issue",
    ),
    (
        "city",
        "headquarters|registered office|headquarters city|headquarters location|hq|hq city|head office|"
        "headquartered|based in|base|corporate headquarters|city of headquarters|company location|"
        "seat of company",
    ),
    (
        "city",
        "city|town|city town|location city|host city|host cities|host location|hometown|home town|"
        "city of license|municipality|village|locality|home city|where|municipality city|host|hosts|"
        "venue city|town city",
    ),
    (
        "city",
        "capital|capital city|county seat|seat|administrative centre|administrative center|"
        "capital or seat|administrative seat|chef-lieu|largest city",
    ),
    (
        "place",
        "birthplace|place of birth|born in|birth place|city of birth",
    ),
    (
        "country",
        "nation of birth|country of birth|birth country",
    ),
    (
        "place",
        "city state|location|place|situated|region of origin|original location",
    ),
    (
        "text",
        "address|street address|mailing address|postal address|main address",
    ),
    (
        "text",
        "phone|telephone|phone number|telephone number|tel|phone no|contact number|call",
    ),
    (
        "text",
        "email|e-mail|email address|e-mail address|mail",
    ),
    (
        "state",
        "state|province|state or territory|state ut|state or union territory|state country|us state|state province",
    ),
    (
        "country",
        "country|nation|nationality country|country of origin|origin country|nationality nation|sovereign state",
    ),
    (
        "nationality",
        "nationality|citizenship|ethnicity",
    ),
    (
        "place",
        "origin|origins|from|place of origin|birthplace of band",
    ),
    (
        "name",
        "county|counties|county or counties",
    ),
    (
        "person",
        "ceo|chief executive|chief executive officer|managing director|president and ceo|head|boss",
    ),
    (
        "person",
        "founder|founders|founded by|founder s|co-founder|created by|creator|inventor|invented by",
    ),
    (
        "person",
        "director|directed by|director s|film director",
    ),
    (
        "person",
        "author|writer|written by|author s|novelist|playwright",
    ),
    (
        "name",
        "artist|original artist|singer|performer|band|performed by|musician|recording artist|artist s",
    ),
    (
        "person",
        "composer|composed by|music by",
    ),
    (
        "person",
        "producer|produced by",
    ),
    (
        "name",
        "character|role|character name|played|part",
    ),
    (
        "organisation",
        "owner|owned by|parent|parent company|operator|operated by|proprietor|owners",
    ),
    (
        "organisation",
        "manufacturer|maker|built by|made by|builder|manufactured by|supplier|developer|developed by|designer",
    ),
    (
        "organisation",
        "publisher|published by|record label|label|studio|distributor|production company",
    ),
    (
        "organisation",
        "network|channel|broadcaster|tv network|original network|station",
    ),
    (
        "organisation",
        "college|school|university|alma mater|education|school club team|college team|attended|educated at",
    ),
    (
        "organisation",
        "conference|league|division|athletic conference",
    ),
    (
        "name",
        "stadium|home stadium|home ground|arena|venue|home venue|ground|home field|ballpark",
    ),
    (
        "name",
        "home team|tenant|tenants|team|club|home club|tenant use",
    ),
    (
        "text",
        "public or private|private or public|control|institutional control|type of control|"
        "institution type|type of institution|school type|type of school|ownership type",
    ),
    (
        "name",
        "electoral district|constituency|riding|district|ward",
    ),
    (
        "name",
        "river|rivers",
    ),
    (
        "organisation",
        "party|political party",
    ),
    (
        "text",
        "industry|sector|business|line of business|field|trade",
    ),
    (
        "title",
        "original title|title in the original language|native name|original name|chinese title|"
        "japanese title|korean title|french title|german title|spanish title|italian title|"
        "name in czech|region name in czech|native title|original language title|local name|"
        "name in local language",
    ),
    (
        "title",
        "english title|title in english|english name|international title",
    ),
    (
        "name",
        "branding|brand|nickname|also known as|aka|alias|known as|slogan",
    ),
    (
        "code",
        "iata|icao|iata code|icao code|lid|faa lid|tc lid|icao tc lid iata|code|ticker|symbol|"
        "ticker symbol|stock symbol|sku|part number|model number|callsign|call sign",
    ),
    (
        "code",
        "isbn|isbn 13|isbn13|ean",
    ),
    (
        "code",
        "isbn 10|isbn10",
    ),
    (
        "url",
        "website|url|web site|homepage|home page|official website|web|site|link",
    ),
    (
        "count",
        "employees|number of employees|employee count|staff|headcount|workforce|people employed|team size",
    ),
    (
        "count",
        "population|inhabitants|residents",
    ),
    (
        "count",
        "capacity|seating capacity|seats|stadium capacity|maximum capacity|number of seats",
    ),
    (
        "measure",
        "power|capacity mw|power mw|installed capacity|nameplate capacity|output|installed capacity mw|"
        "wattage|rated power|power consumption|power rating|heating element|input power",
    ),
    (
        "money",
        "revenue|turnover|sales|annual revenue|annual sales|net sales",
    ),
    (
        "money",
        "price|cost|list price|msrp|rrp|fee|rate|retail price|unit price|monthly price|price per month|salary",
    ),
    (
        "money",
        "total|total amount|grand total|amount due|total due|amount|invoice total|receipt total|"
        "total price|amount payable|total payable|balance due|total paid",
    ),
    (
        "measure",
        "frequency|frequency in khz|frequency in mhz|frequency khz|frequency mhz",
    ),
    (
        "text",
        "fuel economy|gas mileage|mpg|mileage|fuel consumption|fuel efficiency",
    ),
    (
        "text",
        "mpaa rating|mpaa|rated|age rating|film rating|certificate|content rating",
    ),
    (
        "measure",
        "weight|mass|net weight|item weight|wt",
    ),
    (
        "measure",
        "height|tall|elevation|ht",
    ),
    (
        "measure",
        "length|long|total length",
    ),
    (
        "measure",
        "width|wide",
    ),
    (
        "measure",
        "area|surface|size|land area",
    ),
    (
        "measure",
        "volume|capacity l|litres|liters|capacity litres|water capacity|tank capacity|contents|fill volume",
    ),
    (
        "measure",
        "warranty|guarantee|warranty period",
    ),
)
_VAGUE = frozenset(
    {"year", "date", "location", "place", "when", "where", "origin", "capacity", "title", "from", "start"}
)
_WEAK = frozenset(
    """from head base place start seat rate field site web link host part release rise total class code symbol band
    label size long wide home call mail""".split()
)


@lru_cache(maxsize=1)
def known_columns() -> dict[str, KnownColumn]:
    found = {}
    for kind, names in _COLUMNS:
        column = KnownColumn(names=tuple(names.split("|")), kind=kind)
        found.update({normal(name): column for name in column.names})
    return found


@lru_cache(maxsize=2048)
def known_column(name: str, question: str = "") -> KnownColumn | None:
    """The column that has this name, or else one whose name stands in the question or the name."""
    listed = known_columns()
    own = normal(name)
    parts = [normal(part) for part in re.split(r"[/,(;]|\bor\b|\band\b", name)]
    for candidate in (own, *parts):
        if candidate in listed and not (candidate in _VAGUE and _named_in(question)):
            return listed[candidate]
    return _named_in(question) or _named_in(name) or listed.get(own)


def _named_in(text: str) -> KnownColumn | None:
    """The column with the longest name that stands in the text; vague ones only if nothing else does."""
    listed = known_columns()
    spaced = f" {normal(text)} "
    found = [name for name in listed if f" {name} " in spaced and name not in _WEAK]
    return listed[max(found, key=lambda name: (name not in _VAGUE, len(name)))] if found else None
