"""A table over the REST API: sent, filled, applied, fetched. The server is `tablewright serve`.

python examples/rest_session.py http://127.0.0.1:8000 TOKEN
"""

import json
import sys

import httpx2

address, token = sys.argv[1:]
with httpx2.Client(base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=600) as api:
    rows = [{"Company": "Brightwater Foods"}, {"Company": "Kestrelworks"}]
    table = api.post("/tables", json={"name": "firms", "rows": rows}).json()["table_id"]
    asked = {"fields": ["Founded:number=What year was {Company} founded?"]}
    run = api.post(f"/tables/{table}/runs", json=asked).json()["run_id"]
    with api.stream("GET", f"/runs/{run}/events") as events:
        *_, last = (json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: "))
    applied = api.post(f"/proposals/{last['proposal_id']}/apply", json={}).json()
    print(last["status"], applied["applied"]["cells"])
    print(api.get(f"/tables/{table}/export", params={"format": "csv"}).text)
