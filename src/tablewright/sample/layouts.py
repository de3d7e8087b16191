"""Nine layouts of sites, which wrap a page in navigation, banners, sidebars and footers as real sites do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape

from tablewright.sample.markup import markup_to_html
from tablewright.sample.site import Layout, SamplePage, Site

# Boilerplate of the kind that a reader of pages has to leave out.
COOKIES = (
    "We value your privacy. We and our 214 partners use cookies to store and access information on your device. "
    "You can accept all, reject all or manage your choices."
)
# The layouts join page and site in several ways, as real sites do: extraction must cope with all of them.
TITLES: dict[Layout, str] = {
    "plain": "{page} | {site}",
    "cards": "{site} – {page}",
    "frames": "{site}: {page}",
    "news": "{page} - {site}",
    "wiki": "{page} – {site}",
    "register": "{page} | {site}",
    "shop": "{page} – {site}",
    "app": "{page} · {site}",
    "board": "{site} :: {page}",
}


def render_page(site: Site, page: SamplePage) -> str:
    return _html_document(site, page_title(site, page), _LAYOUTS[site.layout](site, page), head=_head_tags(site, page))


def page_title(site: Site, page: SamplePage) -> str:
    """Return the title for the browser's title bar and search results."""
    return TITLES[site.layout].format(site=site.title, page=page.title)


def render_consent_wall(site: Site) -> str:
    """All that a visitor sees who has not agreed to anything yet."""
    return _html_document(
        site,
        f"{site.title} – before you continue",
        '<div class="wall"><h1>Before you continue</h1>'
        f'<p>{COOKIES}</p><form method="post"><button>Accept all</button> <button>Manage choices</button></form>'
        "<p>By accepting you agree to our terms of use and privacy policy.</p></div>",
    )


def _plain_layout(site: Site, page: SamplePage) -> str:
    return (
        f"<header><p>{escape(site.title)}</p><nav>{_menu_links(site, ' | ')}</nav></header>\n"
        f"<main><article><h1>{escape(page.title)}</h1>\n{markup_to_html(page.body)}</article></main>\n{_footer_html(site)}"
    )


def _cards_layout(site: Site, page: SamplePage) -> str:
    sections = re.split(r"(?=<h2>)", markup_to_html(page.body))
    cards = "\n".join(f'<section class="card">{section}</section>' for section in sections if section.strip())
    return (
        f'<div id="cookie-banner" role="dialog"><p>{COOKIES}</p><button>Accept all</button></div>'
        f'\n<div class="topbar"><a class="logo" href="/">{escape(site.title)}</a><ul><li>'
        f"{_menu_links(site, '</li><li>')}</li></ul></div>\n"
        f'<div class="hero"><h1>{escape(page.title)}</h1><p class="lead">{escape(site.tagline)}</p></div>\n'
        f'<div class="content">{cards}</div>\n{_footer_html(site)}'
    )


def _frames_layout(site: Site, page: SamplePage) -> str:
    """A site that has not been touched since tables held pages together."""
    return (
        f'<table width="100%" border="0" cellpadding="4"><tr><td colspan="2" bgcolor="#003366">'
        f'<font color="white" size="5">{escape(site.title)}</font><br>'
        f'<font color="white"><i>{escape(site.tagline)}</i></font></td></tr>\n'
        f'<tr><td valign="top" width="160">{_menu_links(site, "<br>")}</td>\n'
        f'<td valign="top"><h1>{escape(page.title)}</h1>\n{markup_to_html(page.body)}</td></tr>\n'
        f'<tr><td colspan="2" align="center"><small>{escape(site.footer)}</small></td></tr></table>'
    )


def _news_layout(site: Site, page: SamplePage) -> str:
    others = [other for other in site.pages.values() if other.byline and other.path != page.path][:4]
    related = "".join(f'<li><a href="{other.path}">{escape(other.title)}</a></li>' for other in others)
    byline = (
        f'<p class="byline">By {escape(page.byline)} · <time datetime="{page.published}">{page.published}</time></p>'
    )
    return (
        f'<div class="cookie">{COOKIES} <a href="#">Manage choices</a></div>\n'
        f'<header><a href="/">{escape(site.title)}</a> <span>{escape(site.tagline)}</span>'
        f"<nav>{_menu_links(site, ' ')}<a href='#'>Subscribe</a></nav></header>\n"
        f"<main><article><h1>{escape(page.title)}</h1>{byline if page.byline else ''}\n{markup_to_html(page.body)}"
        '<div class="share">Share this article: Mail · Link · Print</div></article>\n'
        f"<aside><h3>Most read</h3><ol>{related}</ol><h3>Newsletter</h3>"
        f"<p>The morning's business news in your inbox. <button>Sign up</button></p></aside></main>\n"
        f"{_footer_html(site)}"
    )


