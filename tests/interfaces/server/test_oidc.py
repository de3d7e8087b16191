"""Signing in with an OpenID Connect provider, against one that signs with real keys on loopback."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tablewright.errors import BadSetting
from tablewright.interfaces.server import oidc
from tablewright.interfaces.server.oidc import OidcLogin, parse_role_rules
from tablewright.settings import Settings
from tests.interfaces.server.provider import CLIENT, SECRET, Provider, providing
from tests.interfaces.server.serving import Served, served
from tests.patience import PATIENCE


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing() as started:
        yield started


@contextmanager
def signing_in(home: Path, provider: Provider, **settings: str) -> Iterator[Served]:
    given = {
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "oidc_name": "Example <ID>",
        "oidc_accounts": "create",
    } | settings
    with served(home, **given) as server:  # type: ignore[arg-type]
        yield server


def away(browser: httpx2.Client, next: str = "/") -> str:
    """Where the login sends the browser."""
    answer = browser.get("/login/oidc", params={"next": next})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def back(address: str) -> str:
    """Where the provider sends it."""
    answer = httpx2.get(address, trust_env=False, timeout=PATIENCE)
    assert answer.status_code == 302
    return str(answer.headers["location"])


def sign_in(browser: httpx2.Client, next: str = "/") -> httpx2.Response:
    return browser.get(back(away(browser, next)))


def who(browser: httpx2.Client) -> tuple[str, str] | None:
    answer = browser.get("/api/v1/version")
    return (answer.json()["user"], answer.json()["role"]) if answer.status_code == 200 else None


def test_somebody_signs_in_comes_to_the_page_they_wanted_and_logs_out(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        assert browser.get("/").headers["location"].startswith("/login?next=")  # a server with a provider is locked
        page = browser.get("/login?next=/tables/7").text
        link = re.search(r'href="([^"]+)">Sign in with Example &lt;ID&gt;<', page)
        assert link
        assert unescape(link[1]) == "/login/oidc?next=%2Ftables%2F7"
        done = browser.get(back(away(browser, "/tables/7")))
        assert (done.status_code, 'url=/tables/7"' in done.text) == (200, True)
        assert who(browser) == ("ann", "viewer")
        asked = provider.asked
        assert (asked["code_challenge_method"], asked["response_type"], asked["client_id"]) == ("S256", "code", CLIENT)
        assert asked["redirect_uri"] == f"{server.url}/login/oidc/callback"
        assert {"openid", "profile", "email"} <= set(asked["scope"].split())
        assert len(asked["state"]) > 20
        assert len(asked["nonce"]) > 20
        assert browser.post("/logout").status_code == 303
        assert who(browser) is None


def test_an_account_is_known_by_its_subject_and_ends_with_its_user(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        sign_in(browser)
        provider.claims["preferred_username"] = "ann-who-married"
        with server.browser() as again:
            sign_in(again)
            assert who(again) == ("ann", "viewer")
        provider.claims |= {"sub": "subject-2", "preferred_username": "ANN"}  # somebody else, who would look like her
        with server.browser() as other:
            refused = sign_in(other)
            assert (refused.status_code, "No account could be made" in refused.text) == (401, True)
            assert who(other) is None
        server.do(lambda services: services.store.users.remove("ann"))
        assert who(browser) is None


def test_only_users_who_were_added_get_in_where_accounts_are_matched(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider, oidc_accounts="match") as server:
        with server.browser() as stranger:
            refused = sign_in(stranger)
            assert (refused.status_code, "not a user of this server" in refused.text) == (401, True)
        server.add_user("ann", "editor")
        server.add_user("bob@example.org", "viewer")
        with server.browser() as ann:
            sign_in(ann)
            assert who(ann) == ("ann", "editor")
        provider.claims = {"sub": "subject-9", "preferred_username": "ann"}  # she is linked to another subject by now
        with server.browser() as other:
            assert sign_in(other).status_code == 401
        for verified, name in ((False, None), (True, ("bob@example.org", "viewer"))):
            provider.claims = {"sub": "subject-3", "email": "bob@example.org", "email_verified": verified}
            with server.browser() as bob:
                sign_in(bob)
                assert who(bob) == name


def test_roles_follow_what_the_provider_says_at_each_login(tmp_path: Path, provider: Provider) -> None:
    rules = "groups=it:admin, groups=staff:editor"
    with signing_in(tmp_path, provider, oidc_roles=rules) as server:
        for groups, role in ((["staff", "it"], "admin"), (["staff"], "editor"), ([], "viewer")):
            provider.claims["groups"] = groups
            with server.browser() as browser:
                sign_in(browser)
                assert who(browser) == ("ann", role)


@pytest.mark.parametrize(
    "wrong",
    [
        {"aud": "another-client"},
        {"aud": [CLIENT, "another"]},
        {"azp": "another-client"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1_500_000_000},
        {"exp": None},
        {"nonce": "of another login"},
        {"nonce": None},
        {"sub": None},
        {"iat": 32_503_680_000},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_login_is_refused(
    tmp_path: Path, provider: Provider, wrong: dict[str, object]
) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        provider.wrong = wrong
        refused = sign_in(browser)
        assert (refused.status_code, 'role="alert"' in refused.text) == (401, True)
        assert who(browser) is None
        provider.wrong = {}
        sign_in(browser)
        assert who(browser) == ("ann", "viewer")


def test_a_signature_by_a_shared_secret_or_an_unknown_key_is_refused(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        provider.algorithm = "HS256"
        assert sign_in(browser).status_code == 401
        provider.algorithm = "RS256"
        published = provider.key
        provider.rotate()
        signing, provider.published = provider.key, published
        assert sign_in(browser).status_code == 401
        assert signing is provider.key
        assert who(browser) is None


def test_keys_may_be_rotated(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider) as server:
        for _ in range(2):
            with server.browser() as browser:
                sign_in(browser)
                assert who(browser)
        assert provider.key_requests == 1
        provider.rotate()
        with server.browser() as browser:
            sign_in(browser)
            assert who(browser)
        assert provider.key_requests == 2


def test_a_state_is_good_once_in_time_and_in_the_browser_that_began(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser, server.browser() as other:
        come_back = back(away(browser))
        assert "another browser" in other.get(come_back).text  # somebody was given a link to sign in as another
        assert who(other) is None
        assert browser.get(come_back).status_code == 401  # and it is used up
        come_back = back(away(browser))
        assert browser.get(come_back).status_code == 200
        assert browser.get(come_back).status_code == 401
        assert browser.get("/login/oidc/callback?code=x&state=made-up").status_code == 401
        state = parse_qs(urlsplit(away(browser)).query)["state"][0]
        denied = browser.get(f"/login/oidc/callback?error=access_denied&state={state}")
        assert (denied.status_code, "did not sign you in" in denied.text) == (401, True)
        monkeypatch.setattr(oidc, "OIDC_LOGIN_SECONDS", 0.0)
        assert browser.get(back(away(browser))).status_code == 401


def test_nobody_is_sent_elsewhere_and_the_provider_never_to_a_name_that_is_not_ours(
    tmp_path: Path, provider: Provider
) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        for next in ("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)"):
            done = browser.get(back(away(browser, next)))
            assert 'url=/"' in done.text
        refused = browser.get("/login/oidc", headers={"Host": "elsewhere.example"})
        assert refused.status_code == 421


def test_a_provider_that_is_away_or_somebody_else_is_said_on_the_login(tmp_path: Path, provider: Provider) -> None:
    with signing_in(tmp_path, provider) as server, server.browser() as browser:
        provider.metadata = {"issuer": "https://elsewhere.example"}
        refused = browser.get("/login/oidc")
        assert (refused.status_code, "describes itself as another" in refused.text) == (503, True)
        provider.metadata = {"token_endpoint": "http://10.0.0.1/token"}
        assert browser.get("/login/oidc").status_code == 503
        provider.metadata = {}
        assert sign_in(browser).status_code == 200


@pytest.mark.parametrize(
    "settings",
    [{"oidc_issuer": "http://login.example"}, {"oidc_issuer": "login.example"}, {"oidc_client_id": ""}],
    ids=str,
)
def test_settings_that_cannot_be_safe_are_refused_at_the_start(settings: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        OidcLogin(Settings(**{"oidc_issuer": "https://login.example", "oidc_client_id": "tables"} | settings))


@pytest.mark.parametrize("rules", ["groups:admin", "groups=it", "=it:admin", "groups=it:boss"])
def test_rules_for_roles_that_cannot_be_read_are_refused(rules: str) -> None:
    with pytest.raises(BadSetting):
        parse_role_rules(Settings(oidc_roles=rules))
