"""Words as labels and values use them: one spelling, one number, abbreviations written out, synonyms under one name."""

from __future__ import annotations

import re
from functools import lru_cache

from tablewright.table.rowkey import fold

_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_SUBSCRIPT = re.compile(r"\b([a-z])_(?=[a-z])")
_KEPT_S = ("ss", "us", "is")


def tokens(text: str) -> list[str]:
    """The words and numbers of a text in order, folded; "P_max" is one word."""
    return _TOKEN.findall(_SUBSCRIPT.sub(r"\1", fold(text)))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """In the singular and in one spelling: "tyres" is "tire"."""
    return spelt(_singular(word))


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(_KEPT_S):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def spelt(word: str) -> str:
    if word in _AMERICAN:
        return _AMERICAN[word]
    return _ISE.sub(r"iz\1", word) if len(word) > 6 else word


_ISE = re.compile(r"is(ation|e|ed|ing|er)$")
_AMERICAN = dict(
    pair.split(":")
    for pair in (
        "tyre:tire colour:color litre:liter metre:meter kilometre:kilometer centimetre:centimeter "
        "millimetre:millimeter centre:center fibre:fiber theatre:theater grey:gray aluminium:aluminum cheque:check "
        "licence:license programme:program catalogue:catalog mould:mold jewellery:jewelry kerb:curb defence:defense "
        "labour:labor honour:honor harbour:harbor neighbour:neighbor flavour:flavor behaviour:behavior "
        "vapour:vapor armour:armor favour:favor rumour:rumor odour:odor plough:plow pyjama:pajama "
        "sulphur:sulfur whisky:whiskey yoghurt:yogurt cosy:cozy storey:story moulding:molding dialogue:dialog "
        "analogue:analog ageing:aging enrolment:enrollment fulfilment:fulfillment instalment:installment "
        "skilful:skillful travelled:traveled travelling:traveling modelling:modeling labelled:labeled "
        "labelling:labeling cancelled:canceled doughnut:donut draught:draft"
    ).split()
)
_BRITISH = {american: british for british, american in _AMERICAN.items()}


def writings(text: str) -> tuple[str, ...]:
    """How words may be written in a text whose index knows stems but no spellings: "tire" also as "tyre",
    "monocrystalline" also as "mono crystalline" and "mono c-Si"."""
    words = [stem(word) for word in tokens(text)]
    apart = _PREFIXED.sub(r"\1 \2", " ".join(words))
    found = [" ".join(tokens(text)), " ".join(words), apart, " ".join(_BRITISH.get(word, word) for word in words)]
    found += [
        apart.replace(f"{whole[0]} {whole[1]}", f"{whole[0]}").replace(whole[0], f"{short[0]}-{short[1]}")
        for short, whole in _SPELT_OUT.items()
    ]
    return tuple(dict.fromkeys(filter(None, found)))


_PREFIXED = re.compile(
    r"\b(mono|multi|poly|micro|nano|anti|non|semi|super|ultra|over|under|self|bi|tri|photo|thermo|electro|hydro|turbo)"
    r"([a-z]{4,})\b"
)


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_SPELT_OUT = {("c", "si"): ("crystalline", "silicon"), ("a", "si"): ("amorphous", "silicon")}


def text_stems(text: str) -> tuple[str, ...]:
    """Values come again and again; whole passages do not, and are not kept."""
    return _known_stems(text) if len(text) <= LONGEST_VALUE else _stems(text)


LONGEST_VALUE = 200


@lru_cache(maxsize=1 << 16)
def _known_stems(text: str) -> tuple[str, ...]:
    return _stems(text)


def _stems(text: str) -> tuple[str, ...]:
    words = tokens(text)
    found: list[str] = []
    for word in words:
        if found and (whole := _SPELT_OUT.get((found[-1], word))):
            found[-1:] = whole
        else:
            found.append(stem(word))
    return tuple(found)


def holds(text: str, asked: str) -> bool:
    """Whether the asked words stand in the text side by side, written together or apart: "Mono-crystalline silicon"
    holds "monocrystalline"."""
    wanted = "".join(text_stems(asked))
    return bool(wanted) and _stands_in(text_stems(text), wanted)


def _stands_in(words: tuple[str, ...], wanted: str) -> bool:
    if wanted in words:
        return True
    for start, word in enumerate(words):
        end = start
        while word and wanted.startswith(word) and end + 1 < len(words):
            end += 1
            word += words[end]
            if word == wanted:
                return True
    return False


def squeezed(text: str) -> str:
    """What is left of a name without case, punctuation and spaces, and without a registration number behind it."""
    folded = fold(text)
    return "".join(char for char in _REGISTRATION.sub("", folded) if char.isalnum()) or folded.strip()


