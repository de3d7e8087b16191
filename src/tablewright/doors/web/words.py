# ruff: noqa: E501  # a line of the catalogue is one text
"""The texts of the page in the language that is set: one catalogue, in which the English text is the key.

    from tablewright.doors.web.words import t

    ui.button(t("Save"))
    t("{count} row|{count} rows", count=12)

A text without a translation stays English. `tests/doors/web/test_words.py` sees to it that every text that goes through
`t` is in the catalogue, with the same placeholders, and that the catalogue has no others.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from nicegui import app as pages

from tablewright.table.messages import completed

LANGUAGES = {"en": "English", "de": "Deutsch"}

GERMAN = {
    # the frame of all pages
    "Tables": "Tabellen",
    "Documents": "Dokumente",
    "Research": "Recherche",
    "Shortlist": "Auswahl",
    "Runs": "Läufe",
    "Health": "Zustand",
    "Settings": "Einstellungen",
    "Skip to the content": "Zum Inhalt springen",
    "Open the menu": "Menü öffnen",
    "Light or dark": "Hell oder dunkel",
    "Something went wrong on the server.": "Auf dem Server ist etwas schiefgegangen.",
    "The log says what. What was saved before is kept.": "Das Protokoll sagt, was. Bereits Gespeichertes bleibt erhalten.",
    "This did not work": "Das hat nicht geklappt",
    "All tables": "Alle Tabellen",
    "An admin can change it under Settings.": "Ein Admin kann das unter Einstellungen ändern.",
    # tables
    "New table": "Neue Tabelle",
    "No table is shared with you yet": "Noch ist keine Tabelle mit Ihnen geteilt",
    "Ask an editor or an admin to share one with you; it then appears here.": "Bitten Sie eine Bearbeiterin oder einen "
    "Admin, eine mit Ihnen zu teilen; sie erscheint dann hier.",
    "Fill a table with facts that carry their evidence": "Füllen Sie eine Tabelle mit Fakten, die ihre Belege mitbringen",
    "Bring rows, such as companies or products, and ask for columns in your own words. Every value shows its source, the "
    "exact quote and how sure it is; what is not found stays empty and says why.": "Bringen Sie Zeilen mit, etwa Firmen "
    "oder Produkte, und fragen Sie in eigenen Worten nach Spalten. Jeder Wert zeigt seine Quelle, das genaue Zitat und wie "
    "sicher er ist; was nicht gefunden wird, bleibt leer und sagt, warum.",
    "Twelve fictional companies, filled from a small fictional web on this computer: no key, no internet, nothing to set "
    "up.": "Zwölf erfundene Firmen, gefüllt aus einem kleinen erfundenen Web auf diesem Rechner: ohne Schlüssel, ohne "
    "Internet, ohne Einrichtung.",
    "Set up in three steps": "In drei Schritten einrichten",
    "A model, a search engine, a first table. Each step can be skipped.": "Ein Modell, eine Suchmaschine, eine erste "
    "Tabelle. Jeder Schritt lässt sich überspringen.",
    "Start with your own rows": "Mit eigenen Zeilen beginnen",
    "No table is called “{name}”.": "Keine Tabelle heißt „{name}“.",
    "Search tables": "Tabellen suchen",
    "{count} row|{count} rows": "{count} Zeile|{count} Zeilen",
    "{count} column|{count} columns": "{count} Spalte|{count} Spalten",
    "changed {when}": "geändert {when}",
    # ways to a table
    "Open a filled sample": "Gefülltes Beispiel öffnen",
    "Drop a CSV or Excel file here, or click to choose one": "CSV- oder Excel-Datei hierher ziehen oder klicken, um eine "
    "auszuwählen",
    "Blank table": "Leere Tabelle",
    "Paste a list": "Liste einfügen",
    "Find rows": "Zeilen finden",
    "From documents": "Aus Dokumenten",
    "That file is not taken. It must be one of {kinds}, of at most 200 MB.": "Diese Datei geht nicht. Möglich sind {kinds} "
    "bis 200 MB.",
    "Import a table": "Tabelle importieren",
    "Name of the table": "Name der Tabelle",
    "The first line has the names of the columns": "Die erste Zeile enthält die Spaltennamen",
    "Cancel": "Abbrechen",
    "Import": "Importieren",
    "First rows": "Erste Zeilen",
    "What names a row": "Was eine Zeile benennt",
    "Name of {column}": "Name von {column}",
    "Type of {column}": "Typ von {column}",
    "{column}: {count} value would be left out, not being of the type {type}: {values}|{column}: {count} values would be "
    "left out, not being of the type {type}: {values}": "{column}: {count} Wert fiele weg, weil er nicht vom Typ {type} "
    "ist: {values}|{column}: {count} Werte fielen weg, weil sie nicht vom Typ {type} sind: {values}",
    "This file was imported before": "Diese Datei wurde schon importiert",
    "{count} new row|{count} new rows": "{count} neue Zeile|{count} neue Zeilen",
    "{file} has changed since it became the table {table}. It has {rows}; what is in the table stays as it is.": "{file} "
    "hat sich geändert, seit daraus die Tabelle {table} wurde. Sie hat {rows}; was in der Tabelle steht, bleibt.",
    "{file} has changed since it became the table {table}. It has no new rows, and what is in the table stays as it is.": (
        "{file} hat sich geändert, seit daraus die Tabelle {table} wurde. Sie hat keine neuen Zeilen, und was in der "
        "Tabelle steht, bleibt."
    ),
    "{file} is the table {table}.": "{file} ist die Tabelle {table}.",
    "Make a new table": "Neue Tabelle anlegen",
    "Add {rows}": "{rows} hinzufügen",
    "Open the table": "Tabelle öffnen",
    "Columns, separated by commas": "Spalten, durch Kommas getrennt",
    "The first column says what a row is about, such as a company or a product.": "Die erste Spalte sagt, worum es in einer "
    "Zeile geht, etwa eine Firma oder ein Produkt.",
    "Create": "Anlegen",
    "Rows": "Zeilen",
    "Columns are separated by": "Spalten sind getrennt durch",
    "One row a line, or cells copied from a spreadsheet": "Eine Zeile je Zeile, oder aus einer Tabellenkalkulation kopiert",
    "Commas": "Kommas",
    "Semicolons": "Semikolons",
    "Preview": "Vorschau",
    "A table of your documents": "Eine Tabelle Ihrer Dokumente",
    "All {count}": "Alle {count}",
    "Which documents": "Welche Dokumente",
    "One row for each file. Columns that you ask for are then read from the documents.": "Eine Zeile je Datei. Spalten, "
    "nach denen Sie fragen, werden dann aus den Dokumenten gelesen.",
    # first steps
    "First steps": "Erste Schritte",
    "Model": "Modell",
    "Web search": "Websuche",
    "First table": "Erste Tabelle",
    "Skip": "Überspringen",
    "Steps": "Schritte",
    "A language model reads pages and documents, and judges what they say. Without one only what is stated plainly is "
    "found.": "Ein Sprachmodell liest Seiten und Dokumente und beurteilt, was sie sagen. Ohne Modell wird nur gefunden, was "
    "klar dasteht.",
    "Where facts are looked for on the web. A search engine with a key answers reliably; without one you can begin at "
    "once, but many searches in a row are refused.": "Wo im Web nach Fakten gesucht wird. Eine Suchmaschine mit Schlüssel "
    "antwortet zuverlässig; ohne können Sie sofort beginnen, aber viele Suchen hintereinander werden abgelehnt.",
    "Bring your rows, then ask for columns.": "Bringen Sie Ihre Zeilen mit, dann fragen Sie nach Spalten.",
    # settings
    "Only an admin sees and changes the settings.": "Nur ein Admin sieht und ändert die Einstellungen.",
    "Saved in the home folder of this server, keys encrypted. They hold for everyone who uses it, and for commands on this "
    "computer.": "Gespeichert im Ordner dieses Servers, Schlüssel verschlüsselt. Sie gelten für alle, die ihn nutzen, und "
    "für Befehle auf diesem Rechner.",
    "Save": "Speichern",
    "Test": "Testen",
    "works": "geht",
    "problem": "Problem",
    "Set by {where}; change it there.": "Durch {where} gesetzt; ändern Sie es dort.",
    "Saved; type to replace it": "Gespeichert; zum Ersetzen tippen",
    "Saved. It is used from now on; runs under way keep the settings that they began with.": "Gespeichert. Es gilt ab "
    "jetzt; laufende Läufe behalten die Einstellungen, mit denen sie begannen.",
    "No model": "Kein Modell",
    "Ollama, on this computer": "Ollama, auf diesem Rechner",
    "Another OpenAI-compatible server": "Ein anderer OpenAI-kompatibler Server",
    "Without a model, Tablewright reads only what pages and documents state plainly: labels, tables and sentences that "
    "name the thing and the value. Questions in your own words need a model.": "Ohne Modell liest Tablewright nur, was "
    "Seiten und Dokumente klar sagen: Beschriftungen, Tabellen und Sätze, die Sache und Wert nennen. Fragen in eigenen "
    "Worten brauchen ein Modell.",
    "Who reads and judges": "Wer liest und urteilt",
    "Address": "Adresse",
    "Key": "Schlüssel",
    "Choose from the list, or type a name and press Enter": "Aus der Liste wählen, oder einen Namen tippen und Enter drücken",
    "Show the models of this provider": "Modelle dieses Anbieters zeigen",
    "{name} is running on this computer, with {count} model.|{name} is running on this computer, with {count} models.": (
        "{name} läuft auf diesem Rechner, mit {count} Modell.|{name} läuft auf diesem Rechner, mit {count} Modellen."
    ),
    "Use {name}": "{name} nehmen",
    "Search with": "Suchen mit",
    "DuckDuckGo: no key, but it refuses many searches in a row": "DuckDuckGo: ohne Schlüssel, lehnt aber viele Suchen "
    "hintereinander ab",
    "SearXNG, your own server": "SearXNG, Ihr eigener Server",
    "Sample web: fictional, on this computer, to try things out": "Beispielweb: erfunden, auf diesem Rechner, zum "
    "Ausprobieren",
    "Budget": "Budget",
    "A run that reaches its budget stops, and keeps what it found. Empty: no limit.": "Ein Lauf, der sein Budget erreicht, "
    "hört auf und behält, was er gefunden hat. Leer: keine Grenze.",
    "Dollars a run may spend": "Dollar, die ein Lauf ausgeben darf",
    "Tokens a run may use": "Token, die ein Lauf verbrauchen darf",
    "Evidence": "Belege",
    "Which values count": "Welche Werte zählen",
    "Also what a model concludes from quotes; such values are marked “judged”": "Auch was ein Modell aus Zitaten schließt; "
    "solche Werte sind als „judged“ markiert",
    "Only what a source states, or what follows from it by a rule such as a unit conversion": "Nur was eine Quelle sagt, "
    "oder was nach einer Regel daraus folgt, etwa einer Umrechnung",
    "Search in documents": "Suche in Dokumenten",
    "What finds passages by meaning. Documents that are in already are found again once they are re-read.": "Was Stellen "
    "nach ihrer Bedeutung findet. Vorhandene Dokumente werden wieder gefunden, sobald sie neu gelesen sind.",
    "Embeddings": "Embeddings",
    "On this computer (no key)": "Auf diesem Rechner (ohne Schlüssel)",
    "OpenAI, or a server that is compatible": "OpenAI, oder ein kompatibler Server",
    "Address, empty for OpenAI": "Adresse, leer für OpenAI",
    "Language": "Sprache",
    "Language of the page": "Sprache der Seite",
    "Tables, settings and first steps are translated; other pages are in English.": "Tabellen, Einstellungen und erste "
    "Schritte sind übersetzt; die anderen Seiten sind englisch.",
    # above a table
    "The run is paused.": "Der Lauf ist angehalten.",
    "The run failed.": "Der Lauf ist gescheitert.",
    "The run was interrupted: the process that worked on it is gone.": "Der Lauf wurde unterbrochen: Der Prozess, der ihn "
    "ausführte, ist weg.",
    "The run stopped at its budget.": "Der Lauf hat sein Budget erreicht.",
    "Check the search and the model under Settings, then press Retry.": "Prüfen Sie Suche und Modell unter Einstellungen, "
    "dann wiederholen Sie den Lauf.",
    "Raise the budget under Settings, then fill the rest.": "Erhöhen Sie das Budget unter Einstellungen, dann füllen Sie "
    "den Rest.",
    "{done} of {count} row is done; what was found is kept.|{done} of {count} rows are done; what was found is kept.": (
        "{done} von {count} Zeile ist fertig; was gefunden wurde, bleibt.|"
        "{done} von {count} Zeilen sind fertig; was gefunden wurde, bleibt."
    ),
    "No value was found.": "Kein Wert wurde gefunden.",
    "{reasons}. Click a cell to see where it was looked for.": "{reasons}. Klicken Sie auf eine Zelle, um zu sehen, wo "
    "gesucht wurde.",
    "No model is set, so only what pages state plainly is read. Choose one under Settings.": "Es ist kein Modell gewählt, "
    "also wird nur gelesen, was Seiten klar sagen. Wählen Sie eines unter Einstellungen.",
    "Word the question as a page would answer it, or name what tells the rows apart.": "Formulieren Sie die Frage so, wie "
    "eine Seite sie beantworten würde, oder nennen Sie, was die Zeilen unterscheidet.",
    "{count} cell: {reason}|{count} cells: {reason}": "{count} Zelle: {reason}|{count} Zellen: {reason}",
    "no source says it": "keine Quelle sagt es",
    "the pages refused to be read": "die Seiten ließen sich nicht lesen",
    "the question does not apply": "die Frage passt nicht",
    "the sources disagree": "die Quellen widersprechen sich",
    "the budget was used up": "das Budget war verbraucht",
    "something failed": "etwas ist gescheitert",
    "Details": "Einzelheiten",
    "Retry": "Wiederholen",
    "Close": "Schließen",
    "Last run": "Letzter Lauf",
    "Fictional sample: these companies do not exist. Columns that you ask for here are looked up in the small sample web "
    "that comes with Tablewright.": "Erfundenes Beispiel: Diese Firmen gibt es nicht. Spalten, nach denen Sie hier fragen, "
    "werden im kleinen Beispielweb gesucht, das zu Tablewright gehört.",
}
CATALOGUE = {"de": GERMAN}


def language() -> str:
    server: FastAPI = pages.state.server
    chosen: str = server.state.tablewright.settings.language
    return chosen if chosen in LANGUAGES else "en"


def t(english: str, **values: Any) -> str:
    """In the language of the page. Of "one|many" the `count` says which; whole numbers are written with their marks."""
    code = language()
    return completed(CATALOGUE.get(code, {}).get(english, english), code, values)
