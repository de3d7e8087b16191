"""Write the reference of the REST API from its OpenAPI document: docs/api.md, and `/docs` of every server."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import markdown2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from tablewright.domain.text import normalize_whitespace

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def read_reference(request: Request) -> HTMLResponse:
    return HTMLResponse(reference_as_html(write_reference(request.app.openapi())))


@cache
def reference_as_html(text: str) -> str:
    """Return the page as HTML. It consists of our own text alone, so nothing needs escaping."""
    body = markdown2.markdown(text, extras=["tables", "fenced-code-blocks", "header-ids", "highlightjs-lang"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Tablewright: REST API</title>{STYLE}{body}</html>'
    )


# Inline, because the policy of plain pages allows no file but the page itself.
STYLE = """<meta name="viewport" content="width=device-width"><style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem; background: #8881 } h3 { margin-top: 2rem }
table { border-collapse: collapse } td, th { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top }
</style>"""

INTRODUCTION = """\
# REST API

`tablewright serve` offers the API under `http://127.0.0.1:8000/api/v1`. The OpenAPI document is at
`/api/v1/openapi.json`, this page at `/docs`. From Python, the library does the same without a server.

```sh
curl -F file=@companies.csv http://127.0.0.1:8000/api/v1/tables/import
curl -H 'Content-Type: application/json' -d '{"fields": ["Founded:number=What year was {Company} founded?"]}' \\
     http://127.0.0.1:8000/api/v1/tables/companies/runs
curl -N http://127.0.0.1:8000/api/v1/runs/RUN/events
curl -H 'Content-Type: application/json' -d '{"min_confidence": 0.8}' \\
     http://127.0.0.1:8000/api/v1/proposals/PROPOSAL/apply
curl -o companies.xlsx 'http://127.0.0.1:8000/api/v1/tables/companies/export?format=xlsx&evidence=true'
```

## Tokens and roles

Send your token with every request: `Authorization: Bearer TOKEN`. The owner's token is the setting
`TABLEWRIGHT_TOKEN`; users have their own, which an admin creates (`tablewright users add NAME`, or `POST /users`). A
server that only its own machine can reach, and that has neither a token nor a user, needs none. `/health` never needs
one.

- A **viewer** can read what is shared with them.
- An **editor** can also change it, create tables, add documents, and start work that costs money.
- An **admin** can see everything and manages users.

Tables, documents, conversations, results, research and shortlists belong to the user who created them and are private
until they are shared. A table's runs and proposals belong to the table. What you may not see is answered with 404.

Models, search providers and keys are settings of the server. A request cannot choose others, and can only lower the
server's budget.

## Errors

Every error has the same shape:

```json
{"error": {"type": "NotFound", "message": "There is no table 'sales'.", "kept": "", "advice": ""}}
```

`message` says what happened, `kept` what was kept, `advice` what to do next.

| status | |
|---|---|
| 400, 422 | the request is wrong; nothing was done |
| 401, 403 | no token, or one that may not do that |
| 404, 405 | it does not exist, or you may not see it; the method is not allowed (see `Allow`) |
| 409 | a conflict: a newer edit, a run that has ended, a budget that is spent, the same request still in progress |
| 413, 429 | too large (more than 2 MB, or 200 MB with files), or too many requests (see `Retry-After`) |
| 500, 503 | the server, its database, the model or the search failed |
| 507 | the disk of the server is full; nothing of the upload or of the change was kept |

## Lists

A list has at most `limit` entries (default 100, at most 1000) and a `next`. Pass `next` as `after` (for a table's
history, as `before`) to get the following page; it is null on the last one. It marks a position, not an entry, so you
can decide on or remove what you have seen and continue.

## Unchanged and large replies

The answer to a GET has an `ETag`. Send it back as `If-None-Match`: if nothing has changed, the answer is 304, without a
body. With `Accept-Encoding: gzip`, replies of 32 KB and more and text files are compressed. Exported files are sent
from the disk piece by piece; JSON has at most 4 MB of rows in one reply.

## Idempotency

Requests that cost money take the header `Idempotency-Key`: any text of up to 200 characters, such as a UUID.
Repeating a request with the same key returns the first answer (with the header `Idempotency-Replayed: true`) and does
nothing again; a different request with that key is refused. While the first is still in progress, the answer is 409.
A request that failed can be repeated with its key; if the server died while answering, after ten minutes. Keys are
per user and remembered for two days.

## Events

