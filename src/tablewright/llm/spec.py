"""Parse model strings (`PROVIDER:NAME`) and create the model with the provider's entry point and key.

Every provider, ours and those of other packages, is an entry point of the group `tablewright.models`: a function that
takes the text after the colon and an `Access`, and returns a pydantic-ai `Model`, or a `ChatModel` of ours.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tablewright.domain.model import Struct
from tablewright.errors import BadSetting
from tablewright.keys import KEYLESS_PROVIDERS, PROVIDER_ADDRESSES, Key, bind_key, variable_key
from tablewright.llm.request import ChatModel
from tablewright.plugins import find_plugins, plugin_names, suggest_plugin

if TYPE_CHECKING:
    from pydantic_ai.models import Model

MODEL_PLUGINS = "tablewright.models"
# The setting for no model: every task is answered by its fallback.
BUILTIN = "builtin"


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


# A model on this machine is slow rather than gone: giving up would throw its work away and ask again.
LOCAL_ANSWER_SECONDS = 1800.0


class Access(Struct, frozen=True):
    """Settings that a provider may need; empty texts are not set."""

    base_url: str = ""
    api_key: str = ""
    timeout: float | None = None
    """Seconds; None if it is not set."""
    models_folder: Path = Path("models")
    """The folder of pulled models."""
    window: int | None = None
    """The context window in tokens; None if it is not set."""
    trusted_hosts: str = ""
    """Hosts to which the user lets any key go, including that of a provider's own variable."""

    def answer_seconds(self, default: float = 120.0) -> float:
        """Return how long to wait for an answer."""
        # The default leaves reasoning models time, which can take a minute or more.
        return self.timeout or default


class ModelFactory(Protocol):
    def __call__(self, argument: str, access: Access, /) -> Model | ChatModel:
        """Return the model. Raise BadSetting for settings that can never work: a missing key, file or extra."""
        ...


class ModelSpec(Struct, frozen=True):
    provider: str
    argument: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.argument}"


def parse_model_spec(text: str) -> ModelSpec | None:
    """Return the parts of a model string, or None for `builtin`."""
    if text.strip() in ("", BUILTIN):
        return None
    provider, colon, argument = text.strip().partition(":")
    if not colon or not argument.strip():
        raise BadSetting(
            f"The model {text!r} is not written as PROVIDER:NAME.", advice="For example openai:gpt-5-mini, or builtin."
        )
    return ModelSpec(provider=provider.strip().lower(), argument=argument.strip())


def list_providers() -> list[str]:
    return plugin_names(MODEL_PLUGINS)


def build_access(values: ModelValues) -> Access:
    return Access(
        base_url=values.model_base_url,
        api_key=values.model_api_key,
        timeout=values.model_timeout,
        models_folder=values.home_folder / "models",
        window=values.model_window,
        trusted_hosts=values.trusted_hosts,
    )


def create_provider_model(spec: ModelSpec, access: Access) -> Model | ChatModel:
    for entry in find_plugins(MODEL_PLUGINS, spec.provider):
        try:
            # Loading imports the provider's library, so only the one that is named is loaded.
            factory: ModelFactory = entry.load()
        except ImportError as error:
            raise BadSetting(
                f"The model provider {spec.provider!r} needs the Python package {error.name!r}, which is not installed."
            ) from error
        check_plugin_access(spec, access)
        return factory(spec.argument, access)
    raise BadSetting(
        f"There is no model provider {spec.provider!r}.",
        advice=suggest_plugin(spec.provider, [BUILTIN, *list_providers()]),
    )


def check_plugin_access(spec: ModelSpec, access: Access) -> None:
    """Raise KeyWithheld if a provider of another package would be handed a key for someone else.

    Our own providers need no check here: the client that sends the key refuses.
    """
    if spec.provider in KEYLESS_PROVIDERS or spec.provider in PROVIDER_ADDRESSES["model_api_key"]:
        return
    key = bind_key(access.api_key, "model_api_key", {"model": str(spec), "model_base_url": access.base_url})
    key.check_provider(spec.provider)
    if access.base_url:
        key.check(access.base_url)


def find_key(access: Access, provider: str, address: str, *variables: str) -> Key:
    """Return the first key that was issued for the address: from the settings, else from the provider's own variables.

    Return an empty key if none is set. Raise KeyWithheld if all that are set were issued for others.
    """
    values = {"model": f"{provider}:", "model_base_url": access.base_url}
    own = [variable_key(provider, name, os.environ, access.trusted_hosts) for name in variables]
    # A key of the settings goes before one of the environment, which may be for other programs.
    keys = [key for key in (bind_key(access.api_key, "model_api_key", values), *own) if key]
    for key in keys:
        if key.allows(address):
            return key
    # All are for others: `check` raises the error that says for whom the first is.
    if keys:
        keys[0].check(address)
    return Key()


def require_key(access: Access, provider: str, address: str, *variables: str) -> Key:
    """Return the key like `find_key`. Raise BadSetting if there is none."""
    found = find_key(access, provider, address, *variables)
    if not found:
        raise BadSetting(
            f"There is no key for {provider}.",
            advice=f"Set {' or '.join(variables)}, or TABLEWRIGHT_MODEL_API_KEY; or use another model.",
        )
    return found


def require_http_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise BadSetting(
            f"model_base_url must begin with http:// or https://, not {url!r}.",
            advice="For example http://127.0.0.1:8000/v1.",
        )
    return url
