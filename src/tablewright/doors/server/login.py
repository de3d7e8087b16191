"""The login: a form without scripts that takes a token, and answers with a cookie that is not the token."""

from __future__ import annotations

import asyncio
from html import escape
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tablewright.doors.server import oidc
from tablewright.doors.server.authentication import COOKIE, LONGEST, Authentication
from tablewright.doors.server.errors import NotLoggedIn, status_of
from tablewright.doors.server.limits import ServerLimits
from tablewright.doors.server.oidc import BEGIN, CALLBACK, Accounts, OidcLogin
from tablewright.doors.server.origin import Hosts
from tablewright.errors import BadSetting
from tablewright.services import Services

LOGIN = "/login"
LOGOUT = "/logout"
WRONG = "This token is nobody's. It may have been replaced by a new one."

PAGE = """<!doctype html>
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

ASK = """<label for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>"""
INVITED = """<p>You were sent a link to look at something that is kept here.</p>
<input name="token" type="hidden" value="{token}">
<button type="submit" autofocus>Open it</button>"""
"""For a link that carries a token: its holder presses a button, so that no page of another site can log them in."""


def login_routes(entrance: Authentication, limits: ServerLimits, provider: str = "") -> APIRouter:
    """`provider` is the name of who else signs people in."""
    router = APIRouter(include_in_schema=False)

    @router.get(LOGIN)
    async def form(next: str = "/", token: str = "") -> Response:
        return page(next, provider=provider if not token else "", token=token)

    @router.post(LOGIN)
    async def log_in(request: Request, next: str = "/") -> Response:
        said = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=10)
        token = said.get("token", [""])[0].strip()
        try:
            person = await entrance.holder(token, request)
        except NotLoggedIn as error:  # it has expired
            return page(next, said=f"{error.what} {error.advice}", provider=provider, status=401)
        if person is None:
            await asyncio.sleep(limits.login_delay)
            return page(next, said=WRONG, provider=provider, status=401)
        await entrance.note("login", person, request)
        response = RedirectResponse(local(next), 303)
        set_cookie(response, request, entrance.sessions.begin(token), int(LONGEST))
        return response

    @router.post(LOGOUT)
    async def log_out(request: Request) -> Response:
        session = request.cookies.get(COOKIE, "")
        if person := await entrance.whose(session):
            await entrance.note("logout", person, request)
        entrance.sessions.end(session)
        response = RedirectResponse(LOGIN, 303)
        set_cookie(response, request, "", 0)
        return response

    return router


def page(next: str, *, said: str = "", provider: str = "", token: str = "", status: int = 200) -> HTMLResponse:
    wanted = urlencode({"next": local(next)})
    wrong = f'<p class="wrong" role="alert">{escape(said)}</p>\n' if said else ""
    there = escape(f"{LOGIN}/oidc?{wanted}")
    link = f'<a class="button" href="{there}">Sign in with {escape(provider)}</a>\n' if provider else ""
    ask = INVITED.format(token=escape(token)) if token else ASK
    return HTMLResponse(PAGE.format(action=escape(f"{LOGIN}?{wanted}"), wrong=wrong, provider=link, ask=ask), status)


def set_cookie(response: Response, request: Request, value: str, seconds: int) -> None:
    https = request.url.scheme == "https"
    response.set_cookie(COOKIE, value, max_age=seconds, httponly=True, samesite="strict", secure=https, path="/")


def local(address: str) -> str:
    """Only a page of this server: "//elsewhere" and "/\\elsewhere" are others to a browser."""
    plain = address.startswith("/") and address[1:2] not in ("/", "\\") and address.isprintable()
    return address if plain else "/"


# ── signing in with a provider ──────────────────────────────────────────────────────────────────────────────────────
# The two addresses of signing in with a provider: where the browser leaves, and where it comes back.


ON = '<!doctype html><meta http-equiv="refresh" content="0;url={next}"><title>Tablewright</title>'
"""Our own page asks for the next one: a browser that comes from the provider would keep a strict cookie back."""


def oidc_routes(services: Services, entrance: Authentication, hosts: Hosts, login: OidcLogin) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    accounts = Accounts(services)

    @router.get(BEGIN)
    async def leave(request: Request, next: str = "/") -> Response:
        try:
            left = await login.leave(local(next), redirect_uri(request, hosts))
        except (NotLoggedIn, BadSetting) as error:
            return page(next, said=f"{error.what} {error.advice}", provider=login.name, status=status_of(error))
        response = RedirectResponse(left.address, 303)
        keep_browser(response, request, left.browser, int(oidc.IN_TIME))
        return response

    @router.get(CALLBACK)
    async def come_back(request: Request) -> Response:
        try:
            back = await login.come_back(request.query_params, request.cookies.get(oidc.COOKIE, ""))
            person = await accounts.person(back.issuer, back.claims)
        except NotLoggedIn as error:
            response: Response = page("/", said=f"{error.what} {error.advice}", provider=login.name, status=401)
        else:
            await entrance.note("login", person, request)
            response = HTMLResponse(ON.format(next=escape(local(back.next))))
            set_cookie(response, request, entrance.sessions.begin(user_id=person.id), int(LONGEST))
        keep_browser(response, request, "", 0)
        return response

    return router


def redirect_uri(request: Request, hosts: Hosts) -> str:
    """At a name that this server is known by, never at one that a request made up."""
    if not hosts.are_known:
        raise BadSetting(
            "This server answers to any name, so a provider cannot send people back to it.",
            advice="Start it with --public-host NAME.",
        )
    return f"{request.url.scheme}://{request.headers['host']}{CALLBACK}"


def keep_browser(response: Response, request: Request, value: str, seconds: int) -> None:
    """Lax: it must come along when the provider sends the browser back."""
    https = request.url.scheme == "https"
    response.set_cookie(oidc.COOKIE, value, max_age=seconds, httponly=True, samesite="lax", secure=https, path=LOGIN)
