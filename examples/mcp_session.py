"""An assistant's session over MCP: a table is added, filled, looked at, applied and corrected."""

import asyncio
import os
from typing import Any

from mcp import Client, StdioServerParameters


async def main() -> None:
    environment = {**os.environ, "TABLEWRIGHT_SEARCH": "sample"}
    server = StdioServerParameters(command="tablewright", args=["mcp"], env=environment)
    async with Client(server) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            if result.is_error:
                # The error says what happened, what was kept and what to do next.
                raise RuntimeError(f"{tool}: {result.structured_content or result.content}")
            return result.structured_content or {}

        await call("add_rows", csv="Company\nBrightwater Foods\nKestrelworks\n", name="firms")
        asked = ["Founded:number=What year was {Company} founded?"]
        found = await call("enrich", table="firms", fields=asked)
        print(found["rows"], found["notes"])
        print((await call("show_table", table="firms", evidence=True, proposal_id=found["proposal"]["id"]))["sources"])
        print(
            (await call("decide_proposal", proposal_id=found["proposal"]["id"], decision="apply"))["applied"]["cells"]
        )
        await call("set_cell", table="firms", row_id=2, field="Founded", value="2010")
        await call("undo", table="firms")
        print((await call("show_table", table="firms"))["rows"])


asyncio.run(main())
