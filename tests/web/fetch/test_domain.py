from __future__ import annotations

import pytest

from tablewright.web.fetch.guard import registrable_domain


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.example.com/page?q=1", "example.com"),
        ("https://EXAMPLE.com:8443/", "example.com"),
        ("https://a.b.example.co.uk/", "example.co.uk"),
        ("https://example.com./", "example.com"),
        ("https://www.müller.de/", "xn--mller-kva.de"),
        ("https://alice.github.io/", "github.io"),
        ("https://co.uk/", "co.uk"),
        ("https://www.acme.example/", "acme.example"),
        ("http://127.0.0.1:8000/page", "127.0.0.1:8000"),
        ("http://127.0.0.1/page", "127.0.0.1"),
        ("http://[::1]:8000/", "[::1]:8000"),
        ("http://localhost:8000/", "localhost:8000"),
        ("not an address", ""),
        ("http://[broken]/", ""),
    ],
)
def test_the_domain_that_somebody_registered(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain
