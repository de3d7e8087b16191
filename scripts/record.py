#!/usr/bin/env python3
"""Records the answers of a large language model for the tests: python scripts/record.py [SCENARIO ...] --base-url URL
--model NAME. Without a name it records every scenario again; what was asked before is not asked anew, unless --fresh.

The endpoint is any that speaks OpenAI's chat completions. Scenarios stand in tests/scenarios.py, recordings in
tests/recordings; look at what changed before you commit it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.recorded import FOLDER, Recording, names, recorded
from tests.scenarios import SCENARIOS
from tests.stage import Stage

DEMO = Path(__file__).parents[1] / "src/tablewright/sample/answers.json"
"""What the demo's model answers: it comes with the package."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", nargs="*", help=f"of: {', '.join(SCENARIOS)}")
    parser.add_argument("--base-url", required=True, help="for example http://127.0.0.1:8000/v1")
    parser.add_argument("--model", required=True, help="the name that the endpoint knows it by")
    parser.add_argument("--api-key", default=os.environ.get("TABLEWRIGHT_MODEL_API_KEY", ""))
    parser.add_argument("--fresh", action="store_true", help="ask everything anew")
    args = parser.parse_args()
    if unknown := set(args.scenario) - SCENARIOS.keys():
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
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


if __name__ == "__main__":
    sys.exit(main())
