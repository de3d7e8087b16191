"""The page about the REST API, from its OpenAPI document: docs/api.md, and `/docs` of every server."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import markdown2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

PREFIX = "/api/v1"
DOCS = "/docs"

router = APIRouter(include_in_schema=False)


@router.get(DOCS)
async def read_reference(request: Request) -> HTMLResponse:
    return HTMLResponse(as_html(page(request.app.openapi())))


@cache
def as_html(text: str) -> str:
    """Our own text alone: nothing that was retrieved or brought in is in it."""
    body = markdown2.markdown(text, extras=["tables", "fenced-code-blocks", "header-ids", "highlightjs-lang"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Tablewright: REST API</title>{STYLE}{body}</html>'
    )


STYLE = """<meta name="viewport" content="width=device-width"><style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem; background: #8881 } h3 { margin-top: 2rem }
table { border-collapse: collapse } td, th { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top }
</style>"""

INTRODUCTION = """\
# REST API

`tablewright serve` answers under `http://127.0.0.1:8000/api/v1`; the OpenAPI document is at
`/api/v1/openapi.json`, this page at `/docs`. A Python program does not need it: the library itself does the same
without a server.

```sh
curl -F file=@companies.csv http://127.0.0.1:8000/api/v1/tables/import
curl -H 'Content-Type: application/json' -d '{"fields": ["Founded:number=What year was {Company} founded?"]}' \\
     http://127.0.0.1:8000/api/v1/tables/companies/runs
curl -N http://127.0.0.1:8000/api/v1/runs/RUN/events
curl -H 'Content-Type: application/json' -d '{"min_confidence": 0.8}' \\
     http://127.0.0.1:8000/api/v1/proposals/PROPOSAL/apply
curl -o companies.xlsx 'http://127.0.0.1:8000/api/v1/tables/companies/export?format=xlsx&evidence=true'
```

## Who asks

Send your token with every request: `Authorization: Bearer TOKEN`. The owner's is the setting `TABLEWRIGHT_TOKEN`; users
have their own, which an admin makes (`tablewright users add NAME`, or `POST /users`). On a server that only its own
machine reaches, and that has neither a token nor a user, none is needed; with the first user it is. Only `/health`
answers without one.

- A **viewer** looks at the tables that were granted, and changes nothing.
- An **editor** also changes them, brings in new ones, and starts what costs money.
- An **admin** sees all tables, and sees to users.

A table is seen by whoever made it, by those it was granted to, and by admins. Its runs, proposals, research and
shortlist belong to it; to everybody else they are not there (404). A shortlist that has no table yet is known only by
its id. **Documents are shared**: whoever has a token may list them, and every editor may ask and remove them.

Models, search providers and keys are the server's settings. A request cannot choose others, and a budget can only be
lower than the server's.

## What goes wrong

Every refusal and every failure has the same shape:

```json
{"error": {"type": "NotFound", "message": "There is no table 'sales'.", "kept": "", "advice": ""}}
```

`message` says what happened, `kept` what survives, `advice` what to do next. The status says whose turn it is:

| status | |
|---|---|
| 400, 422 | the request is wrong; nothing was done |
| 401, 403 | no token, or one that may not do that |
| 404, 405 | not there, or not for you; not with this method, see `Allow` |
| 409 | something else came first: a newer edit, a run that has ended, the budget, the same request under way |
| 413, 429 | too large (2 MB, with files 200 MB), or too much at once; see `Retry-After` |
| 500, 503 | the server, its database, the model or the search failed |

## Lists

