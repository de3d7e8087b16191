"""How much a run adds to the model's own time, and how two other products do on the same rows.

    python bench/engine.py [--rounds 3] [--only engine|calls|peers]
    python bench/engine.py --peers        installs the other products, into .venv-peers

A model on loopback answers every question after a fixed time, so the ideal is known: concurrency / delay. Everything
runs in a process of its own, in turn, round after round; figures are medians, with the least and the most beside them.
Ends with 1 where a number does not hold or a row is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
SIDE = HERE.parent / ".venv-peers"
PEERS = ("accrue==1.5.*", "langextract[openai]==1.7.*")
HOLD_SHARE = 0.90
HOLD_CPU_MS = 3.0


@dataclass(frozen=True, kw_only=True)
class Product:
    name: str
    script: str
    python: str = sys.executable


OURS = Product(name="Tablewright", script="tablewright_run.py")
CLIENT = Product(name="its model client alone", script="client_run.py")


@dataclass(frozen=True, kw_only=True)
class Load:
    rows: int
    delay: float
    concurrency: int

    @property
    def ideal(self) -> float:
        """Rows a second."""
        return self.concurrency / self.delay

    def __str__(self) -> str:
        return f"{self.rows:,} rows, a model of {self.delay * 1000:.0f} ms, {self.concurrency} at once"


ENGINE_LOAD = Load(rows=1_000, delay=0.5, concurrency=50)
PEERS_LOAD = Load(rows=200, delay=0.1, concurrency=10)


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one product did with one load, once."""

    load: Load
    seconds: float
    cpu: float
    right: int
    requests: int
    sent: int
    tokens: int
    first_at: float
    at_once: int
    called: float = 0.0
    """When the product was called, and when the first request came, by the clock of the machine."""
    first_cpu: float = 0.0
    """Seconds of CPU from that call until the product connected to the model."""

    @property
    def share(self) -> float:
        return self.load.rows / self.seconds / self.load.ideal

    @property
    def cpu_ms(self) -> float:
        return self.cpu / self.load.rows * 1000

    @property
    def is_right(self) -> bool:
        """All rows, one question each, no more at once than allowed."""
        return (
            self.right == self.load.rows == self.requests - 1  # the first was the warm-up
            and self.at_once <= self.load.concurrency
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("engine", "calls", "peers"), help="One of the parts.")
    parser.add_argument("--peers", action="store_true", help="Install the other products, and end.")
    options = parser.parse_args()
    if options.peers:
        install_peers()
        return 0
    parts = {"engine": engine, "calls": shared_calls, "peers": beside_peers}
    held = [measure_part(options.rounds) for name, measure_part in parts.items() if options.only in (None, name)]
    return 0 if all(held) else 1


def engine(rounds: int) -> bool:
    runs = measure(ENGINE_LOAD, (OURS, CLIENT), rounds)
    report(ENGINE_LOAD, runs)
    ours, client = runs[OURS], runs[CLIENT]
    extra = [one.cpu_ms - other.cpu_ms for one, other in zip(ours, client, strict=True)]
    against = [100 * other.seconds / one.seconds for one, other in zip(ours, client, strict=True)]
    share = median(run.share for run in ours)
    print(f"  beyond the client: {spread(extra)} ms of CPU a cell, {spread(against)} % of its rate")
    return all(
        (
            hold(f"at least {HOLD_SHARE:.0%} of the ideal rate", share >= HOLD_SHARE),
            hold(f"at most {HOLD_CPU_MS:g} ms of CPU a cell beyond the client's own", median(extra) <= HOLD_CPU_MS),
            hold("every row right", all_right(runs)),
        )
    )


