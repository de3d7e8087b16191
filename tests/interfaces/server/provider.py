"""A small OpenID Connect provider on loopback, with real keys: what it signs, and for whom, can be set."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

CLIENT, SECRET = "tables", "a secret of the client"


class Provider:
    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}/realm"
        self.claims: dict[str, Any] = {"sub": "subject-1", "preferred_username": "ann"}
        self.metadata: dict[str, Any] = {}
        self.wrong: dict[str, Any] = {}
        """Claims that replace the right ones."""
        self.algorithm = "RS256"
        self.published: RSAKey | None = None
        """Where it is not the key that signs."""
        self.asked: dict[str, str] = {}
        """By the last request for a login."""
        self.key_requests = 0
        self._codes: dict[str, dict[str, str]] = {}
        self.rotate()

    def rotate(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig"})

    def described(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        } | self.metadata

    def authorize(self, query: dict[str, str]) -> str:
        """The person agreed; where the browser goes next."""
        self.asked = query
        code = secrets.token_urlsafe(8)
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        asked = self._codes.pop(form.get("code", ""), None)
        secret = base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '+')}".encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or authorization not in (f"Basic {secret}", f"Basic {plain}")
            or asked["redirect_uri"] != form.get("redirect_uri")
            or (asked.get("code_challenge_method"), asked.get("code_challenge"))
            != ("S256", challenge.decode().rstrip("="))
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        claims |= self.claims | self.wrong
        key: Any = OctKey.import_key(SECRET) if self.algorithm == "HS256" else self.key
        header = {"alg": self.algorithm, "kid": self.key.kid}
        token = jwt.encode(header, {name: each for name, each in claims.items() if each is not None}, key)
        return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": token}


@contextmanager
def providing() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/realm/.well-known/openid-configuration":
                self._answer(200, provider.described())
            elif parts.path == "/realm/keys":
                provider.key_requests += 1
                self._answer(200, KeySet([provider.published or provider.key]).as_dict(private=False))
            elif parts.path == "/realm/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            else:
                self._answer(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(*provider.exchange(form, self.headers.get("authorization", "")))

        def _answer(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
