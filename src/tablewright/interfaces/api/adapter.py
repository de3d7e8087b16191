"""Serve an operation as a route: its path, query and body parameters together are the request of the operation."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response

from tablewright.interfaces.api.answers import (
    Json,
    describe_file_responses,
    encode_in_pieces,
    finish_reply,
    send_written_file,
)
from tablewright.interfaces.api.idempotency import OnlyOnce
from tablewright.interfaces.api.schemas import default_value, entry_type, input_model, input_type, reply_model
from tablewright.interfaces.api.uploads import keep_uploaded_files, save_upload, upload_folder
from tablewright.interfaces.server.context import Visit, Visiting
from tablewright.interfaces.wording import REST, reword_advice
from tablewright.operations.operation import Operation, check_permission
from tablewright.temporary import temporary_folder

# A reply with a longer list is encoded in a thread, entry by entry: a thousand rows with their sources take long enough
# for other requests to wait.
MAX_ENTRIES_IN_LOOP = 100


def add_route(
    router: APIRouter,
    route: str,
    operation: Operation[Any, Any],
    *,
    once: bool = False,
    files: str = "",
    file: str = "",
    download: bool = False,
    fixed: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """Add the route of an operation: a method, a path and a status other than 200, such as "POST /tables 201".

    Fields that the path does not name come from the query of a GET or the JSON body of other methods. With `once` a
    client may send an idempotency key. `files` names the field for the paths of uploaded files that are kept, `file`
    that for one file that is read and not kept; the other fields then come with the form. `fixed` fields are not
    offered. The reply to a `download` is the file that the operation writes to `path`, in the `format` of the request
    or else as CSV. `more` goes to FastAPI."""
    method, path, *code = route.split()
    status = int(code[0]) if code else 200
    request_type: Any = operation.request
    fields = {field.name: field for field in msgspec.structs.fields(request_type)}
    in_path = re.findall(r"{(\w+)", path)
    # `{document}` in a path is one of the `documents` of the request.
    one_of = {f"{name}s": name for name in in_path if name not in fields}
    others = [name for name in fields if name not in (*in_path, *one_of, files, file, *(fixed or {}))]
    is_form = bool(files or file)
    parameters = [keyword_parameter("visit", Visiting), keyword_parameter("asked", Request)]
    for name in in_path:
        kind, limits = input_type(fields[name].type if name in fields else entry_type(fields[f"{name}s"].type))
        parameters.append(
            keyword_parameter(name, Annotated[kind, InPath(pattern=path_pattern(name, kind, path), **limits)])
        )
    if others and method != "GET" and not is_form:
        model = input_model(request_type, tuple(others))
        needed = any(default_value(fields[name]) is ... for name in others)
        parameters.append(keyword_parameter("body", model, default=... if needed else model()))
    elif others:
        for name in others:
            kind, limits = input_type(fields[name].type)
            source = (Form if is_form else Query)(**limits)
            parameters.append(keyword_parameter(name, Annotated[kind, source], default=default_value(fields[name])))
    if files:
        limits = input_type(fields[files].type)[1]
        parameters.append(keyword_parameter("files", Annotated[list[UploadFile], File(**limits)]))
    if file:
        said = input_type(fields[file].type)[1]["description"]
        parameters.append(keyword_parameter("file", Annotated[UploadFile, File(description=said)]))
    if once:
        parameters.append(keyword_parameter("once", OnlyOnce))

    async def endpoint(visit: Visit, asked: Request, **values: Any) -> Response:
        body, idempotency = values.pop("body", None), values.pop("once", None)
        if body is not None:
            values |= body.model_dump(exclude_unset=True)
        for several, one in one_of.items():
            values[several] = [values.pop(one)]
        if is_form and visit.services.person is not None:
            check_permission(visit.services.person, operation.effect)  # before anything is kept
        if files:
            values[files] = await keep_uploaded_files(values.pop("files"), upload_folder(visit))
        with temporary_folder() if file else nullcontext() as folder:
            if file:
                values[file] = await save_upload(values.pop("file"), Path(str(folder)))
            request = msgspec.convert(values | dict(fixed or {}), request_type)
            if download:
                format = getattr(request, "format", "csv")
                return await send_written_file(
                    asked, format, lambda path: operation(visit.services, request, path=path)
                )

            async def answer() -> Json:
                return await encode_reply(await operation(visit.services, request), status)

            return await (finish_reply(asked, await answer()) if idempotency is None else idempotency.answer(answer))

    # An operation may have two routes, such as one with the table in its path: generated clients need two names.
    is_second = any(getattr(each, "name", "") == operation.name for each in router.routes)
    route_name = f"{operation.name}_of_{in_path[0]}" if is_second else operation.name
    endpoint.__name__ = operation.name
    endpoint.__doc__ = operation.__doc__
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    answers: dict[str, Any] = {"response_model": reply_model(operation.reply)}
    if download:
        formats = getattr(request_type, "formats", ("csv",))
        if "format" in fields:
            formats = get_args(input_type(fields["format"].type)[0])
        answers = {"response_class": FileResponse, "responses": describe_file_responses(*formats)}
    router.add_api_route(path, endpoint, methods=[method], status_code=status, name=route_name, **answers, **more)


def keyword_parameter(name: str, annotation: Any, default: Any = ...) -> inspect.Parameter:
    found = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=found)


def path_pattern(name: str, kind: Any, path: str) -> str | None:
    if kind is not str:
        return None
    return r"^[^\x00]+$" if f"{{{name}:path}}" in path else r"^[^\x00/]+$"


async def encode_reply(reply: msgspec.Struct, status: int) -> Json:
    warnings = getattr(reply, "warnings", None)
    if warnings:
        reply = msgspec.structs.replace(reply, warnings=tuple(reword_advice(REST, each) for each in warnings))
    if any(
        isinstance(value := getattr(reply, name), tuple) and len(value) > MAX_ENTRIES_IN_LOOP
        for name in reply.__struct_fields__
    ):
        return Json(await asyncio.to_thread(encode_in_pieces, reply), status)
    return Json(reply, status)
