"""`tablewright serve`: the web page and the REST API."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.doors.cli.root import app, with_app
from tablewright.extras import need

if TYPE_CHECKING:
    from tablewright.services import Services


@app.command()
def serve(
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
    need("server", "Serving the page and the REST API")
    from tablewright.doors.server.run import serve as run

    log = logging.getLogger("tablewright.server")

    async def work(services: Services) -> None:
        await run(
            services,
            host,
            port,
            public_hosts=public_host or (),
            said=lambda address: log.info("Tablewright is at %s. Ctrl-C stops it.", address),
        )
        log.info("Stopped.")

    with_app(work)
