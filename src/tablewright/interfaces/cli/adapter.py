"""Make commands of operations: the fields of a request become arguments and options, and `--json` prints the reply.

    @command(docs, "documents.set_kind", arguments=("kind",))
    def set_kind(reply: KindSet) -> None:
        '''Set the kind of documents.'''  # without a docstring, the operation's own is the help
        output.say(f"{reply.documents} documents: {reply.kind}.")

A function whose first parameter is `reply` only prints it for people; it may also take the `request`. One whose first
parameter is `request` does the work itself; it may have further parameters for what only a command offers, such as
`json: Json` or `yes`. `progress="Reading"` shows a bar; `settings=("model", "budget")` adds these options, and the
function finds them in `flags`. Names,
defaults, limits and help texts are the request's: `key_field` is `--key-field`, `row_ids` is `--row`, given several
times; `parse={"fields": read_fields}` reads what is neither text, number nor choice. An operation is named by a string,
because its module is imported only when the command is used. For a fast --help, modules of operations import `Services`
and what is slow to load under TYPE_CHECKING or inside functions.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info
from typer.models import CommandInfo

from tablewright.errors import UsageError
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.root import SETTINGS, CommandWithHelp, Json, join_lines, run_with_services

if TYPE_CHECKING:
    from tablewright.operations.operation import Operation

CommandT = TypeVar("CommandT", bound=Callable[..., None])
# The same number as `operation.NO_LIMIT`, which importing for every --help would take too long.
NO_LIMIT = 2**31 - 1
# For the tests that compare all interfaces.
COMMANDS: list[Declaration] = []


@dataclass(kw_only=True)
class Declaration:
    """A command as declared. `fixed` are fields that it does not offer, with their values."""

    path: str
    function: Callable[..., None]
    arguments: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    metavars: Mapping[str, str] = field(default_factory=dict)
    helps: Mapping[str, str] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    parse: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)
    """By field: advice about a wrong value, such as another option that is easily confused with it."""
    settings: tuple[str, ...] = ()
    progress: str = ""
    takes_any_text: bool = False
    """A value may begin with a hyphen, such as -4."""

    @cached_property
    def operation(self) -> Operation[Any, Any]:
        module, _, name = self.path.rpartition(".")
        found: Operation[Any, Any] = getattr(import_module(f"tablewright.operations.{module}"), name)
        return found

    @cached_property
    def offered(self) -> dict[str, OfferedField]:
        """The fields of the request that the command takes, its arguments first."""
        fields = {each.name: each for each in msgspec.structs.fields(self.operation.request)}
        # A command lists everything, so it has no pages; `defaults={"limit": 20}` offers --limit.
        hidden = {name for name in ("limit", "after") if name not in self.defaults} | set(self.fixed)
        names = [*self.arguments, *(name for name in fields if name not in self.arguments and name not in hidden)]
        return {name: OfferedField(self, fields[name]) for name in names}

    @property
    def prints_reply(self) -> bool:
        return next(iter(inspect.signature(self.function).parameters), "") == "reply"

    def build_callback(self) -> Callable[..., None]:
        """Return the function as Typer expects it, with a parameter for each argument and option."""
        own = list(inspect.signature(self.function).parameters.values())[1:]
        takes_request = any(each.name == "request" for each in own)
        own = [each for each in own if each.name not in ("request", "flags")]
        added = [each.parameter for each in self.offered.values()]
        added += [option_parameter(name, SETTINGS[name], "") for name in self.settings]
        further = [each.replace(annotation=evaluate_annotation(each.annotation, self.function)) for each in own]
        if self.prints_reply and "json" not in {each.name for each in own}:
            further.append(option_parameter("json", Json, False))

        def call(**values: Any) -> None:
            request = self.build_request({name: values.pop(name) for name in self.offered})
            flags = {name: values.pop(name) for name in self.settings}
            if not self.prints_reply:
                self.function(request, **values, **({"flags": flags} if flags else {}))
                return
            as_json = values.pop("json")
            reply = run_operation(self.operation, request, flags=flags, progress=self.progress)
            if as_json:
                output.print_json(reply)
            else:
                self.function(reply, **values, **({"request": request} if takes_request else {}))

        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*added, *further)]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    def build_request(self, values: Mapping[str, Any]) -> msgspec.Struct:
        """Return the request. A default of the command may be what the request itself refuses, such as no question."""
        given: dict[str, Any] = {}
        for name, offered in self.offered.items():
            if (value := offered.read(values[name])) is not None:
                try:
                    given[name] = msgspec.convert(value, offered.annotation, strict=False)
                except msgspec.ValidationError as wrong:
                    raise UsageError(f"{offered.spelling}: {str(wrong).partition(' - at `')[0]}.") from None
        request_type: type[msgspec.Struct] = self.operation.request
        hides_limit = "limit" in request_type.__struct_fields__ and "limit" not in self.offered
        usual = {"limit": NO_LIMIT} if hides_limit else {}
        return request_type(**{**usual, **self.defaults, **given, **self.fixed})


class OfferedField:
    """A field of a request as an argument or option."""

    def __init__(self, command: Declaration, field: msgspec.structs.FieldInfo) -> None:
        self.name, self.annotation = field.name, field.type
        self._command = command
        self.type, self.metas = without_annotations(field.type)
        self.is_optional = type(None) in get_args(self.type)
        if self.is_optional:
            self.type, inner = without_annotations(next(each for each in get_args(self.type) if each is not type(None)))
            self.metas += inner
        self.is_list, self.is_mapping = get_origin(self.type) is tuple, get_origin(self.type) is dict
        default = command.defaults.get(field.name, field.default)
        self.is_required = default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
        self.default = None if default is msgspec.NODEFAULT else default

    @property
    def is_argument(self) -> bool:
        return self.name in self._command.arguments

    @property
    def spelling(self) -> str:
        """Return the option as people write it: `key_field` is `--key-field`, `row_ids` is `--row`."""
        name = (self.name.removesuffix("s") if self.is_list or self.is_mapping else self.name).removesuffix("_id")
        if self.is_argument:
            return self._command.metavars.get(self.name) or name.upper() + ("…" if self.is_list else "")
        usual = "no-" + name if self.type is bool and self.default is True else name
        if self.type is bool and self.is_optional:
            usual = f"{name}/--no-{name}"
        return self._command.names.get(self.name, "--" + usual.replace("_", "-"))

    @property
    def help(self) -> str:
        said = [meta.description for meta in self.metas if meta.description]
        return self._command.helps.get(self.name) or (self.with_usual(said[0]) if said else "")

    def with_usual(self, about: str) -> str:
        """Return the help with the default of the setting that the option overrides; the request itself has none."""
        from tablewright.settings import DECLARED, write_setting  # the list of commands needs no settings

        declared = DECLARED.get(self.name)
        if declared is None or not any(meta is declared.limits for meta in self.metas):
            return about
        written = write_setting(declared.default) if self.is_optional and self.type is not bool else ""
        return f"{about.removesuffix('.')} (default: {written})." if written else about

    @property
    def parameter(self) -> inspect.Parameter:
        more = self.limits() if self.type in (int, float) else {}
        panel = next((title for title, names in self._command.panels.items() if self.name in names), None)
        about: Any = typer.Option(self.spelling, help=self.help, rich_help_panel=panel, **more)
        if self.is_argument:
            metavar = self.spelling if self.is_required else f"[{self.spelling}]"
            about = typer.Argument(metavar=metavar, help=self.help)
        annotation: Any = Annotated[self.typer_type(), about]
        return option_parameter(self.name, annotation, *([] if self.is_required else [self.shown_default()]))

    def limits(self) -> dict[str, Any]:
        lowest = [meta.ge for meta in self.metas if meta.ge is not None]
        # A limit of the database says nothing to a person, so the help leaves it out.
        highest = [meta.le for meta in self.metas if meta.le is not None and meta.le < NO_LIMIT]
        return {"metavar": "N", "min": max(lowest, default=None), "max": min(highest, default=None)}

    def typer_type(self) -> Any:
        if self.name in self._command.parse:
            kind: Any = str
        elif self.is_list:
            return list[self.item_type()] if self.is_required else list[self.item_type()] | None  # type: ignore[misc]
        elif get_origin(self.type) is Literal:
            kind = Literal.__getitem__(tuple(each for each in get_args(self.type) if each))  # "" is not a choice
        elif self.type in (str, int, float, bool):
            kind = self.type
        elif self.is_mapping:
            return list[str] | None
        else:
            raise TypeError(f"{self._command.path}: say with `parse` how {self.name} is read from text.")
        return list[kind] | None if self.is_list else kind if self.is_required else kind | None

    def item_type(self) -> Any:
        kind, _ = without_annotations(get_args(self.type)[0])
        return (
            str if self.name in self._command.parse or get_origin(kind) in (types.UnionType, Union, Literal) else kind
        )

    def shown_default(self) -> Any:
        if self.type is bool:
            return None if self.is_optional else False
        return self.default if self.default not in ((), "", None) else None

    def read(self, value: Any) -> Any:
        """Return the value for the request; None if the option was not given."""
        if value is None or value == []:
            return None
        if self.type is bool and not self.is_optional:
            return None if not value else self.default is not True
        if parse := self._command.parse.get(self.name):
            return parse(value)
        if self.is_mapping:
            return dict(read_pair(each, self.spelling) for each in value)
        return value


def read_pair(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"{option} {text!r} has no “=”.", advice=f"Write {option} NAME=VALUE.")
    return name.strip(), value.strip()


def without_annotations(annotation: Any) -> tuple[Any, list[msgspec.Meta]]:
    metas: list[msgspec.Meta] = []
    while get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metas += more
    return annotation, metas


def option_parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def evaluate_annotation(annotation: Any, function: Callable[..., None]) -> Any:
    """Return the annotation of one parameter; others may name types that only type checkers import."""
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation


def run_operation(
    operation: Operation[Any, Any],
    request: msgspec.Struct,
    *,
    flags: Mapping[str, str] | None = None,
    progress: str = "",
    **more: Any,
) -> Any:
    """Run an operation on the store of the settings; `flags` are settings for this command alone."""
    if not progress:
        return run_with_services(lambda services: operation(services, request, **more), flags)
    with output.Bar(progress) as bar:
        return run_with_services(lambda services: operation(services, request, watch=bar.follow, **more), flags)


def command(
    group: typer.Typer, path: str, *, name: str | None = None, about: str = "", **declared: Any
) -> Callable[[CommandT], CommandT]:
    """Add a command for the operation `path`, such as "documents.set_kind", to a group. `about` is its help if the
    function has no docstring of its own."""

    def declare(function: CommandT) -> CommandT:
        declaration = Declaration(path=path, function=function, **declared)
        COMMANDS.append(declaration)

        def placeholder() -> None: ...

        placeholder.declaration = declaration  # type: ignore[attr-defined]
        name_of = name or function.__name__.rstrip("_").replace("_", "-")
        group.command(name_of, cls=OperationCommand, help=inspect.getdoc(function) or about)(placeholder)
        return function

    return declare


class OperationCommand(CommandWithHelp):
    """A command whose parameters are derived when it is used, not when the tree of commands is built."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._declaration: Declaration = kwargs["callback"].declaration
        self._said = kwargs
        self._help = ""
        # Not CommandWithHelp's: it reads the help at once, for which the operation would be imported.
        TyperCommand.__init__(self, *args, **kwargs)

    @property
    def help(self) -> str:
        return join_lines(self._help or self._declaration.operation.__doc__ or "")

    @help.setter
    def help(self, text: str | None) -> None:
        self._help = text or ""

    @cached_property
    def whole(self) -> Any:
        callback, said = self._declaration.build_callback(), self._said
        info = CommandInfo(
            said["name"],
            cls=CommandWithHelp,
            callback=callback,
            help=self.help,
            context_settings={"ignore_unknown_options": self._declaration.takes_any_text},
        )
        return get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode="rich")

    @property
    def params(self) -> list[Any]:
        found: list[Any] = self.whole.params
        return found

    @params.setter
    def params(self, params: list[Any]) -> None:
        """Ignore the parameters of the placeholder, which has none."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.whole.make_context(*args, **kwargs)
        except typer.BadParameter as wrong:
            if advice := self._declaration.advice.get(getattr(wrong.param, "name", None) or ""):
                wrong.message += f"\n{advice}"
            raise
