"""What the program says in its own words beside a model's, in the language of the question.

A language that is not here gets English, unless its lines were translated (`learn`). In a message "one|many" the count
says which; `things` are names of kinds, which are not translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablewright.messages.report_texts import REPORT_ENGLISH, REPORT_GERMAN
from tablewright.messages.shortlist_texts import SHORTLIST_ENGLISH, SHORTLIST_GERMAN

ENGLISH = {
    "missing": "Missing: {what}",
    "not said": "The documents do not say.",
    "unverified": "{count} statement could not be verified and is left out.|"
    "{count} statements could not be verified and are left out.",
    "searched for": "Searched for: {tried}.",
    "widened": "Searched in all documents, not only in {where}.",
    "passages": "{count} passage|{count} passages",
    "best passages": "the best passages were read, not all: {read}",
    "read": "{passages} of {count} document were read|{passages} of {count} documents were read",
    "read whole": "the document was read whole|all {count} documents were read whole",
    "may I read": "To answer this, {count} documents must be read for {columns}: {effort}. Shall I go on?",
    "may I sort": "To answer this, {count} documents must first be sorted by kind: {effort}. Shall I go on?",
    "effort": "about {calls} model call, {tokens} tokens|about {calls} model calls, {tokens} tokens",
    "to": "{low} to {high}",
    "nothing waits": "Nothing is waiting for your approval. What is your question?",
    "new topic": "A new topic. What is your question?",
    "no rows yet": "There are no rows yet. Ask for a list first.",
    "rows of": "Rows {first} to {last} of {total}.",
    "that was all": "That was all.",
    "exported": "{count} row can be exported{where}.|{count} rows can be exported{where}.",
    "to file": " to {path}",
    "name a file": "; name a file, such as rows.csv",
    "too many": "{count} match, and the first {shown} are shown.",
    "narrow": "Narrow them by {columns}, or export them all.",
    "or": " or ",
    "looser": "Without “{condition}” {count} would match{named}.",
    "other kinds": "Of documents that are not {things}, {count} matches{named}.|"
    "Of documents that are not {things}, {count} match{named}.",
    "tables silent": "The columns that were looked up do not tell, so the texts were searched.",
    "texts unread": "other documents were not searched for it: {why}",
    "beside": "beside the lookup, {read}",
    "matched": "matched {matched} of {total} {things}",
    "undecided": "{count} undecided",
    "exact": "exact",
    "approximate": "approximate",
    "incomplete": "incomplete",
    "completeness": "Completeness: {word}",
    "contradict": "The documents contradict each other: {what}",
    "contradicted": "the documents contradict each other",
    "could not be decided": "{count} of {total} could not be decided ({times}: {why})",
    "documents unreadable": "{count} document could not be read|{count} documents could not be read",
    "not read": "{column} could not be read",
    "not stated": "{column} is not stated",
    "changed": "{column} was read before the document changed",
    "changed since": "{count} document has changed since {column} was read|"
    "{count} documents have changed since {column} was read",
    "judged": "{count} of {total} were judged by the model, or are not sure",
    "by spelling": "names in {column} were compared by spelling alone",
    "several currencies": "the figures may be in several currencies ({currencies})",
    "all count": "{count} of {total} state several values of {column}; all count",
    "only compared": "only {count} of {total} rows were compared",
    "compared": "the rows were compared by the model",
    "documents silent": "the documents do not say",
    "nobody sorted": "the kind of {count} of {total} documents is not confirmed",
    "from titles": "the kind of {count} of these {total} is a guess from titles and folders",
    "no kind": "the kind of {count} of these {total} is not known",
    "sorted within": "sorted within each of {units}, which are not compared with each other",
    "no such table": "{count} of {total} {things} has no such table, so it was not looked at|"
    "{count} of {total} {things} have no such table, so they were not looked at",
    "may be totals": "{count} row may only add up those above it|{count} rows may only add up those above them",
    "totals": "{count} row that only adds up the others was left out|"
    "{count} rows that only add up the others were left out",
    "yes": "yes",
    "no": "no",
    "matches silent": "{count} of {total} matches do not state {column}",
    "two readings": "values that can be read in two ways were taken in the usual one",
    "no unit asked": "the question gives no unit; numbers were compared as they are written",
    "one unit": "only one of two values has a unit or currency; the bare numbers were compared",
    "limit": "limits such as “{value}” were compared by their number alone",
    "unlike": "nothing is converted, so figures in {units} were not weighed against each other",
    "limits and ranges": "{count} of {total} give {column} only as a limit or a range",
    "two ends": "a range needs two ends",
    "no date": "“{value}” is not a date",
    "no number": "“{value}” is not a number",
    "no unit": "“{value}” has no unit",
    "no month": "“{value}” names no month",
    "not comparable": "“{value}” cannot be compared",
    "other unit": "“{value}” is not in {unit}",
    "other currency": "it is in {currency}, and nothing is converted",
    "may be either": "{value} may be either",
    "no group": "not stated",
    "count": "{count} {things} matches.|{count} {things} match.",
    "sum": "The sum of {column} of {count} {things} is {figure}.",
    "average": "The average of {column} of {count} {things} is {figure}.",
    "largest": "The largest {column} is {figure}: {named}.",
    "smallest": "The smallest {column} is {figure}: {named}.",
    "latest": "The latest {column} is {figure}: {named}.",
    "earliest": "The earliest {column} is {figure}: {named}.",
    "none states": "none of {count} {things} states {column}.",
    "and more": " and {count} more",
    "calculated": "calculated: {how}",
    "not decided": "Not decided: {named} ({why}).",
    "year": "year",
    "quarter": "quarter",
    "month": "month",
}
GERMAN = {
    "missing": "Es fehlt: {what}",
    "not said": "Die Dokumente sagen es nicht.",
    "unverified": "{count} Aussage ließ sich nicht belegen und ist weggelassen.|"
    "{count} Aussagen ließen sich nicht belegen und sind weggelassen.",
    "searched for": "Gesucht nach: {tried}.",
    "widened": "In allen Dokumenten gesucht, nicht nur in {where}.",
    "passages": "{count} Stelle|{count} Stellen",
    "best passages": "gelesen wurden die besten Stellen, nicht alle: {read}",
    "read": "{passages} aus {count} Dokument|{passages} aus {count} Dokumenten",
    "read whole": "das Dokument wurde ganz gelesen|alle {count} Dokumente wurden ganz gelesen",
    "may I read": "Dafür müssen {count} Dokumente auf {columns} gelesen werden: {effort}. Soll ich?",
    "may I sort": "Dafür müssen {count} Dokumente zuerst nach ihrer Art sortiert werden: {effort}. Soll ich?",
    "effort": "etwa {calls} Modellaufruf, {tokens} Token|etwa {calls} Modellaufrufe, {tokens} Token",
    "to": "{low} bis {high}",
    "nothing waits": "Es wartet nichts auf Ihre Zustimmung. Wie lautet die Frage?",
    "new topic": "Ein neues Thema. Wie lautet die Frage?",
    "no rows yet": "Es gibt noch keine Zeilen. Fragen Sie zuerst nach einer Liste.",
    "rows of": "Zeilen {first} bis {last} von {total}.",
    "that was all": "Das waren alle.",
    "exported": "{count} Zeile kann exportiert werden{where}.|{count} Zeilen können exportiert werden{where}.",
    "to file": " nach {path}",
    "name a file": "; nennen Sie eine Datei, etwa rows.csv",
    "too many": "{count} passen, die ersten {shown} sind zu sehen.",
    "narrow": "Grenzen Sie sie nach {columns} ein, oder exportieren Sie alle.",
    "or": " oder ",
    "looser": "Ohne „{condition}“ würden {count} passen{named}.",
    "other kinds": "Unter den übrigen Dokumenten (nicht {things}) passt {count}{named}.|"
    "Unter den übrigen Dokumenten (nicht {things}) passen {count}{named}.",
    "tables silent": "Die nachgeschlagenen Spalten sagen es nicht, deshalb wurden die Texte durchsucht.",
    "texts unread": "andere Dokumente wurden dafür nicht durchsucht: {why}",
    "beside": "neben dem Nachschlagen: {read}",
    "matched": "{matched} von {total} passen ({things})",
    "undecided": "{count} unentschieden",
    "exact": "genau",
    "approximate": "ungefähr",
    "incomplete": "unvollständig",
    "completeness": "Vollständigkeit: {word}",
    "contradict": "Die Dokumente widersprechen sich: {what}",
    "contradicted": "die Dokumente widersprechen sich",
    "could not be decided": "{count} von {total} ließen sich nicht entscheiden ({times}: {why})",
    "documents unreadable": "{count} Dokument ließ sich nicht lesen|{count} Dokumente ließen sich nicht lesen",
    "not read": "{column} ließ sich nicht lesen",
    "not stated": "{column} ist nicht angegeben",
    "changed": "{column} wurde gelesen, bevor sich das Dokument änderte",
    "changed since": "{count} Dokument hat sich geändert, seit {column} gelesen wurde|"
    "{count} Dokumente haben sich geändert, seit {column} gelesen wurde",
    "judged": "{count} von {total} hat das Modell beurteilt, oder sie sind unsicher",
    "by spelling": "Namen in {column} wurden nur nach der Schreibweise verglichen",
    "several currencies": "die Beträge sind vielleicht in mehreren Währungen ({currencies})",
    "all count": "{count} von {total} nennen mehrere Werte für {column}; alle zählen",
    "only compared": "nur {count} von {total} Zeilen wurden verglichen",
    "compared": "die Zeilen hat das Modell verglichen",
    "documents silent": "die Dokumente sagen es nicht",
    "nobody sorted": "von {count} der {total} Dokumente hat niemand gesagt, was sie sind",
    "from titles": "die Art von {count} dieser {total} ist nach Titel oder Ordner geraten",
    "no kind": "die Art von {count} dieser {total} ist nicht bekannt",
    "sorted within": "je für sich sortiert: {units}; untereinander sind sie nicht vergleichbar",
    "no such table": "{count} von {total} ({things}) hat keine solche Tabelle und zählt deshalb nicht|"
    "{count} von {total} ({things}) haben keine solche Tabelle und zählen deshalb nicht",
    "may be totals": "{count} Zeile addiert vielleicht nur die darüber|"
    "{count} Zeilen addieren vielleicht nur die darüber",
    "totals": "{count} Zeile, die nur die anderen addiert, ist weggelassen|"
    "{count} Zeilen, die nur die anderen addieren, sind weggelassen",
    "yes": "ja",
    "no": "nein",
    "matches silent": "{count} von {total} Treffern nennen {column} nicht",
    "two readings": "Werte, die sich auf zwei Arten lesen lassen, wurden auf die übliche gelesen",
    "no unit asked": "die Frage nennt keine Einheit; Zahlen wurden verglichen, wie sie geschrieben sind",
    "one unit": "nur einer von zwei Werten hat eine Einheit oder Währung; verglichen wurden die bloßen Zahlen",
    "limit": "Grenzen wie „{value}“ wurden nur nach ihrer Zahl verglichen",
    "unlike": "nichts wird umgerechnet, Zahlen in {units} wurden deshalb nicht gegeneinander abgewogen",
    "limits and ranges": "{count} von {total} nennen {column} nur als Grenze oder Spanne",
    "two ends": "ein Bereich braucht zwei Enden",
    "no date": "„{value}“ ist kein Datum",
    "no number": "„{value}“ ist keine Zahl",
    "no unit": "„{value}“ hat keine Einheit",
    "no month": "„{value}“ nennt keinen Monat",
    "not comparable": "„{value}“ lässt sich nicht vergleichen",
    "other unit": "„{value}“ ist nicht in {unit}",
    "other currency": "der Betrag ist in {currency}, und nichts wird umgerechnet",
    "may be either": "{value} kann beides sein",
    "no group": "nicht angegeben",
    "count": "{count} Treffer ({things}).|{count} Treffer ({things}).",
    "sum": "Die Summe von {column} ist {figure} ({count} {things}).",
    "average": "Der Durchschnitt von {column} ist {figure} ({count} {things}).",
    "largest": "{column}, größter Wert: {figure}: {named}.",
    "smallest": "{column}, kleinster Wert: {figure}: {named}.",
    "latest": "{column}, spätester Tag: {figure}: {named}.",
    "earliest": "{column}, frühester Tag: {figure}: {named}.",
    "none states": "keines nennt {column} ({count} {things}).",
    "and more": " und {count} weitere",
    "calculated": "berechnet: {how}",
    "not decided": "Nicht entschieden: {named} ({why}).",
    "year": "Jahr",
    "quarter": "Quartal",
    "month": "Monat",
}
CATALOGUE: dict[str, dict[str, str]] = {
    "en": {**ENGLISH, **REPORT_ENGLISH, **SHORTLIST_ENGLISH},
    "de": {**GERMAN, **REPORT_GERMAN, **SHORTLIST_GERMAN},
}
OURS = frozenset(CATALOGUE)
NAMES = {"english": "en", "german": "de", "deutsch": "de"}
"""Languages as a plan names them."""
POINTS, SPACES = str.maketrans(",.", ".,"), str.maketrans(",.", "\u202f,")
MARKS = {
    **dict.fromkeys(("da", "de", "el", "es", "id", "it", "nl", "pt", "ro", "tr"), POINTS),
    **dict.fromkeys(("bg", "cs", "fi", "fr", "hu", "nb", "pl", "ru", "sk", "sv", "uk"), SPACES),
}
"""How the marks of English figures are written in other languages: 1.577,20 or 1 577,20."""


def message(key: str, language: str = "", **values: Any) -> str:
    """In the language, or in English where it has no catalogue. Whole numbers are written with their marks."""
    return completed(CATALOGUE[code_of(language)][key], language, values)


def completed(text: str, language: str, values: Mapping[str, Any]) -> str:
    """A text of a catalogue with its values. Of "one|many" the `count` says which."""
    forms = text.split("|")
    form = forms[0] if values.get("count") == 1 else forms[-1]
    said = {name: figure(f"{each:,}", language) if isinstance(each, int) else each for name, each in values.items()}
    return form.format(**said) if said else form


def column_name(name: str, language: str = "") -> str:
    """The columns that every comparison has are named in the language; others are called what they are called."""
    return CATALOGUE[code_of(language)].get(f"column: {name}", name)


def state_name(name: str, language: str = "") -> str:
    """What goods are offered as, "used": in the language where it is one of ours."""
    return CATALOGUE[code_of(language)].get(f"state: {name}", name)


def figure(written: str, language: str = "") -> str:
    """A figure that is written as in English, "1,577.20", as the language writes it."""
    marks = MARKS.get(primary_code(language))
    return written.translate(marks) if marks else written


def code_of(language: str) -> str:
    """ "de" of "de-AT" and of "German"; English for what is not in the catalogue."""
    code = primary_code(language)
    return code if code in CATALOGUE else "en"


def primary_code(language: str) -> str:
    """ "es" of "es-MX" and of "es_MX", whether it is in the catalogue or not."""
    first = language.strip().lower().replace("-", " ").replace("_", " ").partition(" ")[0]
    return NAMES.get(first, first)


def learn(code: str, lines: Mapping[str, str]) -> None:
    """What is translated of a language; the rest of it stays English. The languages that come with us stay ours."""
    if code not in OURS:
        CATALOGUE[code] = CATALOGUE["en"] | CATALOGUE.get(code, {}) | dict(lines)