def shared_calls(rounds: int) -> bool:
    """The verb of the library in a new process, with rows that share calls and with one row a call."""
    runs: dict[str, list[Run]] = {"rows share calls": [], "one row a call": []}
    with endpoint(PEERS_LOAD.delay) as url:
        for _ in range(rounds):
            for rows_a_call, taken in enumerate(runs.values()):
                taken.append(run(Product(name="verb", script="verb_run.py"), PEERS_LOAD, url, str(rows_a_call)))
    print(f"{PEERS_LOAD}, by `tablewright.enrich` in a new process")
    for name, rounds_of in runs.items():
        figures = (
            f"{spread([each.seconds for each in rounds_of])} s",
            f"first request after {spread([each.first_at - each.called for each in rounds_of])} s",
            f"{median(each.first_cpu for each in rounds_of):.2f} s of CPU",
            f"{median(each.requests for each in rounds_of):.0f} requests",
            f"{median(each.tokens for each in rounds_of):,.0f} tokens",
            f"at most {max(each.at_once for each in rounds_of)} at once",
        )
        print(f"  {name:22} {', '.join(figures)}")
    shared, alone = runs.values()
    every = [*shared, *alone]
    return all(
        (
            hold("sharing is faster", median(a.seconds for a in shared) < median(a.seconds for a in alone)),
            hold("and takes no more tokens", max(a.tokens for a in shared) <= min(a.tokens for a in alone)),
            hold("no more at once than allowed", max(a.at_once for a in every) <= PEERS_LOAD.concurrency),
            hold("every row right", all(each.right == PEERS_LOAD.rows for each in every)),
        )
    )


def beside_peers(rounds: int) -> bool:
    peers = installed_peers()
    if not peers:
        print("The other products are not installed; `python bench/engine.py --peers` does it.")
        return True
    runs = measure(PEERS_LOAD, (OURS, *peers), rounds)
    report(PEERS_LOAD, runs)
    ours = median(run.seconds for run in runs[OURS])
    return all(
        (
            *(hold(f"faster than {peer.name}", ours < median(run.seconds for run in runs[peer])) for peer in peers),
            hold("every row right", all_right(runs)),
        )
    )


def measure(load: Load, products: Sequence[Product], rounds: int) -> dict[Product, list[Run]]:
    runs: dict[Product, list[Run]] = {product: [] for product in products}
    with endpoint(load.delay) as url:
        for _ in range(rounds):
            for product in products:
                runs[product].append(run(product, load, url))
    return runs


@contextmanager
def endpoint(delay: float) -> Iterator[str]:
    command = [sys.executable, str(HERE / "engine_model.py"), "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def run(product: Product, load: Load, url: str, *further: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        command = [product.python, str(HERE / "peers" / product.script), url, folder, str(load.rows)]
        done = subprocess.run(
            [*command, str(load.concurrency), *further],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        )
    with urllib.request.urlopen(f"{url}/taken") as answer:
        taken = json.load(answer)
    del taken["waiting"]
    return Run(load=load, **json.loads(done.stdout), **taken)


def report(load: Load, runs: dict[Product, list[Run]]) -> None:
    print(f"{load} (ideal: {load.ideal:.0f} rows a second)")
    titles = ("seconds", "rows/s", "% of ideal", "CPU ms a row", "bytes sent a row", "all right")
    print(f"  {'product':22} " + " ".join(f"{title:>18}" for title in titles))
    for product, rounds in runs.items():
        figures = (
            spread([each.seconds for each in rounds]),
            f"{median(load.rows / each.seconds for each in rounds):.1f}",
            spread([100 * each.share for each in rounds]),
            spread([each.cpu_ms for each in rounds]),
            f"{median(each.sent / each.requests for each in rounds):.0f}",
            "yes" if all(each.is_right for each in rounds) else "NO",
        )
        print(f"  {product.name:22} " + " ".join(f"{figure:>18}" for figure in figures))


def spread(figures: Sequence[float]) -> str:
    return f"{median(figures):.1f} ({min(figures):.1f}–{max(figures):.1f})"


def hold(what: str, is_held: bool) -> bool:
    print(f"  {'holds' if is_held else 'DOES NOT HOLD'}: {what}")
    return is_held


def all_right(runs: dict[Product, list[Run]]) -> bool:
    return all(each.is_right for rounds in runs.values() for each in rounds)


def side_python() -> Path:
    return SIDE / "bin" / "python"


def install_peers() -> None:
    venv.create(SIDE, with_pip=True)
    subprocess.run([side_python(), "-m", "pip", "install", "--quiet", *PEERS], check=True)


def installed_peers() -> list[Product]:
    found = []
    for name in ("accrue", "langextract") if side_python().exists() else ():
        ask = f"from importlib.metadata import version; print(version({name!r}))"
        told = subprocess.run([side_python(), "-c", ask], capture_output=True, text=True, check=False)
        if told.returncode == 0:
            label = f"{name} {told.stdout.strip()}"
            found.append(Product(name=label, script=f"{name}_run.py", python=str(side_python())))
    return found


if __name__ == "__main__":
    sys.exit(main())