`GET /runs/{run_id}/events` is a stream of server-sent events:

```
id: 2
event: progress
data: {"number": 2, "at": "…", "progress": {"stage": "row_done", "done": 1, "total": 3, "row_id": 1, "cells": {…}, …}}

event: end
data: {"run_id": "…", "status": "done", "proposal_id": "…", …}
```

It starts after the event `?after=N`, or after the header `Last-Event-ID`, which browsers send when they reconnect. A
line `: still here` comes at least every 15 seconds. After `end` the server closes the stream; if it closes without
`end`, open it again. If no process works on the run any more, `end` has the status `interrupted`; `POST
/runs/{run_id}/resume` continues it. Any number of clients can watch a run.

## Values

Every key of an answer is always present; what is not known is null or empty. Retrieved and imported text is returned
unchanged and may contain markup, formulas or control characters, so show it as text. Files are sent as downloads, and
in CSV and XLSX no text can act as a formula; if values in an exported table are stale or flagged, the header
`Tablewright-Warning` says so. Times are in UTC.
"""


def write_reference(openapi: dict[str, Any]) -> str:
    """Return the reference in Markdown."""
    schemas = openapi["components"]["schemas"]
    parts, tag = [INTRODUCTION], ""
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                parts.append(f"## {tag.capitalize()}\n")
            parts.append(describe_route(method, path, operation, schemas))
    parts.append("## Schemas\n")
    parts += [describe_schema(name, schemas) for name in sorted(schemas) if not name.startswith("Body_")]
    return "\n".join(parts)


def describe_route(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [
        f"### `{method.upper()} {path.removeprefix('/api/v1')}`\n",
        f"{normalize_whitespace(operation['description'])}\n",
    ]
    rows = [
        (f"`{each['name']}`", f"{each['in']}, {name_schema_type(each['schema'])}", each.get("description", ""))
        for each in operation.get("parameters", [])
        if each["in"] != "path"
    ]
    body = operation.get("requestBody", {}).get("content", {})
    for media, content in body.items():
        name = content["schema"]["$ref"].rsplit("/", 1)[1]
        if media != "application/json":
            rows += [
                (f"`{key}`", f"form, {name_schema_type(each)}", each.get("description", ""))
                for key, each in schema_properties(schemas[name])
            ]
    if rows:
        lines += ["| | | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    if "application/json" in body:
        lines.append(f"Body: {name_schema_type(body['application/json']['schema'])}.")
    lines.append(f"{describe_answer(operation['responses'])}\n")
    return "\n".join(lines)


def describe_answer(responses: dict[str, Any]) -> str:
    status, good = next((status, each) for status, each in responses.items() if status.startswith("2"))
    content = good.get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if len(content) == 1 and "$ref" in schema:
        return f"Returns {status} with {name_schema_type(schema)}."
    if "text/event-stream" in content:
        return f"Returns {status} with a stream of events."
    return f"Returns {status} with a file: {', '.join(f'`{media}`' for media in content)}."


def describe_schema(name: str, schemas: dict[str, Any]) -> str:
    schema = schemas[name]
    lines = [f"### {name}\n"]
    if "description" in schema:
        lines.append(f"{normalize_whitespace(schema['description'])}\n")
    required = set(schema.get("required", []))
    if properties := schema_properties(schema):
        lines += ["| | | |", "|---|---|---|"]
        for key, each in properties:
            default = each.get("default")
            optional = "" if key in required or default in (None, "", [], {}) else f" Default: `{json.dumps(default)}`."
            must = "" if key in required else "?"
            lines.append(f"| `{key}{must}` | {name_schema_type(each)} | {each.get('description', '')}{optional} |")
        lines.append("")
    for example in schema.get("examples", []):
        lines += ["```json", json.dumps(example, indent=2, ensure_ascii=False), "```\n"]
    return "\n".join(lines)


def schema_properties(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(schema.get("properties", {}).items())


def name_schema_type(schema: dict[str, Any]) -> str:
    """Return a type in a few words, with a link if the reference describes it."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(name_schema_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" if value != "" else '`""`' for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema.get("type"):
        case "array" if "items" in schema:
            return f"list of {name_schema_type(schema['items'])}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {name_schema_type(schema['additionalProperties'])}"
        case "string" if "contentMediaType" in schema or schema.get("format") == "binary":
            return "file"
        case None:
            return "anything"
        case name:
            return {"string": "text", "integer": "whole number", "boolean": "yes or no"}.get(name, str(name))
