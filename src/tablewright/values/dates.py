"""Find dates in texts and return them as ISO: "2021-05-03", or "2021-05" or "2021" if no more is known.

A grammar of our own reads the usual ways of writing a date, partial dates and ranges; dateparser is asked only about
single dates in the languages the grammar does not know, and never fills in a part that the text does not give.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from msgspec import structs

from tablewright.domain.model import Struct
from tablewright.values.currencies import CURRENCY_SYMBOLS
from tablewright.values.numbers import join_adjacent_items, normalize_digits

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari stycznia styczeń",
            "february feb febr februar feber février fevrier févr fév febrero febbraio fevereiro fev februari lutego"
            " luty",
            "march mar mär märz marz mrz mars marzo março marco maart mrt marts marca marzec",
            "april apr avril avr abril abr aprile kwietnia kwiecień",
            "may mai mayo maggio mag maio mei maj maja",
            "june jun juni juin junio giugno giu junho czerwca czerwiec",
            "july jul juli juillet juil julio luglio lug julho lipca lipiec",
            "august aug août aout agosto ago augustus augusti sierpnia sierpień",
            "september sep sept septembre septiembre set settembre setembro wrzesnia września wrzesień",
            "october oct oktober okt octobre octubre ottobre ott outubro out października październik",
            "november nov novembre noviembre novembro listopada listopad",
            "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro grudnia grudzień"
            " desember des",
        ),
        start=1,
    )
    for name in names.split()
}

WEEKDAYS: frozenset[str] = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
    lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo
    lunedì martedì mercoledì giovedì venerdì sabato domenica segunda terça quarta quinta sexta
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag mandag tirsdag onsdag torsdag fredag lørdag søndag
    måndag tisdag lördag söndag poniedziałek wtorek środa czwartek piątek sobota niedziela
    """.split()
)

# Other lone numbers of four digits are more likely a count than a year.
EARLIEST_YEAR, LATEST_YEAR = 1000, 2199


class DateText(Struct, frozen=True):
    """A date at `start:end`, or the beginning of a period, whose other end is `last`.

    `clean`: the text has nothing else but a weekday and a time of day. `ambiguous`: it can be read in two ways.
    `doubtful`: it may be no date at all (the 2000 of "2000 people"). `note` says why it is not certain.
    """

    iso: str
    start: int
    end: int
    last: str = ""
    clean: bool = False
    ambiguous: bool = False
    doubtful: bool = False
    note: str = ""

    @property
    def is_period(self) -> bool:
        """True for a period, also if the calendar does not have its last day."""
        return self.note.startswith("a period,")

    @property
    def other_iso(self) -> str:
        """The date with day and month the other way round; "" if the order is known."""
        other = re.search(r"may be day or month first; (\S+) is the other reading", self.note)
        return other[1] if other else ""


def read_date(text: str) -> DateText | None:
    """Return the first date of the text, or None."""
    return next(iter(read_dates(text)), None)


def find_possible_dates(text: str) -> list[str]:
    """Return every ISO date that the text may name: both ends of periods, and both readings of 03/05/2021."""
    return [iso for date in read_dates(text) for iso in (date.iso, date.last, date.other_iso) if iso]


def read_dates(text: str) -> tuple[DateText, ...]:
    """Return all dates of the text in order, with the two ends of a period joined."""
    # A date that answers a question stands near the beginning, and reading takes many patterns for each character.
    text = normalize_digits(text[:2000])
    if not any(map(str.isdecimal, text)):
        return ()
    # A text with more dates is a list of events, of which none is the answer.
    found = sorted(_find_grammar_dates(text), key=lambda date: date.start)[:12]
    if all(len(date.iso) == 4 for date in found) and (foreign := _read_foreign_date(text)):
        return (foreign,)
    return tuple(
        _mark_clean_date(text, date) for date in join_adjacent_items(found, lambda *pair: _join_period(text, *pair))
    )


