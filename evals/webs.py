"""The pages of a pack as a web on loopback, served as long as they are needed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(packweb: Path, pack: Path, *, fault: float = 0.0, port: int = 0) -> Iterator[str]:
    """All pages of the pack as one web with a search; its address. Without a `port`, on a free one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", port))
        port = free.getsockname()[1]
    command = [sys.executable, str(packweb), str(pack), "--port", str(port), "--fault", str(fault)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            if not server.stdout or not server.stdout.readline():
                sys.exit("The web of the pages did not start.")
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()
