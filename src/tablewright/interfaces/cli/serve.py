"""`tablewright serve` and `tablewright mcp`: serve the web page and the REST API, or tools for assistants."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.extras import require_extra
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.root import Model, Search, app, run_with_services

if TYPE_CHECKING:
    from tablewright.services import Services


@app.command("serve")
def serve_command(
    host: Annotated[str, typer.Option("--host", help="The address to bind to.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0: any free one.")
    ] = 8000,
    public_host: Annotated[
        list[str] | None,
        typer.Option(
            "--public-host", metavar="NAME", help="A host name under which a reverse proxy reaches this server."
        ),
    ] = None,
) -> None:
    """Serve the web page and the REST API, and work on the runs that they start, until SIGTERM or Ctrl-C.

    On 127.0.0.1 no token is needed until you set one. Any other address, and any public host name, needs
    TABLEWRIGHT_TOKEN or a user (`tablewright users add`).
    """
    require_extra("server", "Serving the page and the REST API")
    from tablewright.interfaces.server.run import run_server as run

    log = logging.getLogger("tablewright.server")

    async def work(services: Services) -> None:
        await run(
            services,
            host,
            port,
            public_hosts=public_host or (),
            report=lambda address: log.info("Tablewright is at %s. Ctrl-C stops it.", address),
        )
        log.info("Stopped.")

    run_with_services(work)


@app.command("mcp")
def mcp_command(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    host: Annotated[
        str, typer.Option("--host", help="With --http: the address to bind to; any but this machine needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=1, max=65_535, help="With --http: the port.")] = 8001,
    files: Annotated[
        list[Path] | None,
        typer.Option("--files", metavar="FOLDER", help="A folder the assistant may read; repeatable. Default: none."),
    ] = None,
    model: Model = "",
    search: Search = "",
    budget: Annotated[str, typer.Option("--budget", help="The most dollars to spend until the server ends.")] = "",
) -> None:
    """Serve tables, enrichment, research, documents and the advisor to assistants, as MCP tools.

    An assistant starts it and talks to it over stdin and stdout; with --http it serves /mcp on a port. What `enrich`
    finds is a proposal until `decide_proposal` applies it. Only files under --files can be read.
    """
    require_extra("server", "Serving MCP tools")
    from tablewright.interfaces.mcp.server import PATH, create_server, http_app, serve_http, serve_stdio

    async def work(services: Services) -> None:
        server = create_server(services, files or ())
        if http:
            http_app(server, host)  # what is not allowed is said before anything is served
            output.print_note(f"MCP on http://{f'[{host}]' if ':' in host else host}:{port}{PATH}; Ctrl-C ends it.")
            await serve_http(server, host, port)
            return
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        serving = asyncio.create_task(serve_stdio(server))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            # The thread that waits for the next line of stdin cannot be woken; all that counts is committed.
            await server.context.close()
            os._exit(0)
        stopped.cancel()
        await serving

    run_with_services(work, {"model": model, "search": search, "budget": budget})
