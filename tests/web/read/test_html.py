"""How the parts of a page become lines."""

from __future__ import annotations

import pytest

from tablewright.web.read import Reading, UnreadablePage, read_bytes


def page(body: str, head: str = "", url: str = "https://example.org/a/b.html") -> Reading:
    html = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return read_bytes(html.encode(), content_type="text/html; charset=utf-8", charset="utf-8", url=url)


def lines(body: str, head: str = "") -> list[str]:
    return page(body, head).text.split("\n")


def test_headings_and_paragraphs_stand_on_their_own_lines() -> None:
    assert lines("<h1>Acme</h1><p>Founded in\n 1990 by <b>Jo</b> Doe.</p><p>Second<br>third</p>") == [
        "Acme",
        "Founded in 1990 by Jo Doe.",
        "Second",
        "third",
    ]


def test_a_table_is_one_line_for_each_row_with_its_header_first() -> None:
    table = (
        "<table><thead><tr><th>Model</th><th>Weight</th><th>Price</th></tr></thead><tbody>"
        "<tr><td>A1</td><td>12 kg</td><td>$5</td></tr><tr><td>B2</td><td></td><td>$7</td></tr></tbody></table>"
    )
    assert lines(table) == ["Model | Weight | Price", "A1 | 12 kg | $5", "B2 |  | $7"]


def test_a_cell_that_spans_rows_or_columns_stands_in_each_of_them() -> None:
    table = (
        "<table><tr><th>Region</th><th>Town</th><th colspan=2>Codes</th></tr>"
        "<tr><td rowspan=3>North</td><td>Alta</td><td>ALF</td><td>ENAT</td></tr>"
        "<tr><td>Bodø</td><td>BOO</td><td>ENBO</td></tr>"
        "<tr><td>Narvik</td><td colspan=2>closed</td></tr>"
        "<tr><td>South</td><td>Oslo</td><td>OSL</td><td>ENGM</td></tr></table>"
    )
    assert lines(table) == [
        "Region | Town | Codes | Codes",
        "North | Alta | ALF | ENAT",
        "North | Bodø | BOO | ENBO",
        "North | Narvik | closed | closed",
        "South | Oslo | OSL | ENGM",
    ]


def test_spans_of_a_hostile_table_do_not_multiply_its_text() -> None:
    rows = "<tr><td rowspan=99999 colspan=99999>" + "x" * 300 + "</td><td>y</td></tr>" * 50
    assert len("".join(lines(f"<table><tr><th>A</th><th>B</th></tr>{rows}</table>"))) < 50_000


@pytest.mark.parametrize(
    "markup",
    [
        "<table><tr><td>Weight</td><td>12 kg</td></tr></table>",
        "<table><tr><th>Weight</th><td>12 kg</td></tr></table>",
        "<table><tr><td>Weight:</td><td><b>12</b> kg</td></tr></table>",
        "<table class=infobox><tr><th scope=row><a href=/w>Weight</a></th><td><p>12 kg</p></td></tr></table>",
        "<dl><dt>Weight</dt><dd>12 kg</dd></dl>",
        "<dl><div><dt>Weight</dt><dd>12 kg</dd></div></dl>",
        "<ul><li><b>Weight</b> 12 kg</li><li><b>Weight</b> 12 kg</li></ul>",
        "<div class=row><div class=spec-label>Weight</div><div class=spec-value>12 kg</div></div>",
        "<div><span class=label>Weight</span><span>12 kg</span></div>",
        "<p><span class=label>Weight</span> <em>12 kg</em> <small></small></p>",
        "<div><span>Weight:</span><span>12 kg</span></div>",
    ],
)
def test_a_label_and_its_value_become_one_line(markup: str) -> None:
    assert set(lines(markup)) == {"Weight: 12 kg"}


def test_a_row_of_several_pairs_becomes_several_lines() -> None:
    row = "<table><tr><th>Height</th><td>2 m</td><th>Weight</th><td>12 kg</td></tr></table>"
    assert lines(row) == ["Height: 2 m", "Weight: 12 kg"]


def test_a_list_inside_a_cell_stays_on_the_line_of_its_label() -> None:
    row = "<table><tr><th>Founders</th><td><ul><li>Ann Ray</li><li>Bo Lee</li></ul></td></tr></table>"
    assert lines(row) == ["Founders: Ann Ray; Bo Lee"]


def test_several_definitions_of_a_term_each_carry_it() -> None:
    assert lines("<dl><dt>Colour</dt><dd>red</dd><dd>blue</dd><dt>Size</dt><dd>XL</dd></dl>") == [
        "Colour: red",
        "Colour: blue",
        "Size: XL",
    ]


def test_prose_that_begins_with_bold_words_gets_no_colon() -> None:
    assert lines("<p><b>Acme</b> makes anvils.</p>") == ["Acme makes anvils."]


