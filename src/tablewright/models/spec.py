"""Model strings: `PROVIDER:NAME`, and how a provider's name becomes a model.

Every provider, ours and those of other packages, is an entry point of the group `tablewright.models`: a function that
takes what stands after the colon and an `Access`, and returns a pydantic-ai `Model`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tablewright.domain.model import Noun
from tablewright.errors import BadSetting
from tablewright.keys import KEYLESS, OWN_ADDRESSES, Key, as_key, variable_key
from tablewright.plugins import names, plugins, suggestion

if TYPE_CHECKING:
    from pydantic_ai.models import Model

GROUP = "tablewright.models"
BUILTIN = "builtin"
"""No model: every decision is made by its rule."""


class ModelValues(Protocol):
    """The settings that models are built from."""

    @property
    def model(self) -> str: ...
    @property
    def model_base_url(self) -> str: ...
    @property
    def model_api_key(self) -> str: ...
    @property
    def model_fallback(self) -> str: ...
    @property
    def model_requests_per_minute(self) -> float | None: ...
    @property
    def model_tokens_per_minute(self) -> float | None: ...
    @property
    def model_window(self) -> int | None: ...
    @property
    def model_timeout(self) -> float | None: ...
    @property
    def trusted_hosts(self) -> str: ...
    @property
    def home_folder(self) -> Path: ...


PATIENCE = 120.0
PATIENCE_HERE = 1800.0
"""A model on this machine is not gone, only slow: giving up throws away what it has worked out, and asks it again."""


class Access(Noun, frozen=True):
    """What a provider may need to know: empty texts where nothing is set."""

    base_url: str = ""
    api_key: str = ""
    timeout: float | None = None
    """Seconds; None where nobody said."""
    models_folder: Path = Path("models")
    """Where pulled models lie."""
    window: int | None = None
    """Tokens that the model can take in at once; None where nobody said."""
    trusted_hosts: str = ""
    """Where the user lets any key go, also that of a provider's own variable."""

    def patience(self, usual: float = PATIENCE) -> float:
        """Seconds that an answer is waited for."""
        return self.timeout or usual


class Factory(Protocol):
    def __call__(self, argument: str, access: Access, /) -> Model:
        """Raises BadSetting for what can never work: a missing key, file or extra."""
        ...


class ModelSpec(Noun, frozen=True):
    provider: str
    argument: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.argument}"


def parse(text: str) -> ModelSpec | None:
    """None for `builtin`."""
    if text.strip() in ("", BUILTIN):
        return None
    provider, colon, argument = text.strip().partition(":")
    if not colon or not argument.strip():
        raise BadSetting(
            f"The model {text!r} is not written as PROVIDER:NAME.", advice="For example openai:gpt-5-mini, or builtin."
        )
    return ModelSpec(provider=provider.strip().lower(), argument=argument.strip())


def providers() -> list[str]:
    return names(GROUP)


def access_from(values: ModelValues) -> Access:
    return Access(
        base_url=values.model_base_url,
        api_key=values.model_api_key,
        timeout=values.model_timeout,
        models_folder=values.home_folder / "models",
        window=values.model_window,
        trusted_hosts=values.trusted_hosts,
    )


def create(spec: ModelSpec, access: Access) -> Model:
    for entry in plugins(GROUP, spec.provider):
        try:
            factory: Factory = entry.load()
        except ImportError as error:
            raise BadSetting(
                f"The model provider {spec.provider!r} needs the Python package {error.name!r}, which is not installed."
            ) from error
        check_access(spec, access)
        return factory(spec.argument, access)
    raise BadSetting(
        f"There is no model provider {spec.provider!r}.", advice=suggestion(spec.provider, [BUILTIN, *providers()])
    )


def check_access(spec: ModelSpec, access: Access) -> None:
    """Raise KeyWithheld if a provider of another package would be handed a key for someone else. What it does with
    its own is up to it; for ours the client that sends the key refuses."""
    if spec.provider in KEYLESS or spec.provider in OWN_ADDRESSES["model_api_key"]:
        return
    key = as_key(access.api_key, "model_api_key", {"model": str(spec), "model_base_url": access.base_url})
    key.check_provider(spec.provider)
    if access.base_url:
        key.check(access.base_url)


def find_key(access: Access, provider: str, address: str, *variables: str) -> Key:
    """Return the first key that was issued for the address: that of the settings, else of the provider's own
    variables; an empty one if there is none at all. Raises KeyWithheld if all that there are were issued for others."""
    values = {"model": f"{provider}:", "model_base_url": access.base_url}
    own = [variable_key(provider, name, os.environ, access.trusted_hosts) for name in variables]
    keys = [key for key in (as_key(access.api_key, "model_api_key", values), *own) if key]
    for key in keys:
        if key.allows(address):
            return key
    if keys:
        keys[0].check(address)
    return Key()


def require_key(access: Access, provider: str, address: str, *variables: str) -> Key:
    """As `find_key`; raises BadSetting if there is none."""
    found = find_key(access, provider, address, *variables)
    if not found:
        raise BadSetting(
            f"There is no key for {provider}.",
            advice=f"Set {' or '.join(variables)}, or TABLEWRIGHT_MODEL_API_KEY; or use another model.",
        )
    return found


def checked_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise BadSetting(
            f"model_base_url must begin with http:// or https://, not {url!r}.",
            advice="For example http://127.0.0.1:8000/v1.",
        )
    return url
