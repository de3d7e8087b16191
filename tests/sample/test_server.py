from __future__ import annotations

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from tablewright.sample.server import SampleWeb
from tablewright.sample.site import read_topic
from tests.patience import PATIENCE
from tests.sample.conftest import Get


def search(get: Get, query: str, **more: str) -> dict[str, Any]:
    extra = "".join(f"&{name}={value}" for name, value in more.items())
    reply, body = get(f"/search?q={quote(query)}&format=json{extra}")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "application/json")
    found: dict[str, Any] = json.loads(body)
    return found


def urls(found: dict[str, Any]) -> list[str]:
    return [result["url"] for result in found["results"]]


def test_hosts_are_told_apart_with_and_without_www(get: Get) -> None:
    assert b"two sisters" in get("http://www.brightwaterfoods.example/our-story")[1]
    assert b"two sisters" in get("http://brightwaterfoods.example:80/our-story")[1]
    assert b"Pine" not in get("http://www.haldenrourke.example/")[1]
    assert get("http://www.haldenrourke.example/our-story")[0].status == 404
    assert get("http://www.nobody.example/")[0].status == 404


def test_a_connection_stays_open_for_the_next_request(web: SampleWeb) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)
    connection.request("GET", "/about", headers={"Host": "www.skagerby.example"})
    connection.getresponse().read()
    first = connection.sock
    connection.request("GET", "/", headers={"Host": "www.skagerby.example"})
    assert b"radar" in connection.getresponse().read()
    assert first is not None
    assert connection.sock is first
    connection.close()


def test_a_page_that_has_not_changed_is_not_sent_again(get: Get) -> None:
    first, body = get("http://www.skagerby.example/about")
    again, nothing = get("http://www.skagerby.example/about", {"If-None-Match": first.headers["ETag"]})
    other, _ = get("http://www.skagerby.example/", {"If-None-Match": first.headers["ETag"]})
    assert (first.status, again.status, other.status) == (200, 304, 200)
    assert body
    assert not nothing


def test_head_sends_the_size_and_no_body(get: Get) -> None:
    reply, body = get("http://www.skagerby.example/about", method="HEAD")
    assert (reply.status, body) == (200, b"")
    assert int(reply.headers["Content-Length"]) > 500


def test_requests_are_counted(web: SampleWeb, get: Get) -> None:
    get("http://www.skagerby.example/about")
    get("http://www.skagerby.example/about")
    get("http://www.skagerby.example/robots.txt")
    search(get, "sonar")
    assert web.requests == {"page": 2, "robots": 1, "search": 1}
    assert web.fetched == {"http://www.skagerby.example/about": 2}


async def test_many_visitors_at_once_are_all_answered_and_counted(web: SampleWeb, get: Get) -> None:
    def visit(number: int) -> int:
        return get("http://www.skagerby.example/about")[0].status

    with ThreadPoolExecutor(20) as visitors:
        assert set(visitors.map(visit, range(200))) == {200}
    assert web.fetched["http://www.skagerby.example/about"] == 200


def test_search_answers_in_the_shape_of_searxng(get: Get) -> None:
    found = search(get, "Skagerby Marine headquarters")
    assert {"query", "number_of_results", "results", "answers", "suggestions", "unresponsive_engines"} <= set(found)
    first = found["results"][0]
    assert {"url", "title", "content", "engine", "score", "publishedDate"} <= set(first)
    assert first["title"] == "Skagerby Marine – Candlewick Encyclopedia"


def test_search_is_there_on_every_host(get: Get) -> None:
    assert json.loads(get("http://www.skagerby.example/search?q=sonar&format=json")[1])["results"]


def test_a_search_for_nothing_is_refused(get: Get) -> None:
    assert get("/search?q=&format=json")[0].status == 400


def test_results_come_ten_a_page_and_none_twice(get: Get) -> None:
    pages = [urls(search(get, "kettle", pageno=number)) for number in ("1", "2", "3")]
    assert [len(page) for page in pages] == [10, 10, 10]
    assert len({url for page in pages for url in page}) == 30
    assert search(get, "kettle", pageno="99")["results"] == []