# ── the grammar: each pattern is tried on the text that the earlier ones left
# ─────────────────────────────────────────────────

ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _compile_grammar() -> tuple[tuple[str, re.Pattern[str]], ...]:
    to = r"\s?(?:[-–—]|to|until|bis|au|al|à)\s?"
    month, month_2 = (rf"(?P<{group}>[^\W\d_]{{3,12}})\.?" for group in ("month", "month2"))
    day, day_2 = (rf"(?P<{group}>\d{{1,2}})(?:st|nd|rd|th|er|[.ºª])?" for group in ("day", "day2"))
    year = r"(?P<year>\d{4})(?!\d)"
    short_year = r"(?P<year>\d{4}|'?\d{2})(?!\d|[:.]\d)"
    of = r"(?:(?:\s?day)?\s?(?:of|de|del|d'|den)\s|[\s.,/-])\s?"
    of_year = r"(?:,?\s?(?:of|de|del)\s|[\s.,/-]{1,3})(?=['\d])"

    return tuple(
        (kind, re.compile(pattern, re.IGNORECASE))
        for kind, pattern in (
            ("ymd", rf"(?<![\d.-]){year}(?P<sep>[-/.])(?P<m>\d{{1,2}})(?P=sep)(?P<day>\d{{1,2}})(?!\d|[-/.]\d)"),
            ("ymd", r"(?<!\d)(?P<year>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]"),
            ("ymd", r"(?<!\d)(?P<year>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]"),
            ("ymd", r"(?<!\d)(?P<year>\d{4})\s?[年년]"),
            ("ymd", r"(?<![\d.-])(?P<year>(?:19|20)\d{2})(?P<m>[01]\d)(?P<day>[0-3]\d)(?!\d|[.,-]\d)"),
            ("numeric", rf"(?<![\w.-])(?P<a>\d{{1,2}})\s?(?P<sep>[/.-])\s?(?P<b>\d{{1,2}})\s?(?P=sep)\s?{short_year}"),
            ("named", rf"(?<!\d){day}{to}{day_2}{of}{month}{of_year}{year}"),
            ("named", rf"(?<!\d){day}{of}{month}{to}{day_2}{of}{month_2}{of_year}{year}"),
            ("named", rf"\b{month}\s{day}{to}{month_2}\s{day_2}(?:,\s?|\s){year}"),
            ("named", rf"\b{month}\s{day}{to}{day_2}(?:,\s?|\s){year}"),
            ("named", rf"(?<!\d){day}{of}{month}{of_year}{short_year}"),
            ("named", rf"(?<!\d){day}{month}(?P<year>\d{{4}}|\d{{2}})(?!\d)"),
            ("named", rf"\b{month}[\s-]?{day}(?:\s?,\s?|\s|-|/){short_year}"),
            ("named", rf"(?<![\d-]){year}[\s,-]{{1,2}}{month}[\s-]{day}(?!\d)"),
            ("named", rf"\b{month}{to}{month_2}{of_year}{year}"),
            ("named", rf"\b{month}{of_year}(?P<year>\d{{4}}|'\d{{2}})(?!\d)"),
            ("named", rf"(?<![\d-]){year}[\s,-]{{1,2}}{month}(?!\w)"),
            ("ymd", r"(?<![\d.-])(?P<year>\d{4})-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
            ("ymd", r"(?<![\d./-])(?P<m>0?[1-9]|1[0-2])\s?[/.]\s?(?P<year>[12]\d{3})(?!\d|[/.]\d)"),
            ("part", r"\b(?:[QHT][1-4]|[1-4][QHT])[\s/'-]?(?:of\s|FY)?(?P<year>\d{4}|\d{2})(?!\d)"),
            ("part", r"(?<!\d)(?P<year>\d{4})[\s/-]?(?:[QHT][1-4]|[1-4][QHT])\b"),
            (
                "part",
                r"\b(?:first|second|third|fourth|1st|2nd|3rd|4th) (?:quarter|half)(?: of"
                r"|,)? (?:FY)?(?P<year>\d{4})(?!\d)",
            ),
            (
                "part",
                r"\b(?:FY|fiscal(?: year)?|financial year|season)[\s'-]?(?P<year>\d{4}|\d{2})(?:[/–-]\d{2,4})?(?!\d)",
            ),
            ("part", r"\b(?:spring|summer|autumn|fall|winter|early|mid|late|end of)[\s-](?P<year>\d{4})(?![\d])"),
            (
                "span",
                rf"(?<![\d.,{CURRENCY_SYMBOLS}#:/-])(?P<year>[12]\d{{3}})\s?(?P<dash>[-–—/])\s?(?P<year2>\d\d)(?![\d%]|[.,]\d)",
            ),
            ("decade", r"(?<![\d.,])(?P<year>[12]\d{2}0)'?s\b"),
            ("dead", r"(?<!\d)\d{1,4}\s?(?:BCE?|B\.C\.)"),
            (
                "year",
                rf"(?<![\d.,{CURRENCY_SYMBOLS}#:])(?<![^\W\d_])(?P<year>1\d{{3}}|2[01]\d{{2}})(?![\d%]|[.,:]\d|[^\W\d_])"
                r"(?!\s(?-i:[ECMPA][SD]T|AK[SD]T|HST|GMT|UTC)\b)",  # 1430 EST is a time of day
            ),
        )
    )


_GRAMMAR = _compile_grammar()


def _find_grammar_dates(text: str) -> Iterator[DateText]:
    taken = [False] * len(text)
    for kind, pattern in _GRAMMAR:
        place = 0
        while match := pattern.search(text, place):
            place = match.start() + 1
            if any(taken[match.start() : match.end()]):
                continue
            if kind == "named" and not _names_months(match):
                continue
            taken[match.start() : match.end()] = [True] * (match.end() - match.start())
            place = match.end()
            date = _interpret_match(kind, match, text)
            if date:
                yield date


def _names_months(match: re.Match[str]) -> bool:
    parts = match.groupdict()
    return all(name is None or name.casefold() in MONTHS for name in (parts.get("month"), parts.get("month2")))


def _interpret_match(kind: str, match: re.Match[str], text: str) -> DateText | None:
    if kind == "dead":
        return None
    parts = match.groupdict()
    year, note = _expand_year(parts["year"])
    if kind == "numeric":
        return _read_numeric_date(match, year, note)
    if not (parts.get("month") or parts.get("m") or EARLIEST_YEAR <= year <= LATEST_YEAR):
        return None
    if kind == "span":
        return _read_year_span(match, year)
    start, end, iso = match.start(), match.end(), f"{year:04}"
    if kind == "part":
        return DateText(
            iso=iso, start=start, end=end, ambiguous=True, note=f"only the year of {match[0].strip()} is kept"
        )
    if kind == "decade":
        return DateText(iso=iso, start=start, end=end, doubtful=True, note=f"{match[0]} is a decade")
    if kind == "year":
        doubtful = _may_be_a_count(text, start, end)
        return DateText(iso=iso, start=start, end=end, doubtful=doubtful, note="may be no year" if doubtful else "")
    return _read_calendar_date(parts, year, note, start, end)


def _read_calendar_date(parts: dict[str, str | None], year: int, note: str, start: int, end: int) -> DateText | None:
    name, later = parts.get("month"), parts.get("month2")
    month = MONTHS[name.casefold()] if name else _optional_int(parts.get("m"))
    iso = format_iso_date(year, month, _optional_int(parts.get("day")))
    if iso is None:
        return None
    if later or parts.get("day2"):
        last = format_iso_date(year, MONTHS[later.casefold()] if later else month, _optional_int(parts.get("day2")))
        return DateText(iso=iso, last=last or "", start=start, end=end, note=_period_note(iso, last or "?"))
    return DateText(iso=iso, start=start, end=end, ambiguous=bool(note), note=note)


def format_iso_date(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the date as far as it is known, or None if the calendar has no such day."""
    try:
        datetime.date(year, 1 if month is None else month, 1 if day is None else day)
    except ValueError:
        return None
    return "-".join(f"{part:0{width}}" for part, width in ((year, 4), (month, 2), (day, 2)) if part is not None)


def _read_numeric_date(match: re.Match[str], year: int, note: str) -> DateText | None:
    """Read 03/05/2021. The calendar, points (always day first) or our default decide the order."""
    first, second = int(match["a"]), int(match["b"])
    day_first, month_first = format_iso_date(year, second, first), format_iso_date(year, first, second)
    if day_first and month_first and day_first != month_first and match["sep"] != ".":
        # Most countries write the day first.
        chosen, other = day_first, month_first
        note = f"{match['a']}/{match['b']} may be day or month first; {other} is the other reading"
    else:
        chosen = day_first or month_first or ""
    if not chosen:
        return None
    return DateText(iso=chosen, start=match.start(), end=match.end(), ambiguous=bool(note), note=note)


def _read_year_span(match: re.Match[str], year: int) -> DateText | None:
    """Read 1939–45. With a hyphen, "2010-11" is a month, which an earlier pattern has read."""
    last = year - year % 100 + int(match["year2"])
    if last <= year:
        return DateText(
            iso=f"{year:04}",
            start=match.start(),
            end=match.end(),
            ambiguous=True,
            note=f"{match[0]} may be several years",
        )
    note = _period_note(f"{year:04}", f"{last:04}")
    return DateText(iso=f"{year:04}", last=f"{last:04}", start=match.start(), end=match.end(), note=note)


def _expand_year(digits: str) -> tuple[int, str]:
    digits = digits.lstrip("'")
    if len(digits) == 4:
        return int(digits), ""
    short = int(digits)
    # 68 is 2068, 69 is 1969, as in POSIX.
    year = short + (1900 if short >= 69 else 2000)
    return year, f"the year {digits} read as {year}"


def _join_period(text: str, first: DateText, last: DateText) -> DateText | None:
    if first.last or first.iso >= last.iso:
        return None
    between = text[first.end : last.start].casefold()
    is_joined = re.fullmatch(r"\s?(?:[-–—/]|to|until|bis|au|al|à)\s?", between)
    if not is_joined and not (
        re.fullmatch(r"\s(?:and|und|et|y)\s", between)
        and re.search(r"\b(?:between|zwischen|entre)\s$", text[: first.start], re.IGNORECASE)
    ):
        return None
    return structs.replace(first, last=last.iso, end=last.end, note=_period_note(first.iso, last.iso))


def _optional_int(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _period_note(first: str, last: str) -> str:
    return f"a period, {first} to {last}; its beginning is kept"


# ── around a date ────────────────────────────────────────────────────────────────────────────────────────────────────


def _compile_times() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a time of day before a date, and after one."""
    clock = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,9})?)?\s?(?:[ap]\.?m\b\.?)?"
    zone = r"(?:\s?(?:Z|UTC|GMT|[A-Z]{2,4}T)\b(?:[+-]\d{1,2}(?::?\d{2})?)?|\s?[+-]\d{2}:?\d{2}\b)?(?:\[[\w/]+\])?"
    after = rf"(?:T|,?\s?(?:at|um|à|a las|alle|kl\.?)?\s?)(?:{clock}|(?<=T)\d{{4,6}}){zone}"
    return (
        re.compile(rf"(?:at\s)?{clock}{zone}\s?,?\s?(?:on\s)?$", re.IGNORECASE),
        re.compile(rf"{after}|,?\s(?:at\s)?\d{{1,2}}\s?[ap]\.?m\b\.?", re.IGNORECASE),
    )


