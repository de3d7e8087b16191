"""The login page: a form without scripts that takes a token and answers with a session cookie, never with the token.

It also has the two addresses of signing in with a provider: where the browser leaves, and where it returns."""

from __future__ import annotations

import asyncio
from html import escape
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tablewright.errors import BadSetting
from tablewright.interfaces.server import oidc
from tablewright.interfaces.server.authentication import SESSION_COOKIE, SESSION_MAX_SECONDS, Authentication
from tablewright.interfaces.server.errors import NotLoggedIn, http_status
from tablewright.interfaces.server.limits import ServerLimits
from tablewright.interfaces.server.oidc import OIDC_CALLBACK_PATH, OIDC_PATH, OidcAccounts, OidcLogin
from tablewright.interfaces.server.origin import ServedHosts
from tablewright.services import Services

# Plain pages without NiceGUI: before a login nothing else can be reached.
LOGIN_PATH = "/login"
LOGOUT_PATH = "/logout"

LOGIN_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tablewright: log in</title>
<style>
:root {{ color-scheme: light dark; font-family: system-ui, sans-serif; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; }}
main {{ width: min(22rem, 88vw); }}
h1 {{ font-size: 1.5rem; margin: 0 0 .25rem; }}
p {{ line-height: 1.45; margin: .25rem 0 1rem; }}
label {{ display: block; font-weight: 600; margin-bottom: .35rem; }}
input, button {{ box-sizing: border-box; width: 100%; font: inherit; padding: .6rem .75rem; border-radius: .4rem; }}
input {{ border: 1px solid #767676; margin-bottom: .75rem; }}
button {{ border: 0; background: #0f6b62; color: #fff; font-weight: 600; cursor: pointer; }}
.wrong {{ color: #b91c1c; }}
a.button {{ display: block; box-sizing: border-box; text-align: center; text-decoration: none; padding: .6rem .75rem;
  border: 1px solid #0f6b62; border-radius: .4rem; color: inherit; font-weight: 600; margin-bottom: 1.25rem; }}
@media (prefers-color-scheme: dark) {{ .wrong {{ color: #fca5a5; }} }}
</style>
</head>
<body>
<main>
<h1>Tablewright</h1>
<p>Tables whose every cell says where its value came from.</p>
{wrong}{provider}<form method="post" action="{action}">
{ask}
</form>
</main>
</body>
</html>
"""


def login_routes(entrance: Authentication, limits: ServerLimits, provider: str = "") -> APIRouter:
    """Return the routes of the login by token; `provider` is the name of the OpenID Connect provider, if any."""
    router = APIRouter(include_in_schema=False)

    @router.get(LOGIN_PATH)
    async def form(next: str = "/", token: str = "") -> Response:
        return render_login_page(next, provider=provider if not token else "", token=token)

    @router.post(LOGIN_PATH)
    async def log_in(request: Request, next: str = "/") -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        token = fields.get("token", [""])[0].strip()
        try:
            person = await entrance.find_token_holder(token, request)
        except NotLoggedIn as error:  # it has expired
            return render_login_page(next, problem=f"{error.what} {error.advice}", provider=provider, status=401)
        if person is None:
            # Slows down guessing from many addresses, which the limit per address does not.
            await asyncio.sleep(limits.login_delay)
            unknown = "This token is not known. It may have been replaced by a new one."
            return render_login_page(next, problem=unknown, provider=provider, status=401)
        await entrance.audit("login", person, request)
        response = RedirectResponse(keep_local_path(next), 303)
        set_session_cookie(response, request, entrance.sessions.begin(token), int(SESSION_MAX_SECONDS))
        return response

    @router.post(LOGOUT_PATH)
    async def log_out(request: Request) -> Response:
        session = request.cookies.get(SESSION_COOKIE, "")
        if person := await entrance.find_session_person(session):
            await entrance.audit("logout", person, request)
        entrance.sessions.end(session)
        response = RedirectResponse(LOGIN_PATH, 303)
        set_session_cookie(response, request, "", 0)
        return response

    return router


def render_login_page(
    next: str, *, problem: str = "", provider: str = "", token: str = "", status: int = 200
) -> HTMLResponse:
    query = urlencode({"next": keep_local_path(next)})
    wrong = f'<p class="wrong" role="alert">{escape(problem)}</p>\n' if problem else ""
    there = escape(f"{OIDC_PATH}?{query}")
    link = f'<a class="button" href="{there}">Sign in with {escape(provider)}</a>\n' if provider else ""
    form = LOGIN_PAGE.format(
        action=escape(f"{LOGIN_PATH}?{query}"), wrong=wrong, provider=link, ask=render_token_field(token)
    )
    return HTMLResponse(form, status)


def render_token_field(token: str) -> str:
    """Return the inside of the form. A link can carry the token; its holder still presses a button, so that no page of
    another site can log them in."""
    if token:
        return f"""<p>You were sent a link to look at something that is kept here.</p>
<input name="token" type="hidden" value="{escape(token)}">
<button type="submit" autofocus>Open it</button>"""
    return """<label for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>"""


def set_session_cookie(response: Response, request: Request, value: str, seconds: int) -> None:
    https = request.url.scheme == "https"
    response.set_cookie(
        SESSION_COOKIE, value, max_age=seconds, httponly=True, samesite="strict", secure=https, path="/"
    )


def keep_local_path(address: str) -> str:
    """Return the address if it is a page of this server, else "/". A browser reads "//elsewhere" and "/\\elsewhere" as
    other hosts."""
    plain = address.startswith("/") and address[1:2] not in ("/", "\\") and address.isprintable()
    return address if plain else "/"


# ── signing in with a provider ──────────────────────────────────────────────────────────────────────────────────────


def oidc_routes(services: Services, entrance: Authentication, hosts: ServedHosts, login: OidcLogin) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    accounts = OidcAccounts(services)

    @router.get(OIDC_PATH)
    async def leave(request: Request, next: str = "/") -> Response:
        try:
            redirect = await login.begin_login(keep_local_path(next), oidc_redirect_uri(request, hosts))
        except (NotLoggedIn, BadSetting) as error:
            problem = f"{error.what} {error.advice}"
            return render_login_page(next, problem=problem, provider=login.name, status=http_status(error))
        response = RedirectResponse(redirect.address, 303)
        set_oidc_cookie(response, request, redirect.browser, int(oidc.OIDC_LOGIN_SECONDS))
        return response

    @router.get(OIDC_CALLBACK_PATH)
    async def come_back(request: Request) -> Response:
        try:
            identity = await login.finish_login(request.query_params, request.cookies.get(oidc.OIDC_COOKIE, ""))
            person = await accounts.find_or_add(identity.issuer, identity.claims)
        except NotLoggedIn as error:
            problem = f"{error.what} {error.advice}"
            response: Response = render_login_page("/", problem=problem, provider=login.name, status=401)
        else:
            await entrance.audit("login", person, request)
            # A page of ours loads the next one: the browser sends no strict cookie with a redirect from the provider.
            target = escape(keep_local_path(identity.next))
            response = HTMLResponse(
                f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><title>Tablewright</title>'
            )
            set_session_cookie(response, request, entrance.sessions.begin(user_id=person.id), int(SESSION_MAX_SECONDS))
        set_oidc_cookie(response, request, "", 0)
        return response

    return router


def oidc_redirect_uri(request: Request, hosts: ServedHosts) -> str:
    """Return the address to come back to, at a known name of this server: the request's host could be made up."""
    if not hosts.are_known:
        raise BadSetting(
            "This server answers to any host name, so it cannot give a provider an address to return to.",
            advice="Start it with --public-host NAME.",
        )
    return f"{request.url.scheme}://{request.headers['host']}{OIDC_CALLBACK_PATH}"


def set_oidc_cookie(response: Response, request: Request, value: str, seconds: int) -> None:
    """Set the cookie as lax: the browser must send it when the provider redirects back."""
    https = request.url.scheme == "https"
    response.set_cookie(
        oidc.OIDC_COOKIE, value, max_age=seconds, httponly=True, samesite="lax", secure=https, path=LOGIN_PATH
    )