def test_a_table_used_for_layout_is_read_cell_by_cell() -> None:
    nested = (
        "<table><tr><td><h2>News</h2><p>One.</p></td><td><table><tr><td>Year</td><td>1990</td></tr></table></td></tr>"
    )
    assert lines(nested) == ["News", "One.", "Year: 1990"]


def test_a_long_cell_is_not_pressed_into_a_row() -> None:
    text = "A sentence of some length about the thing. " * 8
    assert lines(f"<table><tr><td>Left</td><td><p>{text}</p><p>{text}</p></td></tr></table>") == [
        "Left",
        text.strip(),
        text.strip(),
    ]


def test_neighbouring_elements_are_kept_apart_but_prices_and_powers_are_not() -> None:
    assert lines("<p><span>Price</span><span>$</span><span>12</span><span>.99</span></p>") == ["Price $12.99"]
    assert lines("<p>10<sup>6</sup> m<sup>2</sup></p>") == ["106 m2"]
    assert lines("<p><a href=a>Red</a><a href=b>Green</a></p>") == ["Red Green"]


def test_preformatted_text_keeps_its_lines() -> None:
    assert lines("<pre>a = 1\n  b = 2\n</pre>") == ["a = 1", "b = 2"]


def test_what_stands_around_the_main_text_is_left_out() -> None:
    prose = "The anvil weighs twelve kilograms and is made of steel by hand. " * 6
    body = (
        "<header><a href=/>Home page</a><p>Shop slogan</p></header>"
        "<nav><ul><li><a href=/x>Products</a></li><li><a href=/y>Prices list</a></li></ul></nav>"
        "<div class=breadcrumb><a href=/z>Path</a></div><div id=cookie-banner><p>We use cookies.</p></div>"
        f"<main><h1>Anvil</h1><p>{prose}</p><button>Add to cart</button></main>"
        "<aside>Popular <a href=/q>things</a></aside><div class='share-buttons'>Tweet this</div>"
        "<footer>Copyright 2024</footer>"
    )
    assert lines(body) == ["Anvil", prose.strip()]


def test_a_page_that_calls_everything_a_menu_or_a_header_is_still_read() -> None:
    prose = "The anvil weighs twelve kilograms and is made of steel. " * 10
    for wrapper in ("<div class=nav>{}</div>", "<div id=header>{}</div>", "<div class='sidebar'>{}</div>"):
        assert prose.strip() in page(wrapper.format(f"<p>{prose}</p>")).text


@pytest.mark.parametrize("around", ["<article>{}</article>", "<div>{}</div>"])
def test_a_box_of_facts_beside_the_text_stays(around: str) -> None:
    rows = "<tr><th>Founded</th><td>1990</td></tr><tr><th>Seat</th><td>Graz</td></tr>"
    prose = f"<p>{'Acme makes anvils. ' * 30}</p>"
    found = page(around.format(f"{prose}<aside><table>{rows}</table></aside><aside><p>Weather today</p></aside>")).text
    assert "Founded: 1990\nSeat: Graz" in found


def test_a_run_of_links_is_a_menu_but_links_of_the_main_text_stay() -> None:
    links = "".join(f"<p><a href=/{name}>{name}</a></p>" for name in ("Alpha", "Beta", "Gamma", "Delta"))
    prose = "<p>" + "A sentence about anvils. " * 20 + "</p>"
    assert "Alpha" not in page(f"<div>{links}</div><div>{prose}</div>").text
    assert "Alpha" in page(f"<main><div>{links}</div>{prose}</main>").text


def test_the_links_of_an_index_are_what_it_says() -> None:
    names = ["Aldergate Mills Ltd", "Brackley Tools plc", "Corran Glass Ltd", "Dunvale Foods plc", "Esk Yarns Ltd"]
    items = "".join(f'<li><a href="/b/{number}">{name}</a></li>' for number, name in enumerate(names))
    assert lines(f"<h1>All businesses</h1><ul>{items}</ul>") == ["All businesses", *names]


def test_the_same_link_at_every_item_is_left_out() -> None:
    items = "".join(
        f"<div><p>Item {n} costs ${n}.00 today</p><p><a href=/{n}>Read more</a></p></div>" for n in range(4)
    )
    assert lines(items) == [f"Item {n} costs ${n}.00 today" for n in range(4)]


def test_the_links_under_a_heading_of_related_things_are_left_out() -> None:
    body = (
        f"<h1>Anvil</h1><p>{'Made of steel. ' * 30}</p><h2>You may also like</h2><p><a href=/h>Hammer</a> $3</p>"
        "<h2>Details</h2><p>Weight 12 kg</p>"
    )
    assert lines(body)[2:] == ["Details", "Weight 12 kg"]


