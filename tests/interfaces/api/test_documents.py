"""Documents and questions about them, research and the advisor, over the wire."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tablewright.domain.shortlist import CONFIRM, ENRICH
from tablewright.errors import SearchError
from tablewright.store.database import Database
from tablewright.workflows.shortlist.research import ProductExploration
from tests.interfaces.api.using import Api
from tests.patience import PATIENCE

RECEIPT = b"Receipt\nDate: 2024-03-01\nItem: winter tires\nTotal: 412.50 EUR\n"


def hand_in(api: Api, *files: tuple[str, bytes], kind: str = "") -> Any:
    answer = api.send("POST", "/documents", files=[("files", file) for file in files], data={"kind": kind})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_documents_are_handed_in_asked_and_forgotten(api: Api) -> None:
    notes = [("note.txt", b"Nothing to see."), ("note.txt", b"Nothing here either.")]
    hand_in(api, ("receipt.txt", RECEIPT), kind="receipt")
    done = hand_in(api, *notes, ("broken.pdf", b"%PDF-1.7"))
    assert (done["added"], [each["name"] for each in done["unreadable"]]) == (2, ["broken.pdf"])
    assert sorted(each["name"] for each in done["documents"]) == ["broken.pdf", "note.txt", "note.txt"]
    everything = api.get("/documents")["documents"]
    receipt = next(each for each in everything if each["kind"] == "receipt")
    facts = api.get(f"/documents/{receipt['id']}/facts")["facts"]
    assert "412.50 EUR" in [fact["value"] for fact in facts]
    assert api.get("/documents", readable=False)["documents"][0]["problem"]

    ann = api.of("ann", "editor")
    assert ann.get("/documents")["documents"] == []
    for each in everything:
        api.put(f"/shares/document/{each['id']}", {"everyone": True})
    reply = ann.post("/ask", {"question": "all receipts that contain tires"})
    assert (reply["count"], reply["completeness"], reply["ledger"]["unreadable"]) == (1, "incomplete", 1)
    assert reply["citations"][0]["path"] == "receipt.txt"
    export = ann.send("GET", f"/results/{reply['result_id']}/export")
    assert "receipt" in export.text
    table = ann.post("/documents/table", {"name": "papers"}, 201)
    assert [each["id"] for each in ann.get("/tables")["tables"]] == [table["table_id"]]

    assert api.delete(f"/documents/{receipt['id']}")["removed"] == [receipt]
    assert api.refused(404, "GET", f"/documents/{receipt['id']}")
    for method, name in (("GET", "note.txt"), ("DELETE", "note.txt")):
        assert "uploads" not in str(api.refused(404, method, f"/documents/{name}"))  # nor are they told apart by place
    assert [each["path"] for each in api.delete("/documents/broken.pdf")["removed"]] == ["broken.pdf"]
    left = [path.name for path in (api.server.do(home) / "uploads").rglob("*.*")]
    assert sorted(left) == ["note.txt", "note.txt"]


def test_a_kind_that_a_title_suggests_is_called_so_and_set_for_ones_own_documents_alone(api: Api) -> None:
    ann, ben = api.of("ann", "editor"), api.of("ben", "editor")
    (hers,) = hand_in(ann, ("1.txt", b"Berth contract No. 1\n\nThe berth is let."))["documents"]
    ann.put(f"/shares/document/{hers['id']}", {"everyone": True})
    added = hand_in(ben, ("2.txt", b"Berth contract No. 2\n\nThe berth is let, too."))
    assert added["from_titles"] == 1
    kinds = {each["name"]: (each["kind"], each["kind_by"]) for each in ben.get("/documents")["documents"]}
    assert kinds == {"1.txt": ("", ""), "2.txt": ("berth contract", "title")}
    (group,) = (each for each in ben.get("/documents/tables")["tables"] if each["name"] == "berth contract")
    assert (group["members"], group["from_titles"]) == (1, 1)


async def home(services: Any) -> Path:
    folder: Path = services.settings.home_folder
    return folder


def test_documents_can_be_removed_while_their_list_is_read(api: Api) -> None:
    hand_in(api, *((f"{name}.pdf", b"%PDF-1.7 " + name.encode()) for name in "abc"))
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = api.get("/documents", limit=1, readable=False, after=after)
        (document,) = page["documents"]
        seen.append(document["name"])
        api.delete(f"/documents/{document['id']}")
        after = page["next"]
    assert sorted(seen) == ["a.pdf", "b.pdf", "c.pdf"]
    assert api.get("/documents") == {"documents": [], "next": None}


def test_documents_are_looked_up_by_conditions_and_their_kind_is_said(api: Api) -> None:
    hand_in(api, ("receipt.txt", RECEIPT), kind="receipt")
    (note,) = (each["id"] for each in hand_in(api, ("note.txt", b"Nothing to see."))["documents"])
    known = {each["name"]: each for each in api.get("/documents/tables")["tables"]}
    assert "Total" in {column["name"] for column in known["receipt"]["columns"]}
    dear = "kind = receipt and Total > 400 EUR"
    first = api.post("/ask", {"where": dear, "figure": "sum", "of": "Total"})
    assert ("412.50 EUR" in first["answer"], first["count"]) == (True, 1)
    listed = api.post("/ask", {"where": dear, "sort": "-Total", "conversation": first["conversation"]})
    assert [row["title"] for row in listed["rows"]] == ["receipt"]
    assert api.post("/ask", {"rest": True, "conversation": first["conversation"]})["rows"] == []
    assert "one of them" in api.refused(400, "POST", "/ask", json={"question": "all?", "where": dear})["message"]
    assert "Known are" in api.refused(400, "POST", "/ask", json={"where": "kind = receipt and colour = red"})["advice"]
    (kept,) = api.get("/conversations")["conversations"]
    assert (kept["conversation"], kept["title"]) == (first["conversation"], f"{dear}; sum of Total")

    assert api.put(f"/documents/{note}/kind", {"kind": "memo"})["kind"] == "memo"
    assert api.post("/ask", {"question": "how many memos are there?"})["count"] == 1


def test_the_five_tools_are_used_one_by_one(api: Api) -> None:
    hand_in(api, ("receipt.txt", RECEIPT), kind="receipt")
    (note,) = (each["id"] for each in hand_in(api, ("note.txt", b"Winter tires wear out."))["documents"])
    found = api.get("/retrieval/search_text", query="tires")["passages"]
    assert {each["name"] for each in found} == {"receipt.txt", "note.txt"}
    only = api.get("/retrieval/search_text", query="tires", documents=[note])["passages"]
    assert [each["name"] for each in only] == ["note.txt"]
    assert api.get("/retrieval/search_text", query="tires", categories=["long"])["passages"] == []
    near = api.get("/retrieval/search_vector", query="rubber for wheels", limit=1)
    assert near["completeness"] == "approximate"
    matches = api.get("/retrieval/annotations_search", where="kind = receipt and Total > 400 EUR")
    assert (matches["matched"], matches["matches"][0]["values"][0]["value"]) == (1, "412.50 EUR")
    summed = api.get("/retrieval/annotations_aggregate", figure="sum", of="Total", where="kind = receipt")
    (added,) = summed["groups"][0]["figures"]
    assert (added["value"], added["unit"], added["count"]) == ("412.5", "EUR", 1)
    assert added["documents"] == [matches["matches"][0]["document_id"]]
    exported = api.send("GET", "/retrieval/export_annotations_csv", params={"where": "kind = receipt", "show": "Total"})
    assert "412.50 EUR" in exported.text
    assert api.of("ann", "editor").get("/retrieval/search_text", query="tires")["passages"] == []


def test_a_question_is_asked_once_for_one_key(api: Api) -> None:
    hand_in(api, ("receipt.txt", RECEIPT))
    key = {"Idempotency-Key": "q-1"}
    first = api.post("/ask", {"question": "all receipts"}, headers=key)
    assert api.post("/ask", {"question": "all receipts"}, headers=key) == first
    assert api.post("/ask", {"question": "all receipts"})["conversation"] != first["conversation"]


def test_rows_are_found_watched_and_accounted_for(api: Api) -> None:
    asked = {"question": "electric kettles", "fields": ["Product", "Price:money"], "where": "Price < 40 GBP"}
    started = api.post("/find", {**asked, "fill": False}, 202)
    api.watch(started["run_id"])
    found = api.get(f"/tables/{started['table_id']}/found")
    assert (found["status"], found["by_model"]) == ("done", False)
    assert found["rows"] > 3
    assert "1 EUR = " in found["assumed"][0]
    assert any("wanted: Price < 40 GBP" in each["reason"] for each in found["aside"])
    more = api.post(f"/tables/{started['table_id']}/found", {"fill": False}, 202)
    assert more["table_id"] == started["table_id"]
    api.watch(more["run_id"])
    assert api.get(f"/tables/{started['table_id']}/found")["rows"] == found["rows"]


def test_research_is_started_watched_and_written_down(api: Api) -> None:
    ann = api.of("ann", "editor")
    asked = {"question": "When was Brightwater Foods founded?", "max_searches": 3}
    planned = ann.post("/research/plan", asked)
    assert planned["estimate"]["searches"] == 1
    brief = planned["brief"] | {"queries": ["Brightwater Foods history"]}
    started = ann.post("/research", asked | {"brief": brief}, 202)
    assert ann.refused(422, "POST", "/research", json=asked | {"brief": {"queries": 3}})["message"]
    assert ann.refused(400, "GET", f"/research/{started['research_id']}/report")["message"]
    told = ann.watch(started["run_id"])
    assert told[-1][1]["status"] == "done"
    found = ann.get(f"/research/{started['research_id']}")
    assert (found["run_id"], found["rounds"][0]["tasks"][0]["search_query"]) == (started["run_id"], brief["queries"][0])
    assert "1987" in str(found["report"]["sections"])
    for format, begins in (("md", b"#"), ("html", b"<!"), ("docx", b"PK"), ("json", b"{")):
        answer = ann.send("GET", f"/research/{started['research_id']}/report", params={"format": format})
        assert answer.content.startswith(begins)
        assert answer.headers["content-disposition"].startswith("attachment")
    assert [each["research_id"] for each in ann.get("/research")["researches"]] == [started["research_id"]]
    answered = ann.post(f"/research/{started['research_id']}/questions", {"question": "Who founded it?"})
    assert answered["question"] == "Who founded it?"
    assert ann.get(f"/tables/{started['table_id']}")["row_count"] > 0


def test_the_list_of_researches_does_not_read_their_reports(api: Api) -> None:
    started = api.post("/research", {"question": "When was Brightwater Foods founded?", "max_searches": 1}, 202)
    api.watch(started["run_id"])

    async def damage(services: Any) -> None:
        broken = text("UPDATE researches SET report = 'broken', answered = 'broken'")
        await services.store.database.write(lambda connection: connection.execute(broken))

    api.server.do(damage)
    (listed,) = api.get("/research")["researches"]
    assert (listed["research_id"], listed["status"]) == (started["research_id"], "done")


def test_the_list_of_shortlists_is_read_at_once_however_many_there_are(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    read = Database.read

    async def counted(self: Database, *arguments: Any, **options: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(self, *arguments, **options)

    monkeypatch.setattr(Database, "read", counted)
    taken = []
    for _ in range(2):
        for _ in range(3):
            api.post("/shortlists", {}, 201)
        reads = 0
        listed = api.get("/shortlists")["shortlists"]
        taken.append(reads)
    assert len(listed) == 6
    assert taken[0] == taken[1]


FORM = "/form product: electric kettle | budget: 60 GBP"


def wished(api: Api) -> str:
    """A conversation that waits for a confirmation; the path of its turns."""
    path = f"/shortlists/{api.post('/shortlists', {}, 201)['id']}/turns"
    assert CONFIRM in api.post(path, {"message": FORM})["reply"]["buttons"]
    return path


def test_the_table_of_a_turn_that_failed_is_its_makers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise SearchError("The search cannot be reached.")

    ann = api.of("ann", "editor")
    path = wished(ann)
    monkeypatch.setattr(ProductExploration, "run", fails)
    assert ann.refused(503, "POST", path, json={"message": CONFIRM})["type"] == "SearchError"
    (table,) = ann.get("/tables")["tables"]
    (listed,) = ann.get("/shortlists")["shortlists"]
    assert listed["table_id"] == table["id"]
    monkeypatch.undo()
    assert ann.post(path, {"message": CONFIRM})["shortlist"]["table_id"] == table["id"]


def test_one_turn_is_taken_at_a_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def slowly(*_: Any, **__: Any) -> Any:
        begun.set()
        assert await asyncio.to_thread(go_on.wait, PATIENCE)
        raise SearchError("The search cannot be reached.")

    path = wished(api)
    monkeypatch.setattr(ProductExploration, "run", slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.send, "POST", path, json={"message": CONFIRM})
        try:
            assert begun.wait(PATIENCE)
            assert api.refused(409, "POST", path, json={"message": CONFIRM})["type"] == "EditConflict"
        finally:
            go_on.set()
        assert first.result(PATIENCE).status_code == 503


def test_a_shortlist_goes_from_a_wish_to_a_table_of_ones_own(api: Api) -> None:
    ann = api.of("ann", "editor")
    begun = ann.post("/shortlists", {}, 201)
    path = f"/shortlists/{begun['id']}/turns"
    for message in (FORM, CONFIRM, ENRICH):
        turn = ann.post(path, {"message": message})
    assert turn["reply"]["cards"]
    assert turn["shortlist"]["phase"] == "advise", turn
    table_id = turn["shortlist"]["table_id"]
    assert [table["id"] for table in ann.get("/tables")["tables"]] == [table_id]
    assert [each["id"] for each in ann.get("/shortlists")["shortlists"]] == [begun["id"]]
    exported = ann.post(path, {"message": "/export ../../kettles.csv"})
    assert exported["reply"]["file"] == "kettles.csv"
    csv = ann.send("GET", f"/shortlists/{begun['id']}/files/kettles.csv")
    assert csv.text.count("\n") > 5
    assert api.of("eve", "editor").refused(404, "GET", f"/shortlists/{begun['id']}")