A list has at most `limit` entries (100 unless you say otherwise, 1000 at most) and a `next`: pass it as `after` (of a
table's history as `before`) for what follows. It is null at the end. It names a place in the list, not an entry: you
may decide on, or remove, what you have seen and then go on.

## Nothing twice

What costs money takes the header `Idempotency-Key`: any text of up to 200 characters, such as a UUID. The same key with
the same request is answered as it was the first time (with the header `Idempotency-Replayed: true`), and nothing is
done again; with another request it is refused. While the first is still under way, the answer is 409. A request that
failed may be repeated with its key; one whose server died while it was answered, ten minutes later. Keys are yours
alone, and remembered for two days.

## Events

`GET /runs/{run_id}/events` is a stream of server-sent events:

```
id: 2
event: progress
data: {"number": 2, "at": "…", "progress": {"stage": "row_done", "done": 1, "total": 3, "row_id": 1, "cells": {…}, …}}

event: end
data: {"run_id": "…", "status": "done", "proposal_id": "…", …}
```

It begins after the event `?after=N`, or after the header `Last-Event-ID`, which browsers send by themselves when a
connection was lost. A line `: still here` comes at least every 15 seconds. After `end` the server closes the stream;
one that closes without it should be opened again. Where whoever worked on the run is gone, `end` says `interrupted`:
`POST /runs/{run_id}/resume` goes on with it. Any number of clients may watch a run.

## Numbers and texts

Every key of an answer is always there; what is not known is null or empty. Whatever was retrieved or brought in comes
back as it is: it may hold markup, formulas or control characters, so show it as text. Files are sent as downloads, and
in CSV and XLSX no text can act as a formula. Times are in UTC.
"""


def page(openapi: dict[str, Any]) -> str:
    """In Markdown."""
    schemas = openapi["components"]["schemas"]
    parts, tag = [INTRODUCTION], ""
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                parts.append(f"## {tag.capitalize()}\n")
            parts.append(described(method, path, operation, schemas))
    parts.append("## What is sent and answered\n")
    parts += [shape(name, schemas) for name in sorted(schemas) if not name.startswith("Body_")]
    return "\n".join(parts)


def described(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path.removeprefix(PREFIX)}`\n", f"{joined(operation['description'])}\n"]
    rows = [
        (f"`{each['name']}`", f"{each['in']}, {kind(each['schema'])}", each.get("description", ""))
        for each in operation.get("parameters", [])
        if each["in"] != "path"
    ]
    body = operation.get("requestBody", {}).get("content", {})
    for media, content in body.items():
        name = content["schema"]["$ref"].rsplit("/", 1)[1]
        if media != "application/json":
            rows += [
                (f"`{key}`", f"form, {kind(each)}", each.get("description", "")) for key, each in keys(schemas[name])
            ]
    if rows:
        lines += ["| | | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    if "application/json" in body:
        lines.append(f"Sends {kind(body['application/json']['schema'])}.")
    lines.append(f"{answers(operation['responses'])}\n")
    return "\n".join(lines)


def answers(responses: dict[str, Any]) -> str:
    status, good = next((status, each) for status, each in responses.items() if status.startswith("2"))
    content = good.get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if len(content) == 1 and "$ref" in schema:
        return f"Answers {status} with {kind(schema)}."
    if "text/event-stream" in content:
        return f"Answers {status} with a stream of events."
    return f"Answers {status} with a file: {', '.join(f'`{media}`' for media in content)}."


def shape(name: str, schemas: dict[str, Any]) -> str:
    schema = schemas[name]
    lines = [f"### {name}\n"]
    if "description" in schema:
        lines.append(f"{joined(schema['description'])}\n")
    required = set(schema.get("required", []))
    if properties := keys(schema):
        lines += ["| | | |", "|---|---|---|"]
        for key, each in properties:
            default = each.get("default")
            optional = "" if key in required or default in (None, "", [], {}) else f" Default: `{json.dumps(default)}`."
            must = "" if key in required else "?"
            lines.append(f"| `{key}{must}` | {kind(each)} | {each.get('description', '')}{optional} |")
        lines.append("")
    for example in schema.get("examples", []):
        lines += ["```json", json.dumps(example, indent=2, ensure_ascii=False), "```\n"]
    return "\n".join(lines)


def keys(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return list(schema.get("properties", {}).items())


def kind(schema: dict[str, Any]) -> str:
    """A type in a few words, with a link where it is one of ours."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" if value != "" else '`""`' for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    match schema.get("type"):
        case "array" if "items" in schema:
            return f"list of {kind(schema['items'])}"
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return f"object of {kind(schema['additionalProperties'])}"
        case "string" if "contentMediaType" in schema or schema.get("format") == "binary":
            return "file"
        case None:
            return "anything"
        case name:
            return {"string": "text", "integer": "whole number", "boolean": "yes or no"}.get(name, str(name))


def joined(text: str) -> str:
    return " ".join(text.split())
