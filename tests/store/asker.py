"""A separate process that searches as fast as it may: `python -m tests.store.asker URL ADDRESS PER_SECOND COUNT`"""

from __future__ import annotations

import asyncio
import sys

import httpx2

from tablewright.store.store import Store
from tablewright.web.search.provider import RetryingSearch, find_search_provider
from tablewright.web.source import Query


async def main(url: str, address: str, per_second: float, count: int) -> None:
    async with await Store.open(url) as store, httpx2.AsyncClient(trust_env=False) as client:
        provider = find_search_provider(f"searxng:{address}", api_key="", client=client)
        searching = RetryingSearch(provider, per_second=per_second, slots=store.shared_limits)
        await asyncio.gather(*(searching.search(Query(text=f"acme {number}")) for number in range(count)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])))
