"""The registrable domain of a URL: who stands behind a page, as far as an address can tell."""

from __future__ import annotations

from functools import cache

import httpx2
import tldextract


def registrable_domain(url: str) -> str:
    """example.co.uk for https://www.example.co.uk/page.

    An IP address and a name without a domain stand for themselves, with their port: 127.0.0.1:8000. Names at a host of
    many (alice.github.io) belong to the host, github.io: rather one source too few than one too many. What is no web
    address has none: "".
    """
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host.decode("ascii").removesuffix(".")
    except (httpx2.InvalidURL, ValueError):
        return ""
    labels = host.split(".")
    if ":" in host or len(labels) == 1 or labels[-1].isdecimal():
        shown = f"[{host}]" if ":" in host else host
        return shown if parsed.port is None else f"{shown}:{parsed.port}"
    found = _suffix_list().extract_str(host)
    if not found.suffix:  # an ending that is on no list, such as .example, is a suffix like com
        return ".".join(labels[-2:])
    return found.top_domain_under_public_suffix or host


@cache
def _suffix_list() -> tldextract.TLDExtract:
    """The list that comes with the package: nothing is downloaded, nothing written."""
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
