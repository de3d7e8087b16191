"""What must never be reached is not reached: the worst network there is, where every address leads to the same server,
and every name is public unless a test says otherwise. What the guard lets through arrives at that server."""

from __future__ import annotations

import asyncio

import httpcore2
import httpx2
import pytest

from tablewright.domain.retrieved import Refusal
from tablewright.web.fetch.fetcher import Fetched, Fetcher, FetchPolicy
from tablewright.web.fetch.guard import AddressGuard, ForbiddenAddress, explain_not_public, resolve_by_system
from tests.web.fetch.site import PAGE, PUBLIC, Site, Wire, everything_is_public, redirect, resolver

NO_ROBOTS = FetchPolicy(robots=False, delay=0.0)

FORBIDDEN_ADDRESSES = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "169.254.0.1",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::10.0.0.1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:7f00:1::",
    "2001:2::1",
    "2001:db8::1",
    "2001:10::1",
    "3fff::1",
    "100::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "4000::1",
]
FORBIDDEN_HOSTS = [
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7F.0.0.1",
    "0x7f.1",
    "0x7f.0x1",
    "127.1",
    "127.0.1",
    "0177.0.0.1",
    "0177.1",
    "127.0.0.01",
    "0",
    "0x",
    "127.0.0.1.",
    "2130706433.",
    "134744072",
    "8.8",
    "256.256.256.256",
    "1.2.3.4.5",
    "example.0x7f",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "127.0.0.1%00.example.com",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "ⓛocalhost",
    "ｌｏｃａｌｈｏｓｔ",
    "app.localhost",
    "a.b.localhost.",
    "printer.local",
    "metadata.google.internal",
    "METADATA.google.INTERNAL.",
    "internal",
    "nas.lan",
    "router.home.arpa",
    "intranet",
    "example..com",
    ".example.com",
    "example.com..",
    "-",
    "exa mple.com",
    "example.com\\.evil.net",
    "[::1%25lo]",
    "[fe80::1%25eth0]",
    "[2606:4700::1111%25eth0]",
    "[::1",
    "[v1.fe80]",
]
FORBIDDEN_URLS = [
    "file:///etc/passwd",
    "file://example.com/etc/passwd",
    "gopher://example.com:70/_x",
    "ftp://example.com/x",
    "data:text/html,<p>hello",
    "javascript:alert(1)",
    "ws://example.com/",
    "unix:/var/run/docker.sock",
    "//example.com/page",
    "/page",
    "",
    "http://",
    "http:///page",
    "http:example.com",
    "http://user:secret@example.com/",
    "http://user@example.com/",
    "http://example.com@127.0.0.1/",
    "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://127.0.0.1\\example.com/",
    "http://example.com:22/",
    "http://example.com:25/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:-80/",
    "http://example.com:http/",
    "http://exam\tple.com/",
    "http://example.com/\r\nHost: 127.0.0.1",
]


async def assert_unreached(site: Site, url: str, resolve=everything_is_public) -> Refusal:  # type: ignore[no-untyped-def]
    wire = Wire(site)
    async with Fetcher(NO_ROBOTS, resolve=resolve, wire=wire) as fetcher:
        refusal = await fetcher.fetch(url)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "forbidden", refusal
    assert refusal.origin == url
    assert (site.asked, wire.dialled) == ([], [])
    return refusal


async def test_a_public_page_is_reached_at_the_address_that_was_checked(site: Site) -> None:
    wire = Wire(site)
    async with Fetcher(NO_ROBOTS, resolve=everything_is_public, wire=wire) as fetcher:
        page = await fetcher.fetch("http://www.example.com/page#part")
    assert isinstance(page, Fetched)
    assert page.final_url == "http://www.example.com/page"
    assert wire.dialled == [(PUBLIC, 80)]
    assert site.asked[0].headers["host"] == "www.example.com"


