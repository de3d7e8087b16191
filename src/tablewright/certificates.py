"""The certificates that HTTP clients trust, read once for all of them."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Those the system trusts. Reading them takes some 20 ms, which each client would spend that is made without."""
    return httpx2.create_ssl_context()
