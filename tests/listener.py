"""A server on loopback that remembers what it is sent, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Listener:
    def __init__(self) -> None:
        self.url = ""
        self.heard: list[str] = []
        """Each request, whole: its line, its headers and its body."""
        self.status = 200
        self.headers: Mapping[str, str] = {}
        self.body: Any = {}
        self.arrived = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()

    @property
    def text(self) -> str:
        return "\n".join(self.heard)

    def redirect(self, status: int, address: str) -> None:
        self.status, self.headers = status, {"location": address}


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            listener.heard.append(f"{self.requestline}\n{self.headers}{body.decode()}")
            listener.arrived.set()
            listener.may_answer.wait()
            with suppress(ConnectionError):  # a client may be gone by now
                self.answer(json.dumps(listener.body).encode())

        def answer(self, content: bytes) -> None:
            self.send_response(listener.status)
            for name, value in listener.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    listener.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        listener.may_answer.set()
        server.shutdown()
        server.server_close()
        thread.join()
