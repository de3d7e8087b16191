"""What people ask for, and how texts say it. One entry a relation: the names a column for it has, the kind of answer,
and the words beside which the answer stands. A column that fits none is read by its own words."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

from tablewright.table.model import Noun
from tablewright.text.words import normal as normal

Kind: TypeAlias = Literal[
    "year", "date", "money", "measure", "count", "number", "yesno", "option", "person", "city", "state", "country",
    "nationality", "place", "organisation", "name", "title", "code", "url", "text",
]  # fmt: skip

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Boulevard|Blvd|Lane|Ln|Highway|Hwy|Way|Place|Pl|Square|Sq|Court|Ct|"
    r"Parkway|"
    r"Pkwy|Terrace|Circle|Broadway|Plaza|Pike|Mall)"
)
WORK = (
    r"(?:film|movie|novel|book|album|song|single|series|show|play|game|comic|musical|opera|documentary|drama|thriller)"
)
_ON_STAGE = (
    r"\b(?:guitar|bass|drums?|percussion|piano|keyboards?|organ|violin|cello|viola|flute|saxophone|sax|trumpet|harp|"
    r"banjo|lead|roles?|part|character)\b"
)
_PLAYER = (
    r"(?:(?:\w*ball|soccer|hockey|rugby|cricket|lacrosse|polo|league|union|professional) player|(?<!security )guard|"
    r"(?:\w*ball|hockey|starting|backup|professional) cent(?:er|re)|forward|pitcher|catcher|goalkeeper|goaltender|"
    r"defender|defen[cs]eman|midfielder|striker|winger|quarterback|linebacker)"
)
_WITH_TEAM = r"with(?= the | [^.,;:]{0,40}?\b(?:club|side|team|franchise|FC|SC|AC|CF|United|City|Rovers)\b)"


class Relation(Noun, frozen=True):
    """`cue` is looked for in sentences, ignoring case; the answer mostly follows it.

    `defining` reads the first sentence of a page, whose first group is the answer: "X is a 2008 Kannada film".
    `unlike` are labels that only look like this one: "Total GST" is no total.
    """

    names: str
    kind: Kind
    cue: str = ""
    before: str = ""
    """Words right before which the answer stands: "a 75,523-seat stadium"."""
    defining: str = ""
    unlike: str = ""
    weak: str = ""
    """Words that say little by themselves: "in", "by". They count for less than a cue."""
    pattern: str = ""
    """Wherever it is found in a sentence, its first group is an answer."""
    lesser: str = ""
    """Labels that answer it where no better one does: a list price, where a price is asked."""
    earliest: bool = False
    """Of several answers in a sentence the first is meant: when something was released, not when again."""
    lone: bool = False
    """Such an answer needs no words beside it: "$38.50" on a line of its own; with a `pattern`, wherever it is."""
    byline: bool = False
    """A line "by Jane Doe" names it."""
    own_labels: bool = False
    """The names are of different things of one kind (IATA, ICAO): only the field's own name is its label."""
    labels: str = ""
    """More labels that answer it where it has options, and are no names for it: "Affiliation: private"."""
    unit: str = ""
    """A unit of what it measures, where its text gives none."""
    stature: bool = False
    """How tall somebody is, which may be written 6-8: feet and inches."""
    heading: bool = False
    """It stands beside a player's name and number at the top of a page: "Ann Lee #7 Guard Salem Owls"."""
    formed: bool = False
    """An answer has the form of the `pattern`, and what else its line says is no part of it."""


