"""A strategy of your own: each row is answered by an HTTP API. `python examples/http_strategy.py ADDRESS`."""

import sys
from collections.abc import Sequence

import httpx2

import tablewright as tw


class Register(tw.Strategy):
    name, display_name = "register", "Business register"

    def prepare(self, task: tw.Task, tools: tw.Tools) -> tw.Answer:
        async def answer(row: tw.Row, tell: tw.Tell) -> Sequence[tw.Finding]:
            async with httpx2.AsyncClient() as client:
                reply = await client.get(sys.argv[1], params={"q": str(row.cell("Company").value)})
            known, proof = reply.json(), tw.Evidence(origin=str(reply.url), quote=reply.text)
            return [
                tw.Finding(field=each.name, value=known[each.name], confidence=0.95, evidence=(proof,))
                if each.name in known
                else tw.Finding(field=each.name, reason="not_found")
                for each in task.fields
            ]

        return answer


table = tw.enrich([{"Company": "Quillon"}, {"Company": "Nobody"}], ["Seat", "Staff:number"], strategy=Register())
print(table.rows, table.cell(1, "Seat").reason, sep="\n")
