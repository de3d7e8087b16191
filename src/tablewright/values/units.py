"""The names of units in texts, and what they mean to pint.

Our own table and grammar read units, because pint reads "1,5 m" as 15 m, "3 ft 9 in" as 27 ft·in, "C" as coulomb and
"Nm" as a textile unit, and takes bytes, percent and degrees for the same thing. Pint only converts (see `measures`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import structs

from tablewright.domain.model import Field, Struct
from tablewright.values.currencies import parse_currency


class Unit(Struct, frozen=True):
    """A unit: our `symbol`, and its name in `pint`. Units of one `kind` convert into each other.

    `apart` names dimensions that pint lacks (those of bytes, percent and degrees), to keep them from being mixed up.
    """

    symbol: str
    pint: str
    kind: str = ""
    apart: tuple[str, ...] = ()


# Symbol, name in pint, kind, spellings, prefixes for the symbol and spellings, spellings that take no prefix.
_UNITS = """
in | inch | length | in, inch, inches, ", ″, ”, '', zoll, pouce, pouces, pulgada, pulgadas, pollici
ft | foot | length | ft, foot, feet, ', ′, fuß, pieds, pies
yd | yard | length | yd, yds, yard, yards
mi | mile | length | mi, mile, miles, statute miles, meile, meilen, milles, millas
nmi | nautical_mile | length | nmi, nautical mile, nautical miles, sm
ly | light_year | length | ly, light year, light years, light-year, light-years
au | astronomical_unit | length | au, astronomical units
pc | parsec | length | parsec, parsecs
mil | mil | length | mils, thou
fathom | fathom | length | fathom, fathoms
Å | angstrom | length | å, angstrom, ångström, angstroms
acre | acre | area | acre, acres, ac
ha | hectare | area | ha, hectare, hectares, hektar, hectárea, hectáreas, ettari
lb | pound | mass | lb, lbs, pound, pounds, lbm, pfund
oz | ounce | mass | ounce, ounces
st | stone | mass | stone, stones
t | metric_ton | mass | t, tonne, tonnes, metric ton, metric tons, metric tonnes, mt, tonnen, toneladas
kt | kilometric_ton | mass | kt, kilotonne, kilotonnes
Mt | megametric_ton | mass | megatonne, megatonnes
short ton | short_ton | mass | short ton, short tons, us ton, us tons
long ton | long_ton | mass | long ton, long tons, imperial ton, imperial tons
oz t | troy_ounce | mass | troy ounce, troy ounces, oz t, ozt, troy oz
ct | carat | mass | ct, carat, carats
gr | grain | mass | grain, grains
gal | gallon | volume | us gal, us gallon, us gallons
imp gal | imperial_gallon | volume | imperial gallon, imperial gallons, imp gal, uk gallon, uk gallons, uk gal
fl oz | fluid_ounce | volume | us fl oz, us fluid ounce, us fluid ounces
imp fl oz | imperial_fluid_ounce | volume | imperial fluid ounce, imperial fluid ounces, imp fl oz, uk fl oz
qt | quart | volume | us quart, us quarts
pt | pint | volume | us pint, us pints
imp pt | imperial_pint | volume | imperial pint, imperial pints, uk pint, uk pints
cup | cup | volume | cup, cups
tbsp | tablespoon | volume | tbsp, tablespoon, tablespoons
tsp | teaspoon | volume | tsp, teaspoon, teaspoons
bbl | oil_barrel | volume | bbl, bbls, barrel, barrels, barrels of oil
cc | centimeter**3 | volume | cc, ccm
min | minute | time | min, mins, minute, minutes, minuten, minuto, minutos, minuti
h | hour | time | h, hr, hrs, hour, hours, std, stunde, stunden, heure, heures, hora, horas, ore
d | day | time | d, day, days, tag, tage, jour, jours, día, días, dia, dias, giorni
wk | week | time | wk, wks, week, weeks, woche, wochen, semaine, semaines, semana, semanas
mo | month | time | mo, mos, month, months, monat, monate, mois, mes, meses, mesi, mnth, mths
yr | year | time | y, yr, yrs, year, years, jahr, jahre, ans, année, années, año, años, anni, anos
decade | 10*year | time | decade, decades
century | century | time | century, centuries
°C | degC | temperature | °c, ºc, ℃, deg c, degc, degrees c, degree celsius, degrees celsius, celsius, centigrade
°F | degF | temperature | °f, ºf, ℉, deg f, degf, degrees f, degree fahrenheit, degrees fahrenheit, fahrenheit
K | kelvin | temperature | kelvin, kelvins, °k
km/h | kilometer/hour | speed | km/h, kmh, kph, km/hr, kmph, km/std
mph | mile/hour | speed | mph, mi/h
kn | knot | speed | kn, kt., kts, knot, knots
hp | horsepower | power | hp, bhp, whp, horsepower
PS | metric_horsepower | power | ps, cv, ch, metric hp, metric horsepower, pk
BTU | Btu | energy | btu, btus
BTU/h | Btu/hour | power | btu/h, btu/hr, btuh
therm | therm | energy | therm, therms
psi | psi | pressure | psi, psig, psia
atm | atmosphere | pressure | atm, atmosphere, atmospheres
mmHg | mmHg | pressure | mmhg, torr
inHg | inHg | pressure | inhg
lbf | pound_force | force | lbf, pound-force
kgf | kilogram_force | force | kgf, kp
N·m | newton*meter | torque | nm torque, newton metre, newton metres, newton meter, newton meters
lb·ft | pound_force*foot | torque | lb-ft, lb ft, ft-lb, ft lb, lbft, ft-lbs, lb·ft, ft·lb, ft-lbf, pound-feet
rpm | 1/minute | frequency | rpm, r/min, rev/min, u/min, min-1, revolutions per minute
bpm | 1/minute | frequency | bpm
mpg | mile/gallon | fuel | mpg, us mpg, mpg-us, mpg (us), miles per gallon
mpg-imp | mile/imperial_gallon | fuel | imperial mpg, uk mpg, mpg-imp, mpg (imp), mpg (uk)
km/L | kilometer/liter | fuel | km/l, kmpl, km per litre, km per liter
L/100 km | liter/(100*kilometer) | fuel use | l/100km, l/100 km, litres per 100 km, liters per 100 km
% | percent | ratio | %, percent, per cent, pct, prozent, pour cent
‰ | permille | ratio | ‰, per mille, permille
ppm | ppm | ratio | ppm, parts per million
bps | bit/second | data rate | bit/s, bits per second
° | degree | angle | °, º
rad | radian | angle | radian, radians
arcmin | arcminute | angle | arcmin, arcminute, arcminutes
lx | lux | illuminance | lx, lux
nit | nit | luminance | nit, nits
cd | candela | intensity | cd, candela
dpi | count/inch | resolution | dpi, ppi
dB | count | sound | db, decibel, decibels, dba, db(a)
px | count | pixel | px, pixel, pixels
MP | 1e6*count | pixel | mp, megapixel, megapixels
m | meter | length | metre, metres, meter, meters, mètre, mètres, metro, metros, metri | nµmcdk | mtr, mtrs
g | gram | mass | gram, grams, gramme, grammes, gramm, gramo, gramos, grammi | µmk | gm, gms
L | liter | volume | litre, litres, liter, liters, litro, litros, litri | µmcdh | ltr, ltrs
s | second | time | second, seconds, sekunde, sekunden, seconde, secondes, segundo, segundos | nµm | sec, secs
W | watt | power | watt, watts | µmkMGT
VA | volt*ampere | power |  | kM
Wh | watt*hour | energy | watt hour, watt hours, watt-hour, watt-hours, wattstunden | mkMGT
J | joule | energy | joule, joules | mkMG
cal | calorie | energy | calorie, calories, kalorien | k
eV | electron_volt | energy | electronvolt, electronvolts | kMG
V | volt | voltage | volt, volts | µmkM | vdc, vac, v dc, v ac
A | ampere | current | ampere, amperes, amp, amps | µmk
Ah | ampere*hour | charge | amp hour, amp hours, ampere hour, ampere hours, amp-hours | mk
Ω | ohm | resistance | ohm, ohms | mkM | ω
F | farad | capacitance | farad, farads | pnµm
H | henry | inductance | henry | nµm
Hz | hertz | frequency | hertz | kMGT
Pa | pascal | pressure | pascal, pascals | hkMG
bar | bar | pressure | bar, bars | m
N | newton | force | newton, newtons | mkM
lm | lumen | light | lumen, lumens | k
mol | mole | amount | mole, moles | µmk
T | tesla | magnetic | tesla, teslas | µmn
B | byte | data | byte, bytes | kMGTP
bit | bit | data | bit, bits | kMGT
bps | bit/second | data rate |  | kMGT
Wp | watt | power | watt-peak, watt peak | kMG
"""

_PREFIXES = {
    "p": "pico", "n": "nano", "µ": "micro", "m": "milli", "c": "centi", "d": "deci", "h": "hecto", "k": "kilo",
    "M": "mega", "G": "giga", "T": "tera", "P": "peta", "Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi",
}  # fmt: skip

# Spellings shared by several units, the most usual first. The field's unit decides; else the note after the colon is
# given as a doubt.
AMBIGUOUS_UNITS: dict[str, tuple[tuple[str, ...], str]] = {
    name: (tuple(symbols.split(", ")), note)
    for line in """
