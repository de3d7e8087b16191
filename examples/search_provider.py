"""A search provider of your own, such as that of an intranet. `python examples/search_provider.py ADDRESS`."""

import sys

import httpx2

import tablewright as tw


class Intranet:
    name = "intranet"

    async def search(self, query: tw.Query) -> list[tw.Hit]:
        async with httpx2.AsyncClient() as client:
            found = (await client.get(f"{sys.argv[1]}/search", params={"q": query.text})).json()
        return [tw.Hit(origin=each["url"], title=each["title"], snippet=each["text"]) for each in found]


# Pages of private addresses are opened only where they are allowed by name.
table = tw.enrich(
    [{"Room": "Aurora"}], {"Seats:number": "How many seats has {Room}?"}, search=Intranet(), fetch_allow="127.0.0.1"
)
print(table.cell(0, "Seats").value, table.cell(0, "Seats").evidence[0].quote)