_REGISTRATION = re.compile(r"(?<!\s)\s*+\((?=[^()]*\d{4})[\w\s./:-]{4,24}\)\W*$")


# ── labels ───────────────────────────────────────────────────────────────────────────────────────────────────────────

JOINTS = frozenset("of at in for by to on from per under with within during before after as between".split())
SILENT = frozenset("the a an and or is are was its their this that each any all s".split())

NEUTRAL = frozenset(
    """maximum minimum nominal rated rating typical average mean value overall standard actual approximate
    measured stated name amount level data detail figure general unit output delivered deliver point
    specification""".split()
)
"""Words that seldom tell two labels of one document apart: not having them costs little, nor does having them."""

SECTIONS = frozenset("information summary overview section history record part form".split())
"""What headings add to what they are about: "Pilot Information"."""

PLACEHOLDERS = frozenset("rating value level figure".split())

OPPOSITES = tuple(
    (frozenset(left.split()), frozenset(right.split()))
    for left, right in (
        ("maximum highest largest upper", "minimum lowest smallest lower"),
        ("input in", "output out"),
        ("gross", "net"),
        ("start begin from effective", "end expiry expiration until to"),
        ("seller merchant vendor supplier issuer", "buyer customer client purchaser"),
        ("before excluding exclusive excl", "after including inclusive incl"),
        ("inner inside internal", "outer outside external"),
        ("debit", "credit"),
        ("open", "short"),
        ("first", "last"),
        ("billing", "shipping delivery"),
    )
)

_ABBREVIATIONS: dict[str, str] = {
    "qty": "quantity", "quan": "quantity", "no": "number", "nr": "number", "num": "number", "temp": "temperature",
    "amt": "amount", "desc": "description", "descr": "description", "max": "maximum", "min": "minimum",
    "avg": "average", "ave": "average", "coeff": "coefficient", "coef": "coefficient", "koeff": "coefficient",
    "tk": "temperature coefficient", "tempco": "temperature coefficient", "dob": "date of birth", "tel": "telephone",
    "ph": "telephone", "phone": "telephone", "addr": "address", "inv": "invoice", "acct": "account", "ref": "reference",
    "wt": "weight", "ht": "height", "wd": "width", "dia": "diameter", "vol": "volume", "pwr": "power",
    "dim": "dimension", "dept": "department", "mfr": "manufacturer", "mfg": "manufacturer", "cust": "customer",
    "pct": "percent", "pc": "piece", "approx": "approximate", "incl": "inclusive", "excl": "exclusive",
    "including": "inclusive", "excluding": "exclusive", "yr": "year", "hr": "hour", "ver": "version", "nom": "nominal",
    "pop": "population", "freq": "frequency", "cap": "capacity", "capac": "capacity", "spec": "specification",
    "curr": "current", "volt": "voltage", "resist": "resistance", "eff": "efficiency", "op": "operating",
    "std": "standard", "cond": "condition", "rec": "receipt", "subtot": "subtotal", "disc": "discount",
    "exp": "expiry", "mgr": "manager", "org": "organization", "govt": "government", "intl": "international",
    "id": "number", "pos": "position", "cat": "category", "loc": "location", "lng": "length", "len": "length",
    "stc": "standard test condition",
    "datum": "date", "factuurdatum": "invoice date", "factuurnummer": "invoice number", "ordernummer": "order number",
    "orderdatum": "order date", "klantnummer": "customer number", "vervaldatum": "due date",
    "leverdatum": "delivery date",
    "rechnungsdatum": "invoice date", "rechnungsnummer": "invoice number", "rechnungsnr": "invoice number",
    "kundennummer": "customer number", "kundennr": "customer number", "bestellnummer": "order number",
    "bestelldatum": "order date", "lieferdatum": "delivery date", "fälligkeitsdatum": "due date",
    "zahlungsziel": "due date", "nummer": "number", "betrag": "amount", "bedrag": "amount", "menge": "quantity",
    "aantal": "quantity", "klant": "customer", "kunde": "customer", "numéro": "number", "numero": "number",
}  # fmt: skip

# Letters that stand for quantities, and what is written small behind them: Voc, Pmax, Umpp, Tmin.
_SYMBOLS = {"p": "power", "v": "voltage", "u": "voltage", "i": "current", "t": "temperature", "f": "frequency"}
_SUBSCRIPTS = {
    "max": "maximum", "min": "minimum", "nom": "nominal", "oc": "open circuit", "sc": "short circuit",
    "mp": "maximum power point", "mpp": "maximum power point", "rms": "effective", "avg": "average", "typ": "typical",
}  # fmt: skip
_SYMBOL = re.compile(rf"([{''.join(_SYMBOLS)}])({'|'.join(sorted(_SUBSCRIPTS, key=len, reverse=True))})")


