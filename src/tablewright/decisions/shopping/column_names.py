"""The names of columns in a message: "please add the warranty and the cord length to the comparison"."""

from __future__ import annotations

import re

_POLITE = (
    r"(?:(?:please|and|also|ok(?:ay)?|yes|no|then|now|but|can|could|would|you|we|i|i'?d like (?:you )?to|let'?s"
    r"|want to|"
    r"to)[\s,]+)*"
)
_TABLE = r"(?:comparison|table|list|chart|columns?|fields?|shortlist)"
ADD = re.compile(
    rf"^{_POLITE}(?:add|include|compare|show(?: me)?|put(?: in)?|bring in|factor in|consider|look up|look at|find out"
    r"|check|take into "
    r"account|list|what about|how about|i (?:also )?care about|i need to know|tell me)\s+",
    re.IGNORECASE,
)
DROP = re.compile(
    rf"^{_POLITE}(?:drop|remove|delete|leave out|without|take out|take away|skip|lose|hide|exclude|omit|get rid of"
    r"|ditch|"
    r"don'?t (?:need|want|compare|show|include)|no need for|forget(?: about)?|no)\s+",
    re.IGNORECASE,
)
ONLY = re.compile(
    rf"^{_POLITE}(?:only|just|keep only|keep just|nothing but|limit (?:it|them) to|keep)\s+", re.IGNORECASE
)
SWAP = re.compile(
    rf"^{_POLITE}(?:replace|swap|exchange|change)\s+(?P<old>.+?)\s+(?:with|by|for|to)\s+(?P<new>.+)$|"
    r"^(?P<new2>.+?)\s+instead of\s+(?P<old2>.+)$",
    re.IGNORECASE,
)
BEHIND = re.compile(
    rf"\s+(?:(?:to|in|into|from|of|as|on)\s+(?:the|a|this|that|your|my)?\s*(?:new\s+)?{_TABLE}|{_TABLE}|too|as well"
    r"|also|please|"
    r"for (?:each|all|every|them|the)(?: \w+){0,2}|matters?(?: too)?|is important|instead|if possible|only|now)$",
    re.IGNORECASE,
)
BEFORE = re.compile(
    rf"^(?:(?:the|a|an|its|their|also|{_TABLE} (?:for|with|about|on)|whether (?:it|they)(?: is| are| has| have)?|"
    r"how (?:much|many) (?:of )?(?=\w+ (?:it|they))|about|both)\s+)+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*(?:,|;|&|\band\b|\bplus\b|\bas well as\b|\bor\b)\s*", re.IGNORECASE)
CLAUSES = re.compile(
    r"\s*(?:[;.]|,?\s*\b(?:and|but|then)\b|,)\s+(?=(?:then |also |please )*(?:add|include|drop|remove|delete|leave out"
    r"|take out|"
    r"skip|hide|replace|swap|only|keep)\b)",
    re.IGNORECASE,
)


def asked_names(words: str) -> tuple[str, ...]:
    """The names in "please add the warranty and the cord length to the comparison"."""
    text = " ".join(words.split()).strip(" .!?")
    text = ADD.sub("", text)
    return tuple(part for each in _PARTS.split(_bare(text)) if (part := _bare(each)))


def _bare(text: str) -> str:
    text = text.strip(" .,;:!?\"'")
    while (shorter := BEFORE.sub("", BEHIND.sub("", text)).strip(" .,;:!?\"'")) != text:
        text = shorter
    return text