def test_facts_stated_for_machines_come_at_the_end_where_the_text_lacks_them() -> None:
    data = (
        '{"@context": "https://schema.org", "@type": "Product", "name": "Anvil", "brand": {"@type": "Brand", "name": '
        '"Acme"}, "sku": "AN-1", "weight": {"value": 12, "unitText": "kg"}, "offers": {"@type": "Offer", '
        '"price": "59.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}, '
        '"review": {"@type": "Review", "ratingValue": 1, "author": "Nobody"}}'
    )
    head = f'<script type="application/ld+json">{data}</script><meta name=description content="A very heavy anvil.">'
    assert lines("<h1>Anvil AN-1</h1><p>Solid.</p>", head) == [
        "Anvil AN-1",
        "Solid.",
        "Brand: Acme",
        "Weight: 12 kg",
        "Price: 59.90 EUR",
        "Availability: In Stock",
        "Description: A very heavy anvil.",
    ]


def test_named_properties_of_the_one_thing_of_a_page_are_facts_and_of_several_things_none() -> None:
    anvil = (
        '{"@type": "Product", "additionalProperty": [{"@type": "PropertyValue", "name": "Face width", "value": 8, '
        '"unitText": "cm"}, {"@type": "PropertyValue", "name": "Hardened", "value": true}]}'
    )
    one, two = (f'<script type="application/ld+json">[{", ".join([anvil] * count)}]</script>' for count in (1, 2))
    assert lines("<h1>Anvil</h1>", one) == ["Anvil", "Face width: 8 cm", "Hardened: yes"]
    assert lines("<h1>Anvil</h1>", two) == ["Anvil"]


def test_microdata_in_attributes_is_read_too() -> None:
    body = (
        "<div itemscope><h1>Anvil</h1><meta itemprop=brand content=Acme><meta itemprop=image content=http://x/y></div>"
    )
    assert lines(body) == ["Anvil", "Brand: Acme"]


def test_broken_or_endless_data_for_machines_does_no_harm() -> None:
    head = '<script type="application/ld+json">' + '{"a":' * 50_000 + "</script>"
    assert lines("<p>Text.</p>", head) == ["Text."]


def test_what_the_page_says_of_itself() -> None:
    head = (
        "<title> Anvil &amp; Co\n</title><link rel=canonical href='/anvil?id=1#top'>"
        "<meta property='article:published_time' content='2024-03-05T10:00:00Z'>"
    )
    html = f"<html lang=de-AT><head>{head}</head><body><svg><title>Icon</title></svg><p>Amboss</p></body></html>"
    found = read_bytes(html.encode(), content_type="text/html", charset="", url="https://example.org/x/")
    assert (found.title, found.canonical, found.language, found.published) == (
        "Anvil & Co",
        "https://example.org/anvil?id=1",
        "de",
        "2024-03-05",
    )


def test_the_date_is_read_from_data_for_machines_and_a_nonsense_date_is_none() -> None:
    script = '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2023-11-02"}</script>'
    assert page("<p>News</p>", script).published == "2023-11-02"
    assert page("<p>News</p>", "<meta name=date content=2023-99-02>").published == ""


def test_links_are_absolute_http_addresses_those_of_the_main_text_first() -> None:
    body = (
        "<nav><a href=/menu>Menu</a></nav><main><p>"
        "See <a href='c.html#part'>this</a>, <a href='//other.org/x'>that</a>, "
        "<a href='mailto:a@b.c'>mail</a>, <a href='javascript:void(0)'>js</a>, <a href='#top'>top</a>, "
        "<a href='http://[bad'>bad</a>, <a href='c.html'>again</a> and some more words of text.</p></main>"
    )
    assert page(body).links == ("https://example.org/a/c.html", "https://other.org/x", "https://example.org/menu")


def test_links_are_relative_to_the_base_and_at_most_200() -> None:
    body = "".join(f"<p><a href={n}.html>Link</a> number {n}</p>" for n in range(300))
    found = page(body, "<base href='/base/'>").links
    assert len(found) == 200
    assert found[0] == "https://example.org/base/0.html"


@pytest.mark.parametrize("html", ["<html></html>", "<script>x()</script>", "<div><img src=x></div>", "<!-- only -->"])
def test_a_page_without_text_is_unreadable(html: str) -> None:
    with pytest.raises(UnreadablePage, match="no text"):
        read_bytes(html.encode(), content_type="text/html", charset="", url="")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("<meta property='og:type' content='product.item'>", "", True),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "Product"}, {"@type": "WebSite"}]}</script>',
            "",
            True,
        ),
        ('<script type="application/ld+json">[{"@type": "Product"}, {"@type": "Product"}]</script>', "", False),
        ('<script type="application/ld+json">{"@type": "NewsArticle"}</script>', "", False),
        ('<script type="application/ld+json">{broken</script>', "", False),
        ("", "<div itemscope itemtype='https://schema.org/Product'>Anvil</div>", True),
        ("", "<i itemtype='http://schema.org/Product'>A</i><i itemtype='http://schema.org/Product'>B</i>", False),
    ],
)
def test_markup_says_whether_a_page_is_about_one_product(head: str, body: str, expected: bool) -> None:
    assert page(f"<p>Anvil</p>{body}", head).is_product is expected