def written_out(word: str) -> tuple[str, ...]:
    """What an abbreviation or a symbol stands for, the thing itself first; nothing for a word."""
    if word in _ABBREVIATIONS:
        whole = tuple(part for part in _ABBREVIATIONS[word].split() if part not in JOINTS)
        return (whole[-1], *whole[:-1]) if " of " not in _ABBREVIATIONS[word] else whole
    if symbol := _SYMBOL.fullmatch(word):
        quantity, below = _SYMBOLS[symbol[1]], _SUBSCRIPTS[symbol[2]]
        return (quantity, "maximum") if quantity == "power" and "power" in below else (quantity, *below.split())
    return ()


PHRASES: dict[tuple[str, str], str] = {
    ("grand", "total"): "total", ("amount", "due"): "total", ("total", "amount"): "total", ("total", "due"): "total",
    ("amount", "payable"): "total", ("total", "payable"): "total", ("balance", "due"): "total",
    ("total", "sale"): "total", ("total", "price"): "total", ("total", "cost"): "total", ("total", "sum"): "total",
    ("sum", "total"): "total", ("nett", "total"): "total", ("net", "total"): "total", ("sub", "total"): "subtotal",
    ("e", "mail"): "email", ("zip", "code"): "postcode", ("postal", "code"): "postcode", ("post", "code"): "postcode",
    ("head", "count"): "headcount", ("web", "site"): "website", ("life", "time"): "lifetime", ("sold", "by"): "seller",
    ("invoice", "total"): "total",
    ("invoice", "amount"): "total", ("total", "paid"): "total",
}  # fmt: skip

_SYNONYMS: tuple[str, ...] = (
    "merchant vendor seller shop store issuer company supplier retailer biller payee outlet business",
    "buyer customer client purchaser payer",
    "manufacturer maker brand producer make",
    "weight mass",
    "width wide breadth",
    "height high tall",
    "length long",
    "depth deep",
    "thickness thick",
    "price cost charge fee rate",
    "power wattage output",
    "total sum",
    "quantity count",
    "description item product article goods good particular",
    "employee staff headcount workforce",
    "revenue turnover sale",
    "address location",
    "date dated day",
    "telephone mobile",
    "postcode zip",
    "duration period term",
    "time hour",
    "start begin beginning commencement effective",
    "end expiry expiration termination",
    "birth born",
    "founded established founding inception",
    "tax vat gst",
    "discount rebate",
    "technology type",
    "category class kind",
    "dimension size measurement",
    "efficiency yield",
    "speed velocity",
    "author writer",
    "salary wage pay",
    "headquarter hq seat",
    "country nation",
    "city town",
    "surname lastname",
    "website url homepage",
    "guarantee warranty",
    "noise loudness",
    "maximum highest largest peak upper",
    "minimum lowest smallest lower",
    "serial sn",
    "document doc",
)
_CONCEPTS = {word: number for number, group in enumerate(_SYNONYMS) for word in group.split()}


def synonymous(one: str, other: str) -> bool:
    return one in _CONCEPTS and _CONCEPTS[one] == _CONCEPTS.get(other)


IMPLIED: dict[str, frozenset[str]] = {
    base: frozenset(words.split())
    for base, words in {
        "W": "power", "V": "voltage", "A": "current", "kg": "weight mass", "°C": "temperature",
        "%/°C": "temperature coefficient", "m²": "area", "m³": "volume capacity", "m/s": "speed", "J": "energy",
        "Pa": "pressure", "Hz": "frequency", "Ah": "capacity", "B": "capacity storage memory", "Ω": "resistance",
        "N": "force", "N·m": "torque", "lm": "brightness", "dB": "noise", "s": "duration time",
        "L/100 km": "consumption",
    }.items()
}  # fmt: skip
"""What a unit says of a value that its label leaves out. Metres say nothing: a length is no width."""

BASES: dict[str, frozenset[str]] = {
    word: frozenset(bases.split())
    for words, bases in (
        ("power wattage", "W"), ("voltage", "V"), ("current", "A"), ("weight mass", "kg N"), ("temperature", "°C"),
        ("length width height depth thickness diameter radius distance breadth perimeter", "m"), ("area", "m²"),
        ("volume", "m³ dB"), ("speed velocity", "m/s"), ("energy", "J"), ("pressure", "Pa"), ("frequency", "Hz"),
        ("torque", "N·m"), ("resistance", "Ω"), ("duration", "s"), ("density", "kg/m³ W/m² W/kg J/kg 1/m² 1/km²"),
        ("price cost total subtotal discount", "-"), ("quantity", "-"), ("date", "-"), ("address name", "-"),
    )
    for word in words.split()
}  # fmt: skip
"""The base units a quantity can have: a property in volts is never a power. "-" is no unit at all."""
