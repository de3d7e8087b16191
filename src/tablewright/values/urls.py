"""Web addresses in texts. Only http and https count; a bare domain gets https."""

from __future__ import annotations

import re

from tablewright.domain.model import Label

_LONGEST = 2048
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_HOST = rf"(?:{_LABEL}\.){{1,10}}(?:[^\W\d_]{{2,63}}|xn--[a-z0-9-]{{2,59}})\.?"
_NUMERIC_HOST = r"\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\]|localhost"
_TAIL = r"(?::\d{1,5})?(?:[/?#][^\s<>\"`{}|\\^]*)?"
_CLEAN = re.compile(
    rf"(https?)://((?:[^\s/@:]{{1,64}}(?::[^\s/@]{{0,64}})?@)?)({_HOST}|{_NUMERIC_HOST})({_TAIL})", re.IGNORECASE
)
_BARE = re.compile(rf"(?<![\w@.:/-])({_HOST})({_TAIL})(?![\w@])", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"\s*<?(?!https?:)[a-z][a-z0-9+.-]{1,20}:(?!\d)", re.IGNORECASE)
_HIDDEN_SCHEME = re.compile(r"\b(?:javascript|data|vbscript|file|mailto|blob):", re.IGNORECASE)
_LINK = re.compile(r"\[[^\]\n]{0,300}\]\(\s?<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)>?[^)\n]{0,200}\)")
_FILE_NAMES = frozenset(
    "pdf doc docx xls xlsx csv txt jpg jpeg png gif html htm xml json zip py js md e g i etc".split()
)


def read_url(text: str) -> tuple[str | None, Label, str]:
    """A clean http address is high; one completed, or taken out of other text, medium."""
    text = text.strip()
    if whole := _CLEAN.fullmatch(text, 0, _LONGEST):
        url = _url(whole)
        if len(text) <= _LONGEST and url:
            same = url.casefold() == text.casefold()
            return url, "high" if same else "medium", "" if same else "punctuation at the end left out"
    if _OTHER_SCHEME.match(text) and not re.match(r"\s*<?[^\W\d_]+:\s", text):
        return None, "none", "only http and https addresses are kept"
    head = text[:4000]
    if link := _LINK.search(head):
        head = link[1]
    if _HIDDEN_SCHEME.match(head):
        return None, "none", "only http and https addresses are kept"
    if found := _CLEAN.search(head, 0, len(head)):
        url = _url(found)
        return (url, "medium", "taken out of a longer text") if url else (None, "none", "no web address")
    if (bare := _BARE.search(head)) and _is_domain(bare[1], alone=bare[0] == head):
        url = f"https://{_host(bare[1])}{_trimmed(bare[2])}"
        return url, "medium", "https:// put before it"
    return None, "none", "no web address"


def _url(found: re.Match[str]) -> str:
    if found[3][0].isdigit() and any(int(part) > 255 for part in found[3].split(".") if part.isdecimal()):
        return ""
    return f"{found[1].lower()}://{found[2]}{_host(found[3])}{_trimmed(found[4])}"


def _host(host: str) -> str:
    return host.rstrip(".").lower()


def _trimmed(tail: str) -> str:
    """Without the punctuation of the sentence around it; a closing bracket stays where it was opened inside."""
    while tail and tail[-1] in ".,;:!?'\"”’*_)]}>»":
        if tail[-1] in ")]" and tail.count(tail[-1]) <= tail.count({")": "(", "]": "["}[tail[-1]]):
            break
        if tail[-1] == "_" and len(tail) > 1 and not tail.endswith("__"):
            break
        tail = tail[:-1]
    return tail


def _is_domain(host: str, *, alone: bool) -> bool:
    """example.com, but not e.g., report.pdf or the full stop of a sentence (end.Next)."""
    ending = host.rstrip(".").rpartition(".")[2]
    if ending.casefold() in _FILE_NAMES:
        return False
    return alone or (ending == ending.lower() or host == host.upper())
