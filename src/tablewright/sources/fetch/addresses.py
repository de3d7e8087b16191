"""Which IP addresses belong to the public internet.

An own list and not `ipaddress.is_global`: what that says changes between patch releases of Python, and on 3.11.7 it
calls 2002:7f00:1:: (127.0.0.1 as 6to4), 64:ff9b:1::1 and 3fff::1 global. The list follows the IANA registries of
special-purpose addresses; the first line that fits is the reason that people read.
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx2
import tldextract

_IPV4 = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("127.0.0.0/8", "a loopback address"),
        ("0.0.0.0/8", "an address of this machine"),
        ("10.0.0.0/8", "a private address"),
        ("172.16.0.0/12", "a private address"),
        ("192.168.0.0/16", "a private address"),
        ("169.254.0.0/16", "a link-local address"),  # 169.254.169.254 hands out a cloud machine's credentials
        ("168.63.129.16/32", "an address of a cloud's own services"),  # Azure's, although it looks public
        ("100.64.0.0/10", "an address inside a provider's network"),
        ("192.0.2.0/24", "an address for documentation"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.88.99.0/24", "a reserved address"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
_IPV6 = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("::1/128", "a loopback address"),
        ("::/128", "an address of this machine"),
        ("::/96", "an IPv4 address inside an IPv6 address"),
        ("::ffff:0:0/96", "an IPv4 address inside an IPv6 address"),
        ("::ffff:0:0:0/96", "an IPv4 address inside an IPv6 address"),
        ("64:ff9b:1::/48", "an IPv4 address inside an IPv6 address"),
        ("2001::/32", "an IPv4 address inside an IPv6 address"),  # Teredo
        ("2002::/16", "an IPv4 address inside an IPv6 address"),  # 6to4
        ("2001:2::/48", "an address for benchmarks"),
        ("2001:db8::/32", "an address for documentation"),
        ("3fff::/20", "an address for documentation"),
        ("2001::/23", "a reserved address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a private address"),
        ("ff00::/8", "a multicast address"),
    )
)
_IPV6_GIVEN_OUT = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


def why_not_public(address: str) -> str:
    """What kind of address it is, if not a public one; empty if it is public."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "no IP address"
    return _why_not_ipv4(parsed) if isinstance(parsed, IPv4Address) else _why_not_ipv6(parsed)


def _why_not_ipv4(address: IPv4Address) -> str:
    return next((what for network, what in _IPV4 if address in network), "")


def _why_not_ipv6(address: IPv6Address) -> str:
    if address.scope_id is not None:
        return "an address of one network interface"
    if address in _NAT64:
        # In a network that has only IPv6, every IPv4 site looks like this, so the address inside decides.
        return _why_not_ipv4(IPv4Address(int(address) & 0xFFFFFFFF))
    if why := next((what for network, what in _IPV6 if address in network), ""):
        return why
    return "" if address in _IPV6_GIVEN_OUT else "a reserved address"


# ── domains ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# The registrable domain of a URL: who stands behind a page, as far as an address can tell.


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