_TIME_BEFORE, _TIME_AFTER = _compile_times()
_CUE = re.compile(
    r"(?:^|[(\[,;:–—-]|\b(?:in|since|from|by|of|year|until|till|to|during|the|an?|and|or|circa|ca|c|early|late|mid|before"
    r"|after|around|about|founded|established|est|born|died|released|opened|built|seit|en|im|depuis|desde|dal|nel)\.?)"
    r"\s*(?:the\s)?$",
    re.IGNORECASE,
)


def _may_be_a_count(text: str, start: int, end: int) -> bool:
    """Return True for the 2000 of "has 2000 employees", unlike "founded 1998 in Ohio" and "the 1998 film"."""
    counted = re.match(r"\s+([a-z]{2,})", text[end:])
    small = "in by and as at to on when with for but the under after until is was or from of that which while where who"
    if counted is None or counted[1] in small.split():
        return False
    return not _CUE.search(text, max(0, start - 16), start) or start == 0


def _mark_clean_date(text: str, date: DateText) -> DateText:
    if len(text) > 160:
        return date
    before, after = text[: date.start], text[date.end :]
    if after:
        if time := _TIME_AFTER.match(after):
            after = after[time.end() :]
        if (day := re.match(r",?\s?\(?([^\W\d_]{2,10})\)?$", after)) and day[1].casefold() in WEEKDAYS:
            after = ""
    if before:
        if time := _TIME_BEFORE.search(before):
            before = before[: time.start()]
        day = re.search(r"(?:^|(?<=\s)|(?<=\())([^\W\d_]{2,10})\.?,?\s?(?:(?:the|le|den|der|el)\s)?$", before)
        if day and day[1].casefold() in WEEKDAYS:
            before = before[: day.start()]
        before = re.sub(r"^\s*(?:(?:on|in|am|im|le|el|en|the|year)\s+)+$", "", before, flags=re.IGNORECASE)
    left = before.strip() + after.strip()
    return structs.replace(date, clean=left in ("", "."))


