"""Detect responses that are not the requested page: a bot challenge, a paywall, a login, a consent form, or nothing.

A status alone can show it. The words of a page show it only if there is little else to read: an article about captchas,
a shop with a cookie banner, or a profile with "Log in" in its corner are pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tablewright.text import split_sentences

# A page with more text than this is a page, whatever it says.
MAX_WALL_CHARACTERS = 4_000
# Markup of a wall is also on real pages, so less text is needed to rule a wall out.
HARDLY_ANY_TEXT = 120

# Statuses that mean refused; 404 and 410 mean missing, which is another thing.
_STATUSES = {
    401: "the site asks for a login (401)",
    402: "the site asks for payment (402)",
    403: "the site refuses to show it (403)",
    407: "a proxy asks for a login (407)",
    429: "the site says that we ask too often (429)",
    451: "the site may not show it for legal reasons (451)",
    999: "the site refuses to show it (999)",
}


@dataclass(frozen=True, kw_only=True)
class Wall:
    """A page is this wall if one of `words` is in its text, or `markup` in its HTML, and there is little else to read.

    `own` are words of its sentences that prove nothing by themselves."""

    why: str
    words: re.Pattern[str]
    own: re.Pattern[str] | None = None
    markup: re.Pattern[str] | None = None
    # Characters of other sentences next to those of a wall. A teaser, a menu and a footer can be on the wall itself.
    most_others: int = 300


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_CHALLENGE = Wall(
    why="the site wants proof that a person is reading",
    words=_any_of(
        r"\b(?:verify|verifying|confirm|prove|check|checking|making sure)(?: that| if)? you(?:['’]re| are)"
        r" (?:an? )?(?:human|person|not a (?:ro)?bot)",
        r"\bare you a (?:ro)?bot\b",
        r"\bI(?:['’]m| am) not a robot\b",
        r"\b(?:complete|solve|enter|fill in) (?:the|this|a) (?:captcha|security check|challenge)\b",
        r"\bchecking your browser\b",
        r"\b(?:review|check) the security of your connection\b",
        r"\bunusual traffic from your\b",
        r"\benable (?:JavaScript|JS) and (?:cookies|disable any ad blocker)\b",
        r"\bpress (?:&amp;|&|and) hold\b",
        r"\bmade us think (?:that )?you (?:were|are|might be) a (?:ro)?bot\b",
        r"\bIncapsula incident ID\b",
        r"\bbestätigen Sie, dass Sie (?:ein Mensch|kein Roboter) sind\b",
        r"\bvérifi\w+ que vous (?:êtes humain|n['’]êtes pas un robot)\b",
        r"\b(?:verifi\w+|confirm\w+) que (?:eres (?:un )?humano|no eres un robot)\b",
    ),
    markup=_any_of(
        r"\b_cf_chl_opt\b",
        r"\bid=[\"']?challenge-(?:form|running|error-text|stage)",
        r"\bclass=[\"'][^\"'>]*\b(?:g-recaptcha|h-captcha|cf-turnstile)\b",
        r"captcha-delivery\.com",
        r"\bid=[\"']?px-captcha",
        r"/_Incapsula_Resource\b",
        r"\bawsWafCookieDomainList\b",
        r"\bid=[\"']?anubis_challenge",
        r"<title>\s*(?:Just a moment\.\.\.|Attention Required! \| Cloudflare|DDoS-Guard|Pardon Our Interruption)",
    ),
)
_SCRIPT = Wall(
    why="the page shows nothing without JavaScript",
    words=_any_of(
        r"\b(?:enable|activate|turn on|requires?|needs?) JavaScript\b",
        r"\bJavaScript (?:is|to be|must be|muss|est) (?:disabled|required|enabled|aktiviert|désactivé)\b",
    ),
    most_others=HARDLY_ANY_TEXT,
)
# In the order in which a page is compared with them.
_WALLS = (
    _CHALLENGE,
    Wall(
        why="the page can be read only by subscribers",
        words=_any_of(
            r"\bsubscribe (?:now )?(?:to|for) (?:continue|keep|read|unlock|get|full|unlimited)\b",
            r"\b(?:article|story|content|page) is (?:only )?(?:available |reserved )?(?:for|to|exclusive to)"
            r" (?:paying |premium )?(?:subscribers|members)\b",
            r"\bto (?:continue|keep) reading\b",
            r"\byou(?:['’]ve| have) (?:reached|used|read) (?:your|all|the) .{0,40}\b(?:limit|articles)\b",
            r"\balready a (?:subscriber|member)\b",
            r"\bweiterlesen mit\b|\bum (?:den Artikel )?weiterzulesen\b|\bjetzt abonnieren\b",
            r"\bréservé aux abonnés\b|\babonnez-vous pour\b",
            r"\b(?:solo|exclusivo) para suscriptores\b|\bsuscríbete para\b",
        ),
        markup=re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE),
    ),
    Wall(
        why="the page can be read only after a login",
        words=_any_of(
            r"\b(?:log|sign) ?in (?:or (?:sign up|register|join|create an account) )?(?:in order )?to"
            r" (?:continue|view|see|read|access|use)\b",
            r"\b(?:you (?:must|need to|have to)|please) (?:be logged in|log ?in|sign ?in|be signed in)\b",
            r"\bjoin (?:now )?to (?:view|see)\b",
            r"\bmembers only\b",
            r"\bbitte (?:melden Sie sich an|einloggen|anmelden)\b",
            r"\b(?:connectez|identifiez)-vous pour\b",
            r"\binici(?:a|e) sesión para\b",
        ),
        markup=re.compile(r"<input\b[^<>]*\btype=[\"']?password", re.IGNORECASE),
    ),
    Wall(
        why="the page can be read only after consenting to cookies",
        words=_any_of(
            r"\bbefore you continue to\b",
            r"\b(?:accept|reject|allow) (?:all|cookies)\b",
            r"\bI (?:agree|accept)\b",
            r"\b(?:Alle|Cookies) akzeptieren\b",
            r"\b(?:tout accepter|accepter et (?:continuer|fermer)|continuer sans accepter)\b",
            r"\baceptar (?:todo|todas|y continuar)\b",
        ),
        own=_any_of(
            r"\b(?:we|our|your)\b.{0,200}?\b(?:cookies?|consent|privacy|partners|personal data)\b",
            r"\b(?:cookies?|consent|privacy)\b.{0,200}?\b(?:we|our|your|settings|preferences|options|policy)\b",
            r"\b(?:wir|unsere)\b.{0,200}?\b(?:Cookies|Zustimmung|Einwilligung|Partner)\b",
            r"\b(?:nous|nos)\b.{0,200}?\b(?:cookies|consentement|partenaires)\b",
            r"\b(?:utilizamos|usamos|nuestros)\b.{0,200}?\b(?:cookies|consentimiento|socios)\b",
        ),
    ),
    _SCRIPT,
)


def explain_block(status: int, headers: Mapping[str, str], html: str, text: str) -> str | None:
    """Return a short reason for people, or None for a page and for a plain error: a missing page is not blocked.

    `text` is what a reader makes of `html`; for the page of an error it may be left empty.
    """
    challenged = _challenged_by_header(headers)
    if status >= 400:
        challenged = challenged or _matches_pattern(_CHALLENGE.words, html) or _matches_pattern(_CHALLENGE.markup, html)
        return f"{_CHALLENGE.why} ({status})" if challenged and status in (*_STATUSES, 503) else _STATUSES.get(status)
    if challenged:
        return _CHALLENGE.why
    text = text.strip()
    if len(text) > MAX_WALL_CHARACTERS:
        return None
    for wall in _WALLS:
        if _is_wall(wall, html, text):
            return wall.why
    if text:
        return None
    return _SCRIPT.why if "<script" in html.lower() else "the page is empty"


def _is_wall(wall: Wall, html: str, text: str) -> bool:
    sentences = (line[start:end] for line in text.split("\n") for start, end in split_sentences(line))
    others = sum(
        len(sentence)
        for sentence in sentences
        if not _matches_pattern(wall.words, sentence) and not _matches_pattern(wall.own, sentence)
    )
    if others < wall.most_others and _matches_pattern(wall.words, text):
        return True
    return others < HARDLY_ANY_TEXT and _matches_pattern(wall.markup, html)


def _challenged_by_header(headers: Mapping[str, str]) -> bool:
    lower = {name.lower(): value.lower() for name, value in headers.items()}
    # Headers that Cloudflare and AWS send with a challenge, whatever the status.
    return any(
        name in lower and sign in lower[name]
        for name, sign in {"cf-mitigated": "challenge", "x-amzn-waf-action": ""}.items()
    )


def _matches_pattern(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.search(text) is not None