@pytest.mark.parametrize("address", FORBIDDEN_ADDRESSES)
async def test_an_address_that_is_not_public_is_not_fetched(site: Site, address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    await assert_unreached(site, f"http://{host}:{site.port}/")


@pytest.mark.parametrize("address", FORBIDDEN_ADDRESSES)
async def test_a_name_that_leads_to_such_an_address_is_not_fetched(site: Site, address: str) -> None:
    refusal = await assert_unreached(site, "http://www.example.com/", resolver([address]))
    assert refusal.detail.startswith(f"www.example.com leads to {address}, which is ")


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
async def test_a_host_in_disguise_is_not_fetched(site: Site, host: str) -> None:
    await assert_unreached(site, f"http://{host}:{site.port}/")


@pytest.mark.parametrize("url", FORBIDDEN_URLS)
async def test_an_address_that_is_not_of_the_web_is_not_fetched(site: Site, url: str) -> None:
    await assert_unreached(site, url)


@pytest.mark.parametrize("url", ["http://127.1:{}/", "http://2130706433:{}/", "http://localhost:{}/", "http://0:{}/"])
async def test_with_the_systems_own_lookup_and_connections_nothing_gets_through_either(site: Site, url: str) -> None:
    async with Fetcher(NO_ROBOTS) as fetcher:
        refusal = await fetcher.fetch(url.format(site.port))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "forbidden"
    assert site.asked == []


@pytest.mark.parametrize(
    "answers", [[PUBLIC, "127.0.0.1"], ["10.0.0.1", PUBLIC], [PUBLIC, "2606:2800::1", "::1"], ["nonsense"]]
)
async def test_one_private_address_among_public_ones_forbids_them_all(site: Site, answers: list[str]) -> None:
    await assert_unreached(site, "http://www.example.com/", resolver(answers))


async def test_a_name_that_turns_private_after_the_check_is_reached_where_it_was_checked(site: Site) -> None:
    wire = Wire(site)
    async with Fetcher(NO_ROBOTS, resolve=resolver([PUBLIC], ["127.0.0.1"]), wire=wire) as fetcher:
        assert isinstance(await fetcher.fetch("http://rebinding.example.com/"), Fetched)
    assert wire.dialled == [(PUBLIC, 80)]


async def test_a_name_that_turns_private_between_a_page_and_its_redirect_is_not_followed(site: Site) -> None:
    site.pages["/"] = redirect("http://rebinding.example.com/page", connection="close")
    wire = Wire(site)
    async with Fetcher(NO_ROBOTS, resolve=resolver([PUBLIC], ["127.0.0.1"]), wire=wire) as fetcher:
        refusal = await fetcher.fetch("http://rebinding.example.com/")
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, site.paths, wire.dialled) == ("forbidden", ["/"], [(PUBLIC, 80)])


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/page",
        "//127.0.0.1:{port}/page",
        "http://2130706433:{port}/page",
        "http://[::ffff:127.0.0.1]:{port}/page",
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:{port}/page",
        "http://www.example.com@127.0.0.1:{port}/page",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/page",
        "data:text/html,hello",
        "http://[::1/page",
        "http://example.com:22/",
    ],
)
async def test_a_redirect_to_where_we_may_not_go_is_not_followed(site: Site, location: str) -> None:
    async with Site({"/page": PAGE, "/latest/meta-data/": PAGE}).open() as private:
        site.pages["/"] = redirect(location.format(port=private.port))
        async with Fetcher(NO_ROBOTS, resolve=everything_is_public, wire=Wire(site)) as fetcher:
            refusal = await fetcher.fetch("http://www.example.com/")
        assert isinstance(refusal, Refusal)
        assert refusal.reason == "forbidden"
        assert (site.paths, private.asked) == (["/"], [])


async def test_robots_txt_is_not_asked_of_a_private_host(site: Site) -> None:
    wire = Wire(site)
    async with Fetcher(FetchPolicy(), resolve=resolver(["192.168.1.1"]), wire=wire) as fetcher:
        refusal = await fetcher.fetch("http://www.example.com/")
    assert isinstance(refusal, Refusal)
    assert (refusal.reason, refusal.detail) == (
        "forbidden",
        "www.example.com leads to 192.168.1.1, which is a private address",
    )
    assert (site.asked, wire.dialled) == ([], [])


async def test_tls_asks_for_the_name_though_the_connection_is_made_to_the_address() -> None:
    hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not hello.done():
            hello.set_result(await reader.read(4096))
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    wire = Wire(Site(port=server.sockets[0].getsockname()[1]))
    async with server, Fetcher(NO_ROBOTS, resolve=everything_is_public, wire=wire) as fetcher:
        refusal = await fetcher.fetch("https://www.example.com/")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "error"
    assert wire.dialled[0] == (PUBLIC, 443)
    assert b"www.example.com" in hello.result()