RELATIONS: tuple[Relation, ...] = (
    # ── when ──
    Relation(
        names="founded|founding year|year founded|year of foundation|founding date|foundation|established|"
        "year established|formed|year formed|inception|incorporated|founding|start of business|est|in business since",
        kind="year",
        earliest=True,
        cue=r"\b(?:co-?)?(?:founded|established|formed|incorporated|started|created|set up|organi[sz]ed|chartered|"
        r"founding|inception|incorporation|launched|began (?:operations|life|as)|opened its doors|established itself|"
        r"came into (?:existence|being)|spun off|(?:was|were) begun|merger|dates? (?:back )?to|in business since|"
        r"traces? its (?:roots|origins?|history)"
        r"(?: back)? to|origins? (?:in|to)|founders?)\b",
        weak=r"\bsince\b",
    ),
    Relation(
        names="born|birth|year of birth|birth year|date of birth|birth date|birthdate|dob|birthday",
        kind="year",
        cue=r"\b(?:born|birth|b\.|né|née)",
        defining=r"^[^(]{1,160}\([^()\d]{0,120}?((?:\d{1,2} )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})\b",
    ),
    Relation(
        names="died|death|year of death|date of death|death date",
        kind="year",
        cue=r"\b(?:died|death|d\.|passed away|was killed)",
        defining=r"^[^.]{0,120}?\([^()]{0,80}?\d{4}\s*[–—-]\s*((?:\d{1,2} )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})\s*\)",
    ),
    Relation(
        names="released|release date|release|original release|year released|release year|date released|premiere|"
        "premiered|first aired|air date|original air date|published|year published|publication date|publication year|"
        "first published|date published|issued|debut",
        kind="year",
        earliest=True,
        cue=r"\b(?:released?|premiered|premiere|published|publication|issued|debuted|aired|airing|came out|"
        r"opened in (?:theaters|cinemas)|written|serialized|appeared|recorded)\b",
        defining=rf"\b(?:is|was|are|were) (?:an?|the) (?:[\w-]+ ){{0,3}}?(\d{{4}}) (?:[\w'’-]+ ){{0,7}}?{WORK}",
    ),
    Relation(
        names="recorded|year recorded|recording date|date recorded",
        kind="year",
        cue=r"\b(?:recorded|recording|recordings|taped)\b",
    ),
    Relation(
        names="opened|year opened|opening|opening date|opening year|date opened|inaugurated|inauguration",
        kind="year",
        earliest=True,
        cue=r"\b(?:opened|opening|inaugurated|inauguration|commenced operations|open(?:ed)? to the public|began service"
        r"|began operations|launched)\b",
        weak=r"\bsince\b",
    ),
    Relation(
        names="completed|year completed|completion|built|year built|constructed|construction|date built|erected|"
        "finished|"
        "commissioned|launched",
        kind="year",
        cue=r"\b(?:completed|completion|finished|built|constructed|construction|erected|commissioned|opened|entered "
        r"(?:[\w-]+ )?service|entering (?:[\w-]+ )?service|established|inaugurated|put into operation)\b",
    ),
    Relation(
        names="start year|first year|year started|began|start date|start|first season|debut year|joined|from|"
        "year first used|introduced|year introduced|start of term|took office|term start|since",
        kind="year",
        earliest=True,
        cue=r"\b(?:began|started|starting|introduced|first|joined|from|since|commenced|took office|appointed|elected|"
        r"sworn in|launched|established|created|founded|debuted|became|beginning)\b",
    ),
    Relation(
        names="end year|last year|ended|end date|end of term|term end|retired|disbanded|closed|dissolved|left office|"
        "until|year closed",
        kind="year",
        cue=r"\b(?:ended|until|retired|resigned|disbanded|closed|dissolved|left office|ceased|defunct|demolished)\b",
    ),
    Relation(
        names="year|years|date|when|season|edition",
        kind="year",
        cue=r"\b(?:released?|published|held|took place|founded|established|opened|premiered|recorded|built|completed|"
        r"created|formed|introduced|launched|won|awarded|issued|written|directed)\b",
        defining=r"\b(?:is|was|are|were) (?:an?|the) (?:[\w'’-]+ ){0,3}?(\d{4}) [\w'’-]+",
    ),
    Relation(
        names="effective date|date of agreement|agreement date|commencement date",
        kind="date",
        cue=r"\b(?:effective|dated|entered into|made|as of|commenc\w+)\b",
    ),
    Relation(
        names="invoice date|receipt date|date of purchase|purchase date|transaction date|bill date|order date|"
        "date of issue",
        kind="date",
        cue=r"\b(?:dated?|issued|purchased|invoiced)\b",
        unlike=r"due|expir|deliver|print",
    ),
    # ── where ──
    Relation(
        names="headquarters|registered office|headquarters city|headquarters location|hq|"
        "hq city|head office|headquartered|based in|base|"
        "corporate headquarters|city of headquarters|company location|seat of company",
        kind="city",
        cue=r"\b(?:headquartered|head-?quarters?|head office|(?<!-)based|corporate offices?|main offices?|home office|"
        r"domiciled|"
        r"offices? (?:is|are) (?:located )?in|moved to|relocated to)\b",
        before=r"-based\b",
    ),
    Relation(
        names="city|town|city town|location city|host city|host cities|host location|hometown|home town|"
        "city of license|"
        "municipality|village|locality|home city|where|municipality city|host|hosts|venue city|town city",
        kind="city",
        cue=r"\b(?:located|situated|based(?! on)|headquartered|held|hosted|hosts?|licensed|serving|serves|city of|"
        r"town of|village "
        r"(?:of|in)|lies|stadium in|arena in|venue in|club (?:in|from)|team (?:in|from)|university in|college in|"
        r"school in|"
        r"campus in|campuses in|home town|hometown)\b",
        weak=r"\b(?:in|near|of)\b",
        before=r"-based\b",
    ),
    Relation(
        names="capital|capital city|county seat|seat|administrative centre|administrative center|capital or seat|"
        "administrative seat|chef-lieu|largest city",
        kind="city",
        cue=r"\b(?:capital(?: city)?(?: and largest city| and [\w ]{0,20}city)?|county seat|seat|"
        r"administrative cent(?:re|er)|"
        r"chef-lieu)\b(?: is| was| of the \w+ is|,)?",
    ),
    Relation(
        names="birthplace|place of birth|born in|birth place|city of birth",
        kind="place",
        cue=r"\b(?:born|birthplace)\b[^.;]{0,50}?\b(?:in|at)\b",
    ),
    Relation(
        names="nation of birth|country of birth|birth country",
        kind="country",
        cue=r"\bborn\b",
    ),
    Relation(
        names="city state|location|place|situated|region of origin|original location",
        kind="place",
        cue=r"\b(?:located|situated|based(?! on)|lies|headquartered|stands)\b",
        weak=r"\b(?:in|at|near)\b",
    ),
    Relation(
        names="address|street address|mailing address|postal address|main address",
        kind="text",
        lone=True,
        pattern=rf"((?<![\w.,$])\d{{1,5}}(?:-\d{{1,5}})?[A-Z]? (?:(?:[NSEW]|[A-Z0-9][\w.'-]*) ){{1,5}}?{_STREET}\b\.?)",
        unlike=r"e-?mail|web|ip\b",
    ),
    Relation(
        names="phone|telephone|phone number|telephone number|tel|phone no|contact number|call",
        kind="text",
        lone=True,
        pattern=r"(?<![\w.-])((?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}|"
        r"(?:1[ .-])?\(?\d{3}\)?[ .-]{1,3}\d{3}[ .-]\d{4}|"
        r"(?:1[ .-])?8(?:00|33|44|55|66|77|88)[.-](?=[A-Z\d-]*[A-Z]{3})[A-Z\d](?:-?[A-Z\d]){6,9})"
        r"(?:,? ?(?:[Ee]xt(?:ension|\.)?|x)[ .:]{0,2}\d{1,6})?)(?![\w-])",
        unlike=r"\bfax\b",
        formed=True,
    ),
    Relation(
        names="email|e-mail|email address|e-mail address|mail",
        kind="text",
        lone=True,
        pattern=r"(?<![\w.+-])([\w.+-]{1,64}(?:@| ?[(\[]at[)\]] ?)[\w-]+(?:(?:\.| ?[(\[]dot[)\]] ?)[\w-]+)+)",
        formed=True,
    ),
    Relation(
        names="state|province|state or territory|state ut|state or union territory|state country|us state|"
        "state province",
        kind="state",
        cue=r"\b(?:state of|province of|territory of|located|based|situated|capital (?:city )?of|city in|town in|"
        r"governor of"
        r"|senator (?:from|for)|representing)\b",
        weak=r"\b(?:in|from|of)\b",
    ),
    Relation(
        names="country|nation|nationality country|country of origin|origin country|nationality nation|sovereign state",
        kind="country",
        cue=r"\b(?:country|nation|located|based|born|president of|minister of|king of|queen of|leader of|state of|"
        r"national team|represent\w*|city in|town in|capital of)\b",
        weak=r"\b(?:in|from|of|is an?|was an?)\b",
    ),
    Relation(
        names="nationality|citizenship|ethnicity",
        kind="nationality",
        defining=r"\b(?:is|was|are|were) (?:an?|the) (?:(?:former|retired|professional|late|leading|noted|"
        r"famous) ){0,2}"
        r"([A-Z][\w-]+(?: [A-Z][\w-]+)?)",
        cue=r"\b(?:nationality|citizen(?:ship)? of)\b",
    ),
    Relation(
        names="origin|origins|from|place of origin|birthplace of band",
        kind="place",
        cue=r"\b(?:from|originat\w+ (?:in|from)|formed in|native to|indigenous to|comes from|hails? from|breed of|"
        r"origin|"
        r"developed in|based in|founded in|band from)\b",
    ),
    Relation(
        names="county|counties|county or counties",
        kind="name",
        cue=r"\b(?:county of|counties of)\b",
    ),
    # ── who ──
    Relation(
        names="ceo|chief executive|chief executive officer|managing director|president and ceo|head|boss",
        kind="person",
        cue=r"\b(?:ceo|chief executive(?: officer)?|managing director|president|led by|headed by|run by|helmed by)\b",
    ),
    Relation(
        names="founder|founders|founded by|founder s|co-founder|created by|creator|inventor|invented by",
        kind="person",
        cue=r"\b(?:founded|established|created|started|set up|formed|devised|invented|launched|conceived|developed|"
        r"designed)\b"
        r"[^.;]{0,60}?\bby\b|\b(?:founders?|co-founders?|creator|inventor)\b",
    ),
    Relation(
        names="director|directed by|director s|film director",
        kind="person",
        cue=r"\b(?:directed(?:[^.;]{0,40}?)? by|director)\b",
    ),
    Relation(
        names="author|writer|written by|author s|novelist|playwright",
        kind="person",
        byline=True,
        cue=r"\b(?:(?:written|penned|authored)(?:[^.;]{0,40}?)? by|author|writer|novel by|book by|novelist)\b",
        weak=r"\bby\b",
    ),
    Relation(
        names="artist|original artist|singer|performer|band|performed by|musician|recording artist|artist s",
        kind="name",
        cue=r"\b(?:(?:recorded|performed|sung|released|originally recorded)(?:[^.;]{0,40}?)? by|(?:song|single|album|"
        r"track|hit|record) by(?: the)?(?: [a-z-]+){0,6}(?: [A-Z]?[a-z-]+(?: [a-z/-]+){1,4})?)\b",
    ),
    Relation(
        names="composer|composed by|music by", kind="person", cue=r"\b(?:composed by|music by|composer|score by)\b"
    ),
    Relation(names="producer|produced by", kind="person", cue=r"\b(?:produced by|producer)\b"),
    Relation(
        names="character|role|character name|played|part",
        kind="name",
        cue=r"\b(?:role as|roles? of|as|portray(?:ed|ing|s)|play(?:ed|ing|s)|starred as|character|known for(?: his|"
        r" her)?"
        r" (?:role|portrayal|work) (?:as|of))\b",
    ),
    Relation(
        names="owner|owned by|parent|parent company|operator|operated by|proprietor|owners",
        kind="organisation",
        cue=r"\b(?:owned(?: and operated)?(?: by)?|operated by|owner|owners|subsidiary of|division of|part of|"
        r"acquired by|"
        r"property of|run by)\b",
    ),
    Relation(
        names="manufacturer|maker|built by|made by|builder|manufactured by|supplier|developer|developed by|designer",
        kind="organisation",
        cue=r"\b(?:(?:manufactured|made|built|designed|developed|produced|supplied|"
        r"constructed)(?: and \w+)?(?: [\w-]+){0,3}? "
        r"by(?: the)?(?: [A-Z]?[a-z]+){0,2}? (?:company|manufacturer|firm)?|manufacturer|maker|built by|made by)\b",
    ),
    Relation(
        names="publisher|published by|record label|label|studio|distributor|production company",
        kind="organisation",
        cue=r"\b(?:(?:published|released|distributed|issued|produced)(?:[^.;]{0,50}?)? (?:by|on|through|via)|publisher|"
        r"label|imprint)\b",
    ),
    Relation(
        names="network|channel|broadcaster|tv network|original network|station",
        kind="organisation",
        cue=r"\b(?:(?:aired|airs|broadcast|premiered|debuted|shown|televised|ran|distributed)(?:[^.;]{0,60}?)? (?:on|"
        r"by)"
        r"(?: the)?|created for|produced for|commissioned by|series (?:on|for)|network|channel)\b",
    ),
    Relation(
        names="college|school|university|alma mater|education|school club team|college team|attended|educated at",
        kind="organisation",
        cue=r"\b(?:college (?:football|basketball|baseball|soccer|hockey|career|ball)(?: \w+){0,3}? (?:for|at|with)|"
        r"played collegiately (?:for|at)|attended|graduated from|graduate of|studied at|educated at|alumnus of|"
        r"alumna of|"
        r"degree from|enrolled at|student at|star at)\b",
    ),
    Relation(
        names="conference|league|division|athletic conference",
        kind="organisation",
        cue=r"\b(?:members? of|compet\w+ in|plays? in|participat\w+ in|belong\w* to)\b(?: the)?",
    ),
    Relation(
        names="stadium|home stadium|home ground|arena|venue|home venue|ground|home field|ballpark",
        kind="name",
        cue=r"\b(?:home (?:matches|games|ground|stadium|field|venue)(?: is| are)?(?: at| in)?(?: the)?|home stadium|"
        r"stadium is|ground is|hosted at|based at|plays? at|arena is)\b",
    ),
    Relation(
        names="home team|tenant|tenants|team|club|home club|tenant use",
        kind="name",
        heading=True,
        cue=r"\b(?:home (?:ground|stadium|field|venue|arena|of|to|facility)(?: of| for| to)?(?: the)?(?: [A-Z][a-z]+)?"
        r"(?: (?:football|basketball|hockey|rugby|soccer) (?:team|club))?|used by(?: the)?|tenants?)\b",
        pattern=rf"\b(?:[Pp]lays\b(?:(?!{_ON_STAGE})[^.;:]){{0,40}}? for|"
        rf"(?:currently|now|is) playing (?:(?!{_ON_STAGE})[\w-]+ ){{0,3}}?(?:for|{_WITH_TEAM})|"
        rf"(?:is|currently)\b(?:(?!former|retired)[^.;:]){{0,80}}? {_PLAYER} (?:for|{_WITH_TEAM})|"
        rf"current(?:ly a)? member of|currently {_WITH_TEAM}) (?:the )?"
        r"(?:[^.,;:]{0,40}? (?:club|side|team|franchise) (?:the )?|[A-Z][\w ]{1,40}['’]s (?=[A-Z]))?"
        r"([A-Z][\w&’'-]*(?: (?:de |del |la |of (?!the ))?[A-Z0-9][\w&’'-]*){0,4})",
        unlike=r"\b(?:national|all-star|former|formerly|drafted|previously|youth|high school)\b",
    ),
    Relation(
        names="public or private|private or public|control|institutional control|type of control|institution type|"
        "type of institution|school type|type of school|ownership type",
        kind="text",
        labels="affiliation|ownership|sector",
        cue=r"\b(?:control|ownership)\b",
    ),
    Relation(
        names="electoral district|constituency|riding|district|ward",
        kind="name",
        cue=r"\b(?:constituency of|riding of|district of|represent\w+|elected (?:\w+ )?(?:in|for)|member for|"
        r"constituency)\b",
    ),
    Relation(
        names="river|rivers", kind="name", cue=r"\b(?:dam on the|on the river|across the|along the|banks of the)\b"
    ),
    Relation(names="party|political party", kind="organisation", cue=r"\b(?:member of the|leader of the|party)\b"),
    Relation(
        names="industry|sector|business|line of business|field|trade",
        kind="text",
        cue=r"\b(?:industry|sector|specialis\w+ in|specializ\w+ in|engaged in|provider of|maker of|manufacturer of)\b",
    ),
    # ── what it is called ──
    Relation(
        names="original title|title in the original language|native name|original name|chinese title|japanese title|"
        "korean title|french title|german title|spanish title|italian title|name in czech|region name in czech|"
        "native title|original language title|local name|name in local language",
        kind="title",
        cue=r"\((?:[^()]{0,40}?)?(?:Chinese|Japanese|Korean|French|German|Spanish|Italian|Czech|Slovak|Finnish|Swedish|"
        r"Danish|Norwegian|Polish|Hungarian|Russian|Portuguese|Dutch|Greek|Turkish|Arabic|Hebrew|Hindi|Tamil|Icelandic|"
        r"Estonian|Latvian|Lithuanian|Serbian|Croatian|Slovene|Romanian|Bulgarian|Ukrainian|Persian|Thai|Vietnamese)"
        r"(?: title)?:|\boriginal(?:ly)? (?:title|titled)\b|\bsimplified Chinese:|\btraditional Chinese:",
    ),
    Relation(
        names="english title|title in english|english name|international title",
        kind="title",
        cue=r"\b(?:English(?: title)?:|known in English as|released (?:[\w ]+ )?as|English title)",
    ),
    Relation(
        names="branding|brand|nickname|also known as|aka|alias|known as|slogan",
        kind="name",
        cue=r"\b(?:branded(?: on-air)? as|known(?: on-air)? as|branding|brand(?: name)?|nicknamed|called|"
        r"identif\w+ as)\b",
        unlike=r"\b(?:formerly|previously|once)\b",
    ),
    Relation(
        names="iata|icao|iata code|icao code|lid|faa lid|tc lid|icao tc lid iata|code|ticker|symbol|ticker symbol|"
        "stock symbol|sku|part number|model number|callsign|call sign",
        kind="code",
        own_labels=True,
        cue=r"\b(?:IATA|ICAO|LID|code|ticker|symbol|NYSE|NASDAQ|Nasdaq|SKU|part number|model)\b:?",
    ),
    Relation(
        names="isbn|isbn 13|isbn13|ean",
        kind="code",
        own_labels=True,
        lone=True,
        pattern=r"(?<![\w-])(97[89](?:[- ]?\d){10})(?![\w-])",
    ),
    Relation(
        names="isbn 10|isbn10",
        kind="code",
        own_labels=True,
        lone=True,
        pattern=r"(?<![\w-])(\d(?:-?\d){8}-?[\dX])(?![\w-])",
    ),
    Relation(
        names="website|url|web site|homepage|home page|official website|web|site|link",
        kind="url",
        lone=True,
        cue=r"\b(?:website|web site|homepage|visit|online at|official site)\b",
    ),
    # ── how much ──
    Relation(
        names="employees|number of employees|employee count|staff|headcount|workforce|people employed|team size",
        kind="count",
        cue=r"\b(?:employ(?:s|ed|ing|ees|ee)?|staff|workforce|headcount|workers|people|team of|colleagues|work for|"
        r"jobs)\b",
        before=r"\b(?:employees|people|staff|workers|colleagues|associates)\b",
        unlike=r"per employee|former",
    ),
    Relation(
        names="population|inhabitants|residents",
        kind="count",
        cue=r"\b(?:population|inhabitants|residents|people)\b",
    ),
    Relation(
        names="capacity|seating capacity|seats|stadium capacity|maximum capacity|number of seats",
        kind="count",
        cue=r"\b(?:capacity|seats?|seating|holds?|accommodat\w+|hold up to|taking up to|spectators|people)\b",
        before=r"[- ]?(?:seats?|seater|capacity|spectators|people|all-seater)\b",
        unlike=r"record attendance",
    ),
    Relation(
        names="power|capacity mw|power mw|installed capacity|nameplate capacity|output|installed capacity mw|wattage|"
        "rated power|power consumption|power rating|heating element|input power",
        kind="measure",
        cue=r"\b(?:capacity|output|installed|generat\w+|power|produc\w+|rated)\b",
        unlike=r"\beach\b",
    ),
    Relation(
        names="revenue|turnover|sales|annual revenue|annual sales|net sales",
        kind="money",
        cue=r"\b(?:revenues?|turnover|sales|net sales)\b",
    ),
    Relation(
        names="price|cost|list price|msrp|rrp|fee|rate|retail price|unit price|monthly price|price per month|salary",
        kind="money",
        cue=r"\b(?:prices?|priced|costs?|msrp|rrp|fee|retails? (?:for|at)|sells? (?:for|at)|from|only|starting at|"
        r"for)\b",
        unlike=r"shipping|delivery|was\b|old price|save|saving|discount|price range|fair|invoice|resale",
        lesser=r"\b(?:list|original|regular|was|combo|bundle)\b",
        lone=True,
    ),
    Relation(
        names="total|total amount|grand total|amount due|total due|amount|invoice total|receipt total|total price|"
        "amount payable|total payable|balance due|total paid",
        kind="money",
        cue=r"\b(?:total|amount due|balance due)\b",
        unlike=r"sub-?\s?total|qty|quantity|items?\b|\bgst\b(?!.*incl)|\btax\b(?!.*incl)|\bvat\b(?!.*incl)|exclu|"
        r"\bexcl|"
        r"discount|saving|change|rounding|tender|\bcash\b|points|before",
    ),
    Relation(
        names="frequency|frequency in khz|frequency in mhz|frequency khz|frequency mhz",
        kind="measure",
        cue=r"\b(?:frequency|broadcast\w*|broadcasting)\b",
        pattern=r"(?<![\d.])(\d{2,4}(?:\.\d{1,2})? ?(?:FM|AM|kHz|MHz))\b",
    ),
    Relation(
        names="fuel economy|gas mileage|mpg|mileage|fuel consumption|fuel efficiency",
        kind="text",
        lone=True,
        pattern=r"(?i)(?<![\w.])(\d{1,3}(?:\.\d)? ?(?:mpg|l/100 ?km)(?:[ /,]+(?:city|hwy|highway|combined|"
        r"\d{1,3} ?mpg)\b)*)",
    ),
    Relation(
        names="mpaa rating|mpaa|rated|age rating|film rating|certificate|content rating",
        kind="text",
        pattern=r"(?:\b[Rr]ated:? |\bMPAA(?: [Rr]ating)?:? )(NC-17|PG-13|PG|G|R|NR|Unrated|Not Rated|[UX]|12A|"
        r"1[258])(?![\w-])",
    ),
    Relation(
        names="weight|mass|net weight|item weight|wt",
        kind="measure",
        cue=r"\b(?:weigh(?:s|ed|ing|t)|mass)\b",
        unit="kg",
    ),
    Relation(
        names="height|tall|elevation|ht",
        kind="measure",
        cue=r"\b(?:height|tall|high|elevation|rises)\b",
        unit="m",
        stature=True,
    ),
    Relation(names="length|long|total length", kind="measure", cue=r"\b(?:length|long|stretch\w*|spans?)\b"),
    Relation(names="width|wide", kind="measure", cue=r"\b(?:width|wide)\b"),
    Relation(names="area|surface|size|land area", kind="measure", cue=r"\b(?:area|cover\w*|surface|size|spans?)\b"),
    Relation(
        names="volume|capacity l|litres|liters|capacity litres|water capacity|tank capacity|contents|fill volume",
        kind="measure",
        cue=r"\b(?:capacity|holds?|volume)\b",
    ),
    Relation(names="warranty|guarantee|warranty period", kind="measure", cue=r"\b(?:warranty|guarantee\w*)\b"),
)


@lru_cache(maxsize=1)
def by_name() -> dict[str, Relation]:
    return {normal(name): relation for relation in RELATIONS for name in relation.names.split("|")}
