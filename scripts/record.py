#!/usr/bin/env python3
"""Record the answers of a large language model for the tests.

    python scripts/record.py [SCENARIO ...] --base-url URL --model NAME
    python scripts/record.py SCENARIO --canned      a first try without a model: shows the prompts, keeps nothing

Without a scenario it records every one again. Answers to unchanged requests are kept, unless --fresh. The endpoint is
any that speaks OpenAI's chat completions. Scenarios are in tests/scenarios.py, recordings in tests/recordings; look at
what changed before you commit it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.llm.endpoint import Asked, Reply, answer, running_endpoint
from tests.recorded import FOLDER, Recording, names, recorded
from tests.scenarios import SCENARIOS
from tests.stage import Stage

from tablewright.errors import TablewrightError

# What the demo's model answers: it comes with the package.
DEMO = Path(__file__).parents[1] / "src/tablewright/sample/answers.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", help=f"of: {', '.join(SCENARIOS)}")
    parser.add_argument("--base-url", help="for example http://127.0.0.1:8000/v1")
    parser.add_argument("--model", help="the name by which the endpoint knows it")
    parser.add_argument("--api-key", default=os.environ.get("TABLEWRIGHT_MODEL_API_KEY", ""))
    parser.add_argument("--fresh", action="store_true", help="ask everything again")
    parser.add_argument("--canned", action="store_true", help="answer with the smallest valid replies; keep nothing")
    args = parser.parse_args()
    if unknown := set(args.scenario) - SCENARIOS.keys():
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    if args.canned:
        for name in args.scenario or SCENARIOS:
            asyncio.run(try_out(name))
        return 0
    if not args.base_url or not args.model:
        parser.error("--base-url and --model name the model to record; --canned needs none")
    for name in args.scenario or SCENARIOS:
        asyncio.run(record(name, args))
    for name in names() - SCENARIOS.keys():
        (FOLDER / f"{name}.json").unlink()
        print(f"{name}: removed, there is no such scenario any more")
    return 0


async def record(name: str, args: argparse.Namespace) -> None:
    recording = Recording.load(name) if name in names() else Recording(name)
    known = set(recording.exchanges)
    with tempfile.TemporaryDirectory() as folder:
        async with recorded(recording, args.base_url, args.model, args.api_key, fresh=args.fresh) as endpoint:
            recording.result = await SCENARIOS[name](Stage(endpoint.url, Path(folder)))
    recording.save()
    if name == "demo":
        answers = {key: exchange.reply for key, exchange in recording.exchanges.items()}
        DEMO.write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    asked = set(recording.exchanges)
    new = len(asked) if args.fresh else len(asked - known)
    print(f"{name}: {len(asked)} answers, {new} new, {len(known - asked)} dropped")


async def try_out(name: str) -> None:
    """Run a scenario with canned replies, and print each prompt and the reply that it got."""
    with tempfile.TemporaryDirectory() as folder:
        async with running_endpoint() as endpoint:
            endpoint.otherwise = reply_and_print
            try:
                await SCENARIOS[name](Stage(endpoint.url, Path(folder)))
            except (AssertionError, TablewrightError) as error:
                print(f"{name}: ended early, as the canned replies say nothing useful: {error}")
    print(f"{name}: {len(endpoint.asked)} requests; nothing was kept")


def reply_and_print(asked: Asked) -> Reply:
    schema = (asked.body.get("response_format") or {}).get("json_schema", {}).get("schema", {"type": "string"})
    reply = smallest(schema, schema.get("$defs", {}))
    for message in asked.body["messages"]:
        print(f"── {message['role']}\n{message.get('content')}\n")
    print(f"── canned reply\n{json.dumps(reply, ensure_ascii=False)}\n")
    return answer(reply)


def smallest(schema: dict[str, Any], named: dict[str, Any]) -> Any:
    """Return the smallest value that fits a JSON schema."""
    if "$ref" in schema:
        return smallest(named[schema["$ref"].rpartition("/")[2]], named)
    if "anyOf" in schema:
        return min((smallest(each, named) for each in schema["anyOf"]), key=lambda value: value is not None)
    if "enum" in schema or "const" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    if schema.get("type") == "object":
        required = schema.get("required", ())
        return {key: smallest(each, named) for key, each in schema.get("properties", {}).items() if key in required}
    return {"array": [], "integer": 0, "number": 0, "boolean": False, "null": None}.get(schema.get("type", ""), "")


if __name__ == "__main__":
    sys.exit(main())
