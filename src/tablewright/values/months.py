"""The names of months and weekdays in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and the
Scandinavian languages, in small letters."""

from __future__ import annotations

_NAMES: tuple[str, ...] = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari stycznia styczeń",
    "february feb febr februar feber février fevrier févr fév febrero febbraio fevereiro fev februari lutego luty",
    "march mar mär märz marz mrz mars marzo março marco maart mrt marts marca marzec",
    "april apr avril avr abril abr aprile kwietnia kwiecień",
    "may mai mayo maggio mag maio mei maj maja",
    "june jun juni juin junio giugno giu junho czerwca czerwiec",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec",
    "august aug août aout agosto ago augustus augusti sierpnia sierpień",
    "september sep sept septembre septiembre set settembre setembro wrzesnia września wrzesień",
    "october oct oktober okt octobre octubre ottobre ott outubro out października październik",
    "november nov novembre noviembre novembro listopada listopad",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro grudnia grudzień desember des",
)

MONTHS: dict[str, int] = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}

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