def _wiki_layout(site: Site, page: SamplePage) -> str:
    return (
        f'<div id="sidebar"><ul><li>{_menu_links(site, "</li><li>")}</li><li>Random article</li>'
        "<li>Recent changes</li></ul>"
        f'</div>\n<div id="content"><h1>{escape(page.title)}</h1><div id="siteSub">From {escape(site.title)}, '
        f'{escape(site.tagline)}</div>\n<div id="bodyContent">{markup_to_html(page.body)}</div>\n'
        f'<div class="catlinks">Last edited {page.published}. Text is available under the terms of this encyclopedia.'
        f"</div></div>\n{_footer_html(site)}"
    )


def _register_layout(site: Site, page: SamplePage) -> str:
    return (
        f'<header><h2>{escape(site.title)}</h2><form action="#"><input name="q"><button>Find a business</button>'
        f'</form></header>\n<div class="crumbs"><a href="/">All businesses</a> &rsaquo; {escape(page.title)}</div>\n'
        f'<div class="record"><h1>{escape(page.title)}</h1>\n{markup_to_html(page.body)}</div>\n'
        '<div class="ad">Is this your business? <a href="#">Claim this entry</a>. Advertise from $29 a month.</div>'
        f"\n{_footer_html(site)}"
    )


def _shop_layout(site: Site, page: SamplePage) -> str:
    return (
        f'<div class="promo">Free delivery on orders over 60</div><header><a href="/">{escape(site.title)}</a>'
        f'<nav>{_menu_links(site, " ")}</nav><a href="#">Basket (0)</a></header>\n'
        f'<div class="crumbs">Home / {escape(page.title)}</div>\n<main class="product"><h1>{escape(page.title)}</h1>\n'
        f'{markup_to_html(page.body)}<button class="buy">Add to basket</button></main>\n'
        f'<div class="newsletter">10 off your first order when you join our newsletter.</div>\n{_footer_html(site)}'
    )


def _app_layout(site: Site, page: SamplePage) -> str:
    return (
        f'<div id="root"><div class="nav"><div class="nav-in"><a href="/">{escape(site.title)}</a><div>'
        f'{_menu_links(site, "</div><div>")}</div><a class="cta" href="#">Start free</a></div></div>\n'
        f'<div class="view"><div class="title"><h1>{escape(page.title)}</h1></div><div class="body">'
        f'{markup_to_html(page.body)}</div></div>\n<div class="cta-band">Ready when you are. <a href="#">Talk to us</a>'
        f"</div>{_footer_html(site)}</div>\n<script>window.__state = {{}};</script>"
    )


def _board_layout(site: Site, page: SamplePage) -> str:
    return (
        f'<div class="head"><b>{escape(site.title)}</b> — {escape(site.tagline)} [{_menu_links(site, "] [")}]</div>\n'
        f'<div class="thread"><h1>{escape(page.title)}</h1>\n{markup_to_html(page.body)}</div>\n'
        f'<div class="rules">Be kind. Posts are the words of those who wrote them.</div>\n{_footer_html(site)}'
    )


_LAYOUTS: dict[Layout, Callable[[Site, SamplePage], str]] = {
    "plain": _plain_layout,
    "cards": _cards_layout,
    "frames": _frames_layout,
    "news": _news_layout,
    "wiki": _wiki_layout,
    "register": _register_layout,
    "shop": _shop_layout,
    "app": _app_layout,
    "board": _board_layout,
}


def _head_tags(site: Site, page: SamplePage) -> str:
    if site.layout == "news":
        return f'<meta property="article:published_time" content="{page.published}">'
    # Only product pages lie two folders deep; shelves and the home page have no structured data.
    # The first price of a shop's page becomes its structured data.
    price = re.search(r"([£€$])\s?(\d[\d,.]*)", page.text)
    if site.layout != "shop" or page.path.count("/") < 2 or not price:
        return ""
    offer = {"price": price[2], "priceCurrency": {"£": "GBP", "€": "EUR", "$": "USD"}[price[1]]}
    product = {"@context": "https://schema.org", "@type": "Product", "name": page.title, "offers": offer}
    return f'<script type="application/ld+json">{json.dumps(product, ensure_ascii=False)}</script>'


def _html_document(site: Site, title: str, body: str, *, head: str = "") -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="{site.charset}"><title>{escape(title)}</title>'
        f"{head}</head>\n<body>\n{body}\n</body></html>\n"
    )


def _menu_links(site: Site, between: str) -> str:
    entries = [(page.path, page.menu) for page in site.pages.values() if page.menu]
    return between.join(f'<a href="{path}">{escape(label)}</a>' for path, label in entries)


def _footer_html(site: Site) -> str:
    return (
        f"<footer><p>{escape(site.footer or f'© 2026 {site.title}. All rights reserved.')}</p>"
        '<p><a href="#">Privacy</a> · <a href="#">Terms</a> · <a href="#">Contact</a></p></footer>'
    )