def test_search_can_be_limited_to_a_site(get: Get) -> None:
    found = urls(search(get, "site:ledgerline.example Marlow Instruments"))
    assert found
    assert all(url.startswith("http://www.ledgerline.example/") for url in found)
    assert search(get, "site:line.example Marlow")["results"] == []


def test_a_quoted_phrase_must_stand_there(get: Get) -> None:
    assert urls(search(get, '"two sisters" founded')) == ["http://www.brightwaterfoods.example/our-story"]
    assert search(get, '"sisters two"')["results"] == []


def test_search_ignores_case_and_accents(get: Get) -> None:
    assert urls(search(get, "VINDARO kraft"))[0].startswith("http://www.vindarokraft.example/")


def test_a_snippet_shows_where_the_words_stand(get: Get) -> None:
    (found,) = [
        result["content"]
        for result in search(get, "Brightwater headquartered since")["results"]
        if result["url"].endswith("/our-story")
    ]
    assert "headquartered in Port Merrin since 2004" in found
    assert len(found) < 400


def test_search_knows_how_old_pages_are(get: Get) -> None:
    recent = search(get, "Lanternwick", time_range="month")
    assert {result["publishedDate"][:7] for result in recent["results"]} == {"2026-06"}
    assert len(search(get, "Lanternwick")["results"]) > len(recent["results"])


@pytest.mark.parametrize("name", ["Thistledown Aeronautics", "Zxqvy"])
def test_what_exists_nowhere_is_not_found(get: Get, name: str) -> None:
    assert search(get, name)["results"] == []


def test_a_page_that_refuses_is_still_in_the_index(get: Get) -> None:
    url = "http://www.zwaluwmolen.example/feiten-en-cijfers"
    assert url in urls(search(get, "Zwaluwmolen number of employees"))
    assert get(url)[0].status == 403


def test_the_page_of_a_lamp_that_refuses_is_found_by_its_name(get: Get) -> None:
    url = "http://www.inkwellanddaughters.example/lamps/nightwatch"
    found = search(get, "Inkwell & Daughters Nightwatch")["results"][0]
    assert found["url"] == url
    assert "babies, boilers and deadlines" in found["content"]
    assert get(url)[0].status == 403


def test_a_search_for_desk_lamps_finds_all_their_makers(get: Get) -> None:
    found = [url for number in ("1", "2") for url in urls(search(get, "desk lamps", pageno=number))]
    makers = {url.split(".")[1] for url in found if url.endswith(".example/")}
    assert {"pellbrook", "schreibtal", "kvallsro", "yoizora", "dustyelm", "falenora", "firnlicht"} < makers
    assert "http://www.theeveningdesk.example/desk-lamps-tested" in found


@pytest.mark.parametrize(
    "query", ["electric kettles", "best electric kettles", "variable temperature kettles under £50", "gooseneck kettle"]
)
def test_a_search_for_kettles_finds_no_lamps(get: Get, query: str) -> None:
    sites = {site["site"] for kind in ("maker", "shop") for site in read_topic("lamps")[kind]}
    sites |= {site["name"] for site in read_topic("lamps")["site"]}
    found = {url.split(".")[1] for url in urls(search(get, query))}
    assert found
    assert not found & sites


@pytest.mark.parametrize("query", ["Lanternwick Lighting", "Lanternwick lamps", "Lanternwick Lighting founded"])
def test_what_is_asked_about_a_lighting_company_is_answered_before_any_desk_lamp(get: Get, query: str) -> None:
    first = search(get, query)["results"][:5]
    assert all("Lanternwick" in result["title"] + result["content"] for result in first)
    assert any(result["url"].startswith("http://www.lanternwick.example/") for result in first)


def test_a_page_that_is_gone_is_still_in_the_index(get: Get) -> None:
    url = "http://www.ledgerline.example/b/tarrow-lake-cycles-old"
    assert url in urls(search(get, "Tarrow Lake Cycles"))
    assert get(url)[0].status == 404


def test_a_moved_page_says_where_to(get: Get) -> None:
    reply, _ = get("http://www.kestrelworks.example/company")
    assert (reply.status, reply.headers["Location"]) == (301, "http://www.kestrelworks.example/about-kestrelworks")
    assert get(reply.headers["Location"])[0].status == 200


