"""The sample web as it is written down: its size, its links, its variety."""

from __future__ import annotations

import csv
import json
import re
from importlib.resources import files as resources
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from tablewright.sample.layouts import TITLES, render_page
from tablewright.sample.server import find_site_page
from tablewright.sample.site import SamplePage, read_topic
from tablewright.sample.world import sample_pages, sample_world

FOLDER = resources("tablewright.sample")


def visible(page: SamplePage) -> str:
    return re.sub(r"\s+", " ", page.text)


def test_the_world_is_large_enough() -> None:
    assert len(sample_world()) >= 40
    assert len(sample_pages()) >= 180
    assert {site.layout for site in sample_world().values()} == set(TITLES)


def test_the_world_is_small_enough() -> None:
    size = sum(
        len(path.read_bytes()) for path in chain(FOLDER.iterdir(), (FOLDER / "world").iterdir()) if path.is_file()
    )
    assert size < 400_000


def test_every_link_leads_to_a_page_of_this_world() -> None:
    for site in sample_world().values():
        for page in site.pages.values():
            for target in re.findall(r'href="([^"#]+)"', render_page(site, page)):
                parts = urlsplit(target)
                host = sample_world()[parts.netloc.split(".")[1]] if parts.netloc else site
                found = find_site_page(host, parts.path or "/")
                assert found is not None, f"{page.url} links to {target}"
                assert found.status in (200, 301, 403), f"{page.url} links to {target}"


def test_only_example_domains_are_named() -> None:
    for path in [*(FOLDER / "world").iterdir(), FOLDER / "truth.json"]:
        for host in re.findall(r"(?:https?://|www\.|@)([a-z0-9.-]+[a-z])", path.read_text(encoding="utf-8")):
            assert host.endswith(".example"), f"{path.name}: {host}"


def test_pages_look_different_from_site_to_site() -> None:
    frames = {
        layout: re.sub(r">[^<]*<", "><", render_page(site, SamplePage(site=site.name, path="/", title="A title")))
        for layout, site in {site.layout: site for site in sample_world().values()}.items()
    }
    assert len(set(frames.values())) == len(TITLES) == 9


def test_the_copies_of_the_press_release_have_the_same_text() -> None:
    wire = sample_world()["wirepost"].pages["/2025/sable-finch-visitor-centre"]
    copy = sample_world()["tradeleaf"].pages["/news/visitor-centre-vila-serrana"]
    assert wire.text == copy.text


def test_the_tables_name_what_the_truth_knows(truth: dict[str, Any]) -> None:
    companies = list(csv.DictReader((FOLDER / "companies.csv").read_text(encoding="utf-8").splitlines()))
    known = {(company["name"], company["country"], company["industry"]) for company in truth["companies"]}
    assert len(companies) == 12
    assert {tuple(row.values()) for row in companies} <= known
    kettles = list(csv.DictReader((FOLDER / "kettles.csv").read_text(encoding="utf-8").splitlines()))
    assert len(kettles) == 15
    assert {(row["Kettle"], row["Maker"]) for row in kettles} <= {(it["name"], it["maker"]) for it in truth["kettles"]}


def test_the_pages_of_every_trap_exist(truth: dict[str, Any]) -> None:
    known = {page.url for page in sample_pages()}
    assert {url for trap in truth["traps"] for url in trap["pages"]} <= known
    assert len({trap["id"] for trap in truth["traps"]}) == len(truth["traps"])
    assert all(trap["right"] for trap in truth["traps"])


def test_the_wrong_values_of_the_traps_really_lie_in_wait(truth: dict[str, Any]) -> None:
    by_url = {page.url: visible(page) for page in sample_pages()}
    for trap in truth["traps"]:
        texts = " ".join(by_url[url] for url in trap["pages"])
        assert all(str(value) in texts for value in trap.get("values", [])), trap["id"]


def test_the_shelf_with_desk_lamps_holds_two_things_that_are_none(truth: dict[str, Any]) -> None:
    lamps = {lamp["name"] for lamp in truth["lamps"]}
    listed = re.findall(r"\[([^\]]+)\]\(/p/", sample_world()["blotterandbeam"].pages["/lamps"].body)
    assert [name for name in listed if name not in lamps] == ["Pellbrook spare bulb E14", "Falenora Velo Terra"]
    assert len(listed) == 10


def test_two_lamps_differ_in_a_model_number_and_little_else() -> None:
    pages = sample_world()["yoizora"].pages
    one, other = (pages[f"/lamps/hoshi-l-{number}"].text.splitlines() for number in (40, 41))
    differing = [(a.partition(":")[0], b.partition(":")[0]) for a, b in zip(one[1:], other[1:], strict=True) if a != b]
    assert [label for label, _ in differing] == ["Correlated colour temperature", "Total luminous flux"]


def test_a_test_compares_seven_lamps_of_seven_makers(truth: dict[str, Any]) -> None:
    makers = {lamp["name"]: lamp["maker"] for lamp in truth["lamps"]}
    rows = re.findall(
        r"^\d \| ([^|]+) \|", sample_world()["theeveningdesk"].pages["/desk-lamps-tested"].text, re.MULTILINE
    )
    assert len({makers[name] for name in rows}) == len(rows) == 7


def test_no_two_makers_of_lamps_arrange_their_facts_alike() -> None:
    makers = read_topic("lamps")["maker"]
    assert len({tuple(maker["columns"]) for maker in makers}) == len(makers) == 8
    assert len({tuple(maker["labels"]) for maker in makers}) == 8


def test_structured_data_of_shops_agrees_with_the_page() -> None:
    site = sample_world()["copperpot"]
    (data,) = re.findall(r'ld\+json">(.*?)</script>', render_page(site, site.pages["/p/hearthline-degree-15"]))
    assert json.loads(data)["offers"] == {"price": "44.95", "priceCurrency": "GBP"}
