"""Credentials inside addresses, found by the form of a URL: masked wherever one is shown, kept or logged."""

from __future__ import annotations

import re

HIDDEN = "…"
LEAST = 4
"""Characters of a secret that is looked for in other texts; of fewer, half of every text would be hidden."""

_LOGIN = re.compile(
    r"""(?P<before>://)(?P<secret>[^\s/?#"'<>]{1,300}|[^\s/?#:@"'<>]{0,100}:[^\s@"'<>]{0,200})@""",
)
"""`user:password@`, also where the password holds a slash or an @ that should have been escaped."""
_PARAMETER = re.compile(
    r"""(?P<before>[?&;][\w.-]{0,40}(?:key|token|secret|password|passwd|pwd|auth|signature|sig)=)(?P<secret>[^&;#\s"'<>]{1,300})""",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The text with the login and the key of every address in it left out."""
    if "://" not in text:
        return text
    return _PARAMETER.sub(rf"\g<before>{HIDDEN}", _LOGIN.sub(rf"\g<before>{HIDDEN}@", text))


def secrets_in(text: str) -> list[str]:
    """What `masked` leaves out, and a password also without its user: others may repeat it alone."""
    if "://" not in text:
        return []
    logins = [found["secret"] for found in _LOGIN.finditer(text)]
    passwords = [password for login in logins if (password := login.partition(":")[2])]
    return [*logins, *passwords, *(found["secret"] for found in _PARAMETER.finditer(text))]