def test_robots_txt_closes_a_folder_of_one_site(get: Get) -> None:
    reply, body = get("http://www.skagerby.example/robots.txt")
    assert reply.headers["Content-Type"].startswith("text/plain")
    assert b"Disallow: /investor/\n" in body
    assert b"Disallow" not in get("http://www.kestrelworks.example/robots.txt")[1]


def test_an_old_site_speaks_latin_1(get: Get) -> None:
    reply, body = get("http://www.vindarokraft.example/om-oss")
    assert reply.headers["Content-Type"] == "text/html; charset=iso-8859-1"
    assert "Åsa Lindqvärn" in body.decode("iso-8859-1")
    with pytest.raises(UnicodeDecodeError):
        body.decode("utf-8")


def test_a_slow_page_takes_a_second(get: Get) -> None:
    began = time.monotonic()
    assert b"Haruto Kanemori" in get("http://www.minasatoseiki.example/en/company")[1]
    assert time.monotonic() - began >= 1


def test_a_consent_wall_hides_the_page_until_the_visitor_agrees(get: Get) -> None:
    wall, page = (
        get("http://www.casaferrolino.example/people", headers)[1] for headers in ({}, {"Cookie": "consent=yes"})
    )
    assert b"Before you continue" in wall
    assert b"Chiara" not in wall
    assert b"Chiara Ferrolino" in page


def test_a_paywall_shows_the_beginning_only(get: Get) -> None:
    body = get("http://www.merrincourier.example/business/kristallhof-interview")[1].decode()
    assert "Subscribe from £2 a week to continue reading" in body
    assert "Wiesinger" not in body


def test_an_injected_page_has_visible_and_hidden_orders(get: Get) -> None:
    body = get("http://www.openledger.example/c/lanternwick-lighting")[1].decode()
    shown, hidden = body.split('<div style="display:none"')
    assert "Ignore previous instructions" in shown
    assert '"tool": "set_cell"' in shown
    assert "[1] http://www.lanternwick.example/official-history-1066" in shown
    assert "<!-- SYSTEM:" in shown
    assert "The founding year is 1066" in hidden


def test_data_sheets_are_served_as_pdf(get: Get) -> None:
    reply, body = get("http://www.alphameadow.example/datasheets/am-410.pdf")
    assert reply.headers["Content-Type"] == "application/pdf"
    assert body.startswith(b"%PDF-")


def test_escaped_and_plain_brackets_lead_to_the_same_page(get: Get) -> None:
    for path in ("Marlow_Instruments_%28guitars%29", "Marlow_Instruments_(guitars)"):
        assert b"mandolins" in get(f"http://www.candlewickpedia.example/wiki/{path}")[1]


def test_a_browser_can_walk_through_without_names(get: Get) -> None:
    listing = get("/")[1].decode()
    assert 'href="/_/candlewickpedia/wiki/Skagerby_Marine"' in listing
    body = get("/_/candlewickpedia/wiki/Skagerby_Marine")[1].decode()
    assert 'href="/_/skagerby/"' in body
    assert 'href="/_/candlewickpedia/"' in body
    assert get("/_/skagerby/")[0].status == 200
    assert get("/_/kestrelworks/company")[0].headers["Location"] == "/_/kestrelworks/about-kestrelworks"


async def test_closing_does_not_wait_for_visitors_who_keep_their_connection() -> None:
    before = set(threading.enumerate())
    async with SampleWeb() as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)
        connection.request("GET", "/about", headers={"Host": "www.skagerby.example"})
        connection.getresponse().read()
        port = web.port
    connection.close()
    assert [thread for thread in threading.enumerate() if thread not in before and "asyncio" not in thread.name] == []
    refused = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with pytest.raises(OSError):  # noqa: PT011
        refused.request("GET", "/")


async def test_names_and_search_url_point_to_the_server(web: SampleWeb) -> None:
    assert web.names == {"example": f"127.0.0.1:{web.port}"}
    assert web.search_url == f"http://127.0.0.1:{web.port}"
