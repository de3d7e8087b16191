"""Keys, each bound to the addresses it was issued for, and HTTP clients that send it nowhere else.

A key and the address it is sent to may come from different sources: a variable, a file, saved settings, the record of a
run, a redirect. A source says where its own keys go, and no source says it for the keys of another. So a key is bound
to its addresses where it is read, and every client that carries it asks the key before each request.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import httpx2

from tablewright.errors import KeyWithheld

Client = TypeVar("Client")

# The only schemes that a key is sent over; an origin always has its port, so that two spellings compare equal.
SCHEME_PORTS = {"http": 80, "https": 443}
# Models, embedders and searches that take no key: naming one says nothing about where a key goes.
KEYLESS_PROVIDERS = frozenset({"", "builtin", "local", "wordllama", "ddgs", "searxng", "sample"})


class KeyTarget(NamedTuple):
    """The settings that say where a key is sent."""

    address: str
    provider: str = ""
    """The setting that names the provider; for a search it may also hold the address."""


# A key without an entry here is sent to no address that a setting could change.
KEY_TARGETS = {
    "model_api_key": KeyTarget("model_base_url", "model"),
    "embedder_api_key": KeyTarget("embedder_base_url", "embedder"),
    "search_api_key": KeyTarget("search", "search"),
    "oidc_client_secret": KeyTarget("oidc_issuer"),
    "webhook_secret": KeyTarget("webhook_url"),
}
# The address that each provider issues its keys for.
PROVIDER_ADDRESSES = {
    "model_api_key": {
        "openai": "https://api.openai.com/v1",
        "anthropic": "https://api.anthropic.com",
        "google": "https://generativelanguage.googleapis.com",
        "ollama": "http://127.0.0.1:11434/v1",
    },
    "embedder_api_key": {"openai": "https://api.openai.com/v1"},
    "search_api_key": {
        "brave": "https://api.search.brave.com",
        "tavily": "https://api.tavily.com",
        "serper": "https://google.serper.dev",
        "exa": "https://api.exa.ai",
    },
}
# Variables in which the providers' own libraries look for another address.
ADDRESS_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_BASE_URL",
}


class Key(str):
    """The text of a key, with what it was issued for. Without origins it is sent nowhere."""

    name: str = "key"
    """The setting or the variable that holds the key."""
    provider: str = ""
    """The one provider it is for; empty if its source names none."""
    origins: frozenset[str] = frozenset()

    def __new__(cls, secret: str = "", *, name: str = "key", provider: str = "", origins: Iterable[str] = ()) -> Self:
        key = super().__new__(cls, secret)
        key.name, key.provider, key.origins = name, provider, frozenset(filter(None, origins))
        return key

    def allows(self, address: str) -> bool:
        return origin_of(address) in self.origins

    def check(self, address: str) -> None:
        """Raise KeyWithheld unless the key was issued for this address."""
        if self and not self.allows(address):
            raise self.withheld_from(origin_of(address) or "an address that cannot be read")

    def check_provider(self, provider: str) -> None:
        """Raise KeyWithheld if the key was issued for another provider."""
        if self and self.provider not in ("", provider):
            raise self.withheld_from(f"the provider {provider}")

    def withheld_from(self, place: str) -> KeyWithheld:
        meant = ", ".join(sorted(map(format_origin, self.origins))) or self.provider or "no address"
        host = format_origin(place).partition("://")[2]
        trust = f" If you trust {host}, add it to TABLEWRIGHT_TRUSTED_HOSTS." if host else ""
        return KeyWithheld(
            f"{self.name} would be sent to {format_origin(place)}, and it was issued for {meant}.",
            kept="The key was not sent.",
            advice=f"Set the key and its address in the same place, for example both in the environment.{trust}",
        )

    def also_for(self, origins: Iterable[str]) -> Key:
        """Return the same key, good for these origins as well."""
        return Key(self, name=self.name, provider=self.provider, origins=self.origins.union(origins))


def origin_of(address: str) -> str:
    """Return `scheme://host:port` in one spelling; empty if the address has none, or could be read in two ways."""
    # Libraries disagree about backslashes and spaces in addresses, which an attacker could use.
    if "\\" in address or not address.isprintable() or " " in address:
        return ""
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError:
        return ""
    return build_origin(scheme, host, port)


def build_origin(scheme: str, host: str, port: int | None) -> str:
    if scheme not in SCHEME_PORTS or not host:
        return ""
    try:
        # As clients send it: a name in other letters could look like that of the provider.
        host = host.lower() if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{SCHEME_PORTS[scheme] if port is None else port}"


def format_origin(origin: str) -> str:
    """Return an origin as people write it, without the default port of its scheme."""
    scheme = origin.partition("://")[0]
    return origin.removesuffix(f":{SCHEME_PORTS[scheme]}") if scheme in SCHEME_PORTS else origin


def trusted_origins(hosts: str) -> set[str]:
    """Return the origins of hosts that a user trusts, separated by commas, each with or without a port."""
    named = [each.strip() for each in hosts.split(",") if each.strip()]
    return {origin_of(f"{scheme}://{host}") for host in named for scheme in SCHEME_PORTS}


def find_key_provider(name: str, values: Mapping[str, str]) -> str:
    """Return the provider that these settings name for a key; empty if they name none that takes keys."""
    text = values.get(KEY_TARGETS[name].provider, "")
    provider = text.partition(":")[0].strip().lower()
    return "" if provider in KEYLESS_PROVIDERS else provider


def find_key_address(name: str, values: Mapping[str, str]) -> str:
    """Return the address that these settings give for a key; empty if they give none."""
    where = KEY_TARGETS[name]
    text = values.get(where.address, "").strip()
    if where.address != where.provider:
        return text
    argument = text.partition(":")[2].strip()
    return argument if "://" in argument and find_key_provider(name, values) else ""


def issue_key(name: str, secret: str, values: Mapping[str, str], *, environ: Mapping[str, str] | None = None) -> Key:
    """Bind a key to the address that its own source gives, else to the provider's own.

    `values` are the settings of that source, `environ` its variables if it is the process.
    """
    if name not in KEY_TARGETS:
        return Key(secret.strip(), name=name)
    provider, address = find_key_provider(name, values), find_key_address(name, values)
    origins = {origin_of(address)} if address else find_own_origins(name, provider, environ or {})
    return Key(secret.strip(), name=name, provider=provider, origins=origins)


def find_own_origins(name: str, provider: str, environ: Mapping[str, str]) -> set[str]:
    """Return where a provider's keys are issued for; without a provider, those of all that are not on this machine:
    a program that listens on a local port need not be the one that the key is for."""
    own = PROVIDER_ADDRESSES.get(name, {})
    # Without a provider only remote ones count: any program can listen on a local port.
    addresses = [own.get(provider, "")] if provider else [each for each in own.values() if each.startswith("https:")]
    if name == "model_api_key":
        variables = [ADDRESS_VARIABLES.get(provider, "")] if provider else ADDRESS_VARIABLES.values()
        addresses += [environ.get(variable, "") for variable in variables]
    return set(map(origin_of, addresses))


def variable_key(provider: str, variable: str, environ: Mapping[str, str], trusted: str = "") -> Key:
    """Return the key in a provider's own variable, for its own address or one that the environment gives as well."""
    addresses = (
        PROVIDER_ADDRESSES["model_api_key"].get(provider, ""),
        environ.get(ADDRESS_VARIABLES.get(provider, ""), ""),
        # A base address of the model in the environment is mostly that of a compatible service, which has no claim to a
        # key of OpenAI.
        "" if provider == "openai" else environ.get("TABLEWRIGHT_MODEL_BASE_URL", ""),
    )
    origins = trusted_origins(trusted) | set(map(origin_of, addresses))
    return Key(environ.get(variable, "").strip(), name=variable, provider=provider, origins=origins)


def bind_key(secret: str, name: str, values: Mapping[str, str]) -> Key:
    """Return a bound key as it is; a text from a program is bound to the address that the program gives with it."""
    return secret if isinstance(secret, Key) else issue_key(name, secret, values)


def guard_client(client: Client, key: Key) -> Client:
    """Make an HTTP client, of httpx or httpx2, refuse each request to an address that its key was not issued for.

    It is a request hook, not a transport: hooks see the address after redirects, and a client with a transport of its
    own would no longer use the proxies of the environment.
    """
    if not key:
        return client

    async def refuse(request: Any) -> None:
        url = request.url
        if build_origin(url.scheme, url.raw_host.decode("ascii"), url.port) not in key.origins:
            raise key.withheld_from(build_origin(url.scheme, url.raw_host.decode("ascii"), url.port))

    # Both libraries have the same hooks and no common type.
    hooks: Any = client
    hooks.event_hooks["request"].append(refuse)
    return client


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the system's certificates. Reading them takes some 20 ms, which every client would otherwise spend."""
    return httpx2.create_ssl_context()