# ── other languages ──────────────────────────────────────────────────────────────────────────────────────────────────


def _read_foreign_date(text: str) -> DateText | None:
    """Read a day, a word and a year in a language whose month names the grammar lacks, and nothing else."""
    whole = text.strip(" .")
    if len(whole) > 40 or not re.fullmatch(
        r"\d{1,2}[.,\s-]{1,3}[^\W\d_][^\d_]{1,20}[.,\s-]{1,3}\d{4}(?:\s?[^\W\d_]{1,6}\.?)?"
        r"|[^\W\d_][^\d_]{1,20}\s\d{1,2},?\s\d{4}|\d{4}[.,\s]{1,3}[^\W\d_][^\d_]{1,20}\s\d{1,2}\.?",
        whole,
    ):
        return None
    if any(name.casefold() in MONTHS for name in re.findall(r"[^\W\d_]+", whole)):
        # The grammar knew this month, so the calendar has no such day.
        return None
    # Takes 0.1 s, and up to a second for its languages, which most runs never need.
    import dateparser

    # Those whose month names the grammar lacks. Loading all 200 would take 1.3 s.
    languages = "ru uk bg sr cs sk sl hr hu ro el tr fi et lv lt is ca eu he ar fa hi bn ja zh ko th vi id ms".split()
    try:
        # Strict, since what is missing would be taken from today. Its other parsers read "yesterday" and timestamps.
        settings = {"DATE_ORDER": "DMY", "STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
        found = dateparser.parse(whole, languages=languages, settings=settings)
    except (ValueError, OverflowError, RecursionError):
        return None
    year = re.search(r"\d{4}", whole)
    if found is None or year is None or int(year[0]) != found.year:
        return None
    start = text.index(whole)
    return DateText(iso=found.date().isoformat(), start=start, end=start + len(whole), clean=True)
