"""The two addresses of signing in with a provider: where the browser leaves, and where it comes back."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tablewright.app import Tablewright
from tablewright.doors.server import oidc
from tablewright.doors.server.accounts import Accounts
from tablewright.doors.server.authentication import LONGEST, Authentication
from tablewright.doors.server.errors import NotLoggedIn, status_of
from tablewright.doors.server.login import LOGIN, local, page, set_cookie
from tablewright.doors.server.oidc import BEGIN, CALLBACK, OidcLogin
from tablewright.doors.server.origin import Hosts
from tablewright.errors import BadSetting

ON = '<!doctype html><meta http-equiv="refresh" content="0;url={next}"><title>Tablewright</title>'
"""Our own page asks for the next one: a browser that comes from the provider would keep a strict cookie back."""


def oidc_routes(tablewright: Tablewright, entrance: Authentication, hosts: Hosts, login: OidcLogin) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    accounts = Accounts(tablewright)

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