async def test_another_address_is_tried_where_the_first_does_not_answer(site: Site) -> None:
    class HalfDead(Wire):
        async def connect_tcp(self, host: str, port: int, *args: object, **options: object):  # type: ignore[no-untyped-def]
            if host != PUBLIC:
                raise httpcore2.ConnectError("no route")
            return await super().connect_tcp(host, port)

    wire = HalfDead(site)
    async with Fetcher(NO_ROBOTS, resolve=resolver(["2606:2800::1", PUBLIC]), wire=wire) as fetcher:
        assert isinstance(await fetcher.fetch("http://www.example.com/"), Fetched)


@pytest.mark.parametrize(
    ("allow", "host", "reached"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1:{port}", "127.0.0.1", True),
        ("127.0.0.1:1", "127.0.0.1", False),
        ("localhost", "localhost", True),
        ("LocalHost", "LOCALHOST", True),
        ("localhost", "127.0.0.1", False),
        ("localhost", "localhost.", False),
        ("localhost", "app.localhost", False),
        ("127.0.0.1", "127.1", False),
        ("127.0.0.1", "2130706433", False),
        ("127.0.0.1", "[::ffff:127.0.0.1]", False),
        ("::1", "[::1]", True),
        ("[::1]", "[::1]", True),
        ("[::1]:{port}", "[::1]", True),
        ("::1", "[0:0:0:0:0:0:0:1]", False),
        ("intranet", "intranet", True),
        ("", "intranet", False),
    ],
)
async def test_the_user_allows_a_private_host_in_one_spelling(site: Site, allow: str, host: str, reached: bool) -> None:
    policy = FetchPolicy(robots=False, allow=frozenset({allow.format(port=site.port)}))
    async with Fetcher(policy, resolve=resolver(["127.0.0.1"]), wire=Wire(site)) as fetcher:
        page = await fetcher.fetch(f"http://{host}:{site.port}/")
    assert isinstance(page, Fetched) is reached
    assert bool(site.asked) is reached


async def test_an_allowed_host_is_reached_over_the_systems_own_network(site: Site) -> None:
    async with Fetcher(FetchPolicy(allow=frozenset({"localhost", "127.0.0.1"}))) as fetcher:
        assert isinstance(await fetcher.fetch(f"{site.url}/page"), Fetched)
        assert isinstance(await fetcher.fetch(f"http://localhost:{site.port}/page"), Fetched)


@pytest.mark.parametrize("url", ["http://www.acme.example/page", "https://acme.example/page", "http://example:81/page"])
async def test_a_world_that_the_program_serves_itself_is_reached_by_name(site: Site, url: str) -> None:
    policy = FetchPolicy(names={"example": f"127.0.0.1:{site.port}"})
    async with Fetcher(policy) as fetcher:
        page = await fetcher.fetch(url)
    assert isinstance(page, Fetched)
    assert page.final_url == url
    assert site.asked[-1].headers["host"] == httpx2.URL(url).netloc.decode()


async def test_a_name_that_only_ends_alike_is_not_of_that_world(site: Site) -> None:
    policy = FetchPolicy(robots=False, names={"example": f"127.0.0.1:{site.port}"})
    async with Fetcher(policy, resolve=resolver(["127.0.0.1"])) as fetcher:
        assert isinstance(await fetcher.fetch("http://www.notexample/"), Refusal)
        assert isinstance(await fetcher.fetch("http://www.example.com/"), Refusal)
    assert site.asked == []


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "1.1.1.1", "100.63.255.255", "172.32.0.1", "2606:4700::1111"])
def test_addresses_of_the_public_internet_are_public(address: str) -> None:
    assert explain_not_public(address) == ""


def test_in_a_network_of_ipv6_only_the_address_inside_decides() -> None:
    assert explain_not_public("64:ff9b::8.8.8.8") == ""
    assert explain_not_public("64:ff9b::10.0.0.1") == "a private address"


@pytest.mark.parametrize(
    "url", ["https://example.com./", "http://müller.example.com/", "https://a_b.example.com:8443/", "http://8.8.8.8/"]
)
def test_ordinary_addresses_pass_the_first_gate(url: str) -> None:
    AddressGuard().check(httpx2.URL(url))


def test_the_guard_says_why() -> None:
    with pytest.raises(ForbiddenAddress, match=r"^127\.1 is an IP address in an unusual spelling$"):
        AddressGuard().check(httpx2.URL("http://127.1/"))


async def test_the_systems_lookup_gives_each_address_once() -> None:
    found = await resolve_by_system("localhost", 80)
    assert "127.0.0.1" in found or "::1" in found
    assert len(found) == len(set(found))
