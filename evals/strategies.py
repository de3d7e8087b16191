"""The strategies side by side on the same rows: what each finds, and what it takes.

    python evals/strategies.py --web URL [--data DIR] [--model MODEL] [--base-url URL] [--rows 60] [--only NAMES]

The web must serve the pages of the pack tablefill. Prints one line of a Markdown table for each strategy.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from pathlib import Path

from web import PACKS, cases_of, main_arguments, params_of, run

STRATEGIES = {
    "lookup": ("lookup", ""),
    "exploratory": ("research", "exploratory"),
    "comprehensive": ("research", "comprehensive"),
    "pipeline": ("pipeline", ""),
}
COLUMNS = "right near wrong empty filled calls in out searches pages seconds".split()


def main() -> int:
    parser = main_arguments(__doc__ or "")
    parser.add_argument("--only", default=",".join(STRATEGIES))
    parser.set_defaults(rows=60, pack="tablefill")
    args = parser.parse_args()
    cases = cases_of(args, PACKS)
    print(f"| strategy | {' | '.join(COLUMNS)} |")
    print(f"|---|{'---:|' * len(COLUMNS)}", flush=True)
    for name in args.only.split(","):
        args.strategy, args.thoroughness = STRATEGIES[name]
        print(line(name, args, cases), flush=True)
    return 0


def line(name: str, args: argparse.Namespace, cases: list) -> str:
    started = time.monotonic()
    counts, _, usage = asyncio.run(run(cases, args, params=params_of(args)))
    total = Counter({verdict: count for (_, verdict), count in counts.items()})
    figures = [total[verdict] for verdict in ("right", "near", "wrong", "empty")]
    figures += [f"{total['filled']} of {total['filled'] + total['rightly empty']}"]
    figures += [usage.llm_calls, usage.input_tokens, usage.output_tokens, usage.searches, usage.fetches]
    return f"| {name} | {' | '.join(map(str, figures))} | {time.monotonic() - started:.0f} |"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
