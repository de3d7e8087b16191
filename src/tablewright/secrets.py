"""Find credentials inside addresses by the form of a URL, and mask them wherever an address is shown, stored or
logged."""

from __future__ import annotations

import re

# One character that no address contains unescaped, so that a masked address is recognized (`Settings.with_shared`).
MASK = "…"

# `user:password@`, also where the password holds a slash or an @ that should have been escaped.
_LOGIN = re.compile(
    r"""(?P<before>://)(?P<secret>[^\s/?#"'<>]{1,300}|[^\s/?#:@"'<>]{0,100}:[^\s@"'<>]{0,200})@""",
)
# Parameters by the end of their name, such as `api_key=` and `X-Amz-Signature=`.
_PARAMETER = re.compile(
    r"""(?P<before>[?&;][\w.-]{0,40}(?:key|token|secret|password|passwd|pwd|auth|signature|sig)=)(?P<secret>[^&;#\s"'<>]{1,300})""",
    re.IGNORECASE,
)


def mask_secrets(text: str) -> str:
    """Return the text without the login and the key of every address in it."""
    if "://" not in text:
        return text
    # The login first: a password may look like a parameter.
    return _PARAMETER.sub(rf"\g<before>{MASK}", _LOGIN.sub(rf"\g<before>{MASK}@", text))


def find_secrets(text: str) -> list[str]:
    """Return what `mask_secrets` hides, and also a password without its user: others may repeat it alone."""
    if "://" not in text:
        return []
    logins = [found["secret"] for found in _LOGIN.finditer(text)]
    passwords = [password for login in logins if (password := login.partition(":")[2])]
    return [*logins, *passwords, *(found["secret"] for found in _PARAMETER.finditer(text))]