ton, tons = short ton: a ton may be short, long or metric; read as 907 kg
oz = oz, fl oz
gal, gallon, gallons = gal: a gallon may be US or imperial; read as US
fl oz, fluid ounce, fluid ounces = fl oz: a fluid ounce may be US or imperial; read as US
quart, quarts, qt = qt: a quart may be US or imperial; read as US
pint, pints = pt: a pint may be US or imperial; read as US
m = m, min
M = m: M read as metres
C, c = °C
F = °F, F
K = K
deg, degree, ° = °, °C
degrees = °, °C, °F
' = ft, min
′ = ft, arcmin
Nm, N·m = N·m
Mb = Mbit, MB: Mb may be megabits or megabytes
Gb = Gbit, GB: Gb may be gigabits or gigabytes
kilo, kilos = kg
mb = MB, mbar
pt = pt: pt read as US pints
kt = kt, kn
cal, calories = cal: food calories are kilocalories
Cal = kcal
ac = acre
""".strip().splitlines()
    for names, _, meanings in [line.partition(" = ")]
    for symbols, _, note in [meanings.partition(": ")]
    for name in names.split(", ")
}


def read_unit_at(text: str, place: int, wanted: Unit | None = None) -> tuple[Unit, int, str] | None:
    """Return the unit at `place` (after an optional space or hyphen), its end, and a note on what is doubtful; or None.

    `wanted` is the expected unit, which decides between the meanings of "oz", "m" or "°".
    """
    first = _read_single_unit(text, place + (text[place : place + 1] in (" ", "\n", "\t", "-")), wanted)
    if first is None:
        return None
    unit, end, note = first
    compound = False
    while joint := _JOINT.match(text, end):
        following = _read_single_unit(text, joint.end(), None)
        if following is None:
            break
        compound = True
        divides = joint[0].strip() in ("/", "per")
        unit = _combine_units(unit, "/" if divides else "*", following[0])
        end = following[1]
    return (unit, end, "" if compound else note)


@lru_cache(maxsize=1024)
def parse_unit(name: str) -> Unit | None:
    """Return the unit that `name` as a whole means, or None."""
    name = name.strip()
    found = read_unit_at(name, 0)
    return found[0] if found and not name[found[1] :].strip(" .") else None


def format_with_unit(figure: str, unit: str) -> str:
    """Return "2 years", but "1 year": for one thing, the unit is in the singular if it has one that we know."""
    if figure == "1" and (known := parse_unit(unit)):
        # What is left without the ending must be a spelling of the same unit: "hours", "inches", "Jahre".
        shorter = (unit.removesuffix(ending) for ending in ("s", "es", "e", "n", "en") if unit.endswith(ending))
        unit = next((each for each in shorter if parse_unit(each) == known), unit)
    return f"{figure} {unit}".strip()


def get_unit(symbol: str) -> Unit:
    return _unit_tables()[0][symbol]


@lru_cache(maxsize=64)
def list_units_of_kind(kind: str) -> tuple[Unit, ...]:
    """Return all units of a kind, which convert into each other."""
    return tuple(unit for unit, _ in list_spelled_units() if unit.kind == kind)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_JOINT = re.compile(r"\s?/\s?|[·⋅*]|\s(?:per|pro)\s")
_RAISED = re.compile(r"²|³|\^-?[1-3]|\*\*-?[1-3]|[23](?![\d.,/])|⁻[¹²³]| squared\b| cubed\b")


def _read_single_unit(text: str, place: int, wanted: Unit | None) -> tuple[Unit, int, str] | None:
    found = _unit_pattern().match(text, place)
    if found is None:
        return None
    name, end = found["name"], found.end()
    if name.casefold() == "in" and not _is_inch(text, end, wanted):
        return None
    power = {"s": 2, "c": 3}.get((found["power"] or "")[:1].casefold(), 1)
    if power == 1 and name[-1].isalpha() and (raised := _RAISED.match(text, end)):
        mark = raised[0].strip()
        known = {"²": 2, "³": 3, "squared": 2, "cubed": 3, "⁻¹": -1, "⁻²": -2, "⁻³": -3}
        power = known.get(mark) or int(mark.lstrip("^*"))
        end = raised.end()
    unit, note = _choose_unit(name, wanted if power == 1 else get_unit("m"))
    return (_raise_unit(unit, power), end, note) if unit else None


def _is_inch(text: str, end: int, wanted: Unit | None) -> bool:
    """Return True for "10 in" and "10 in wide", False for "3 in 2019" and "5 in stock"."""
    if not (wanted and wanted.kind == "length"):
        return not re.match(r"\s+\w", text[end:])
    return not re.match(
        r"\s+(?:\d|(?:the|a|an|this|that|total|all|each|its|his|which|case|order|stock|[A-Z])\b|[A-Z])", text[end:]
    )


def _choose_unit(name: str, wanted: Unit | None) -> tuple[Unit | None, str]:
    exact, folded = _unit_tables()
    symbols, doubt = AMBIGUOUS_UNITS.get(name) or AMBIGUOUS_UNITS.get(name.casefold(), ((), ""))
    candidates = [exact[symbol] for symbol in symbols]
    if name in exact and not (symbols and name in AMBIGUOUS_UNITS):
        candidates.insert(0, exact[name])
    candidates += folded.get(name.casefold(), ())
    if wanted:
        # Of units of data those that count bytes as the wanted one does, or bits.
        of_kind = [unit for unit in candidates if unit.kind == wanted.kind]
        same_size = (unit for unit in of_kind if unit.kind != "data" or unit.pint[-3:] == wanted.pint[-3:])
        fitting = next(same_size, None) or next(iter(of_kind), None)
        if fitting:
            return fitting, "" if fitting == wanted or fitting.symbol not in symbols else doubt
    return (candidates[0], doubt) if candidates else (None, "")


def _raise_unit(unit: Unit, power: int) -> Unit:
    if power == 1:
        return unit
    kind = {2: "area", 3: "volume"}.get(power, "") if unit.kind == "length" else ""
    sign = {2: "²", 3: "³"}.get(power, f"^{power}")
    return Unit(
        symbol=f"{unit.symbol}{sign}", pint=f"({_as_temperature_step(unit)})**{power}", kind=kind, apart=unit.apart
    )


def _combine_units(left: Unit, operator: str, right: Unit) -> Unit:
    symbol = f"{left.symbol}{'·' if operator == '*' else '/'}{right.symbol}"
    if left.kind == "force" and right.kind == "length" and operator == "*":
        return Unit(symbol=symbol, pint=f"{left.pint}*{right.pint}", kind="torque", apart=("torque",))
    apart = tuple(sorted(left.apart + tuple(f"{operator}{name}" for name in right.apart)))
    return Unit(
        symbol=symbol, pint=f"({_as_temperature_step(left)}){operator}({_as_temperature_step(right)})", apart=apart
    )


def _as_temperature_step(unit: Unit) -> str:
    """Return the name in pint for use in a compound, where a degree is a step, not a point on the scale: 0.4 %/°C."""
    return f"delta_{unit.pint}" if unit.pint in ("degC", "degF") else unit.pint


# ── the tables, made when first needed ───────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def _unit_tables() -> tuple[dict[str, Unit], dict[str, tuple[Unit, ...]]]:
    """Return the units by exact spelling, and by spelling in any case."""
    exact: dict[str, Unit] = {}
    folded: dict[str, list[Unit]] = {}
    for unit, spellings in list_spelled_units():
        for spelling in (unit.symbol, *spellings):
            exact.setdefault(spelling, unit)
            known = folded.setdefault(spelling.casefold(), [])
            if unit not in known:
                known.append(unit)
    return exact, {name: tuple(units) for name, units in folded.items()}


def list_spelled_units() -> list[tuple[Unit, list[str]]]:
    found: list[tuple[Unit, list[str]]] = []
    for line in re.split(r"\n(?=\S)", _UNITS.strip()):
        columns = (" ".join(column.split()) for column in f"{line} | | ".split("|"))
        symbol, pint, kind, names, prefixes, more, *_ = columns
        found.append((_make_unit(symbol, pint, kind), [*_split_spellings(names), *_split_spellings(more)]))
        for prefix in prefixes:
            long = _PREFIXES[prefix]
            spellings = [long + name for name in _split_spellings(names)]
            if prefix == "µ":
                spellings += [f"μ{symbol}", f"u{symbol}"]
            found.append((_make_unit(prefix + symbol, f"{long}{pint}", kind), spellings))
    for prefix, long in ((prefix, long) for prefix, long in _PREFIXES.items() if prefix.endswith("i")):
        found.append((_make_unit(f"{prefix}B", f"{long}byte", "data"), [f"{long}bytes", f"{long}byte"]))
    return found


def _make_unit(symbol: str, pint: str, kind: str) -> Unit:
    # Pint would convert these into other kinds: a bit and a radian are plain numbers to it, and a torque is an energy.
    alone = ("ratio", "angle", "sound", "pixel", "torque", "resolution", "light", "illuminance")
    apart = ("data",) if kind.startswith("data") else (kind,) if kind in alone else ()
    return Unit(symbol=symbol, pint=pint, kind=kind, apart=apart)


def _split_spellings(spellings: str) -> list[str]:
    return [name for name in spellings.split(", ") if name]


@lru_cache(maxsize=1)
def _unit_pattern() -> re.Pattern[str]:
    """Return one pattern of all spellings, the longest first. Testing the edge once saves 0.1 s of compiling."""
    spellings = {*(name.lower() for name in _unit_tables()[0]), *(name.lower() for name in AMBIGUOUS_UNITS)}
    names = sorted(spellings, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name) for name in names if name[-1].isalpha())
    long = "|".join(re.escape(name) for name in names if not name[-1].isalpha() and len(name) > 1)
    signs = "".join(re.escape(name) for name in names if not name[-1].isalpha() and len(name) == 1)
    edge = r"(?![^\W\d_²³⁻¹])"
    power = r"(?:(?P<power>(?:sq(?:uare)?|cu(?:bic)?)(?:\.\s?|\s)|(?:sq|cu)(?=(?:[kcm]?m|ft|in|yd|mi)\b)))?"
    return re.compile(rf"{power}(?P<name>{long}|(?:{words}){edge}|[{signs}])", re.IGNORECASE)


# ── the unit of a label ──────────────────────────────────────────────────────────────────────────────────────────────

LABELS_OF_MONEY = re.compile(r"[^\w\s()\[\]/%.,:-]|\b(?:[A-Z]{3}|RM|Rs|kr)\b")


def find_label_unit(label: str) -> str:
    """The unit of "Length (mm)", "Weight [kg]", "Power, W" and "Price in EUR"; "" where it gives none."""
    in_brackets = re.findall(r"[(\[]\s*+(?:in\s++)?([^()\[\]]{1,16}?)\s*+[)\]]", label)
    at_the_end = re.findall(
        r"(?:,|(?<!\s)\s+in|(?<!\s)\s*/)\s++([^\s,()]{1,12}(?:\s?/\s?[^\s,()]{1,6})?)\s*+:?\s*+$", label
    )
    for said in (*(part for bracketed in reversed(in_brackets) for part in bracketed.split(", ")), *at_the_end):
        if (LABELS_OF_MONEY.search(said) and parse_currency(said)) or parse_unit(said):
            return str(said)
    return ""


def find_column_unit(field: Field) -> str:
    """Return the field's unit, or the one that its name or question says: "Arm mm", "How tall is it, in metres?".

    Of a name's last word, a symbol of several letters or a plural counts: "World cup" and "Model T" have no unit."""
    if field.unit:
        return field.unit
    # A plural, as in "Author(s)".
    name = re.sub(r"(?<=\w)\(\w{1,3}\)", "", field.name)
    *before, last = name.split() or [""]
    has_word = last.casefold() in ("in", "mil", "cup", "century", "decade", "fathom", "acre", "bar", "st")
    is_symbol = not last.isalpha() or (len(last) > 1 and not has_word)
    asked = re.sub(r"\{[^{}]*\}", " ", field.question).rstrip(" ?.")
    for said in (find_label_unit(name), last if before and is_symbol else "", find_label_unit(asked)):
        unit = parse_unit(said) if said else None
        if field.type == "money":
            if unit is None and said and (currency := parse_currency(said)):
                return currency
        elif unit is not None and _names_quantity(said, unit, in_brackets=f"({said})" in name):
            return said
    return ""


def set_named_unit(field: Field) -> Field:
    """Return a new number or money column with the unit that its name or question says."""
    if field.unit or field.type not in ("number", "money"):
        return field
    return structs.replace(field, unit=find_column_unit(field))


def _names_quantity(said: str, unit: Unit, *, in_brackets: bool) -> bool:
    """Return True unless the word may mean something else: a country ("US"), a least value ("min"), thousands, or a
    point in time ("Founded (year)")."""
    if said in ("min", "K", "M") or (said.isupper() and said != unit.symbol):
        return False
    is_plural = said.endswith("s") or said == "feet"
    if unit.symbol in ("d", "wk", "mo", "yr", "decade", "century"):
        return is_plural
    return in_brackets or is_plural or said == unit.symbol
