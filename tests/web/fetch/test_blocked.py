from __future__ import annotations

import pytest

from tablewright.web.fetch.blocked import MAX_WALL_CHARACTERS, explain_block
from tests.growth import grows_in_proportion

CHALLENGE = "the site wants proof that a person is reading"
LOGIN = "the page can be read only after a login"
CONSENT = "the page can be read only after consenting to cookies"
PAYWALL = "the page can be read only by subscribers"
SCRIPT = "the page shows nothing without JavaScript"
EMPTY = "the page is empty"

ARTICLE = (
    "Acme Pumps was founded in 1987 by Ada Vale in a former dairy outside Leeds. It makes hand pumps, bilge pumps and "
    "spare parts for both, and ships them to some forty countries. In 2012 the firm moved into a larger hall, where "
    "210 people work today. Its best-known product, the P4, has hardly changed since the first year and is still sold "
    "with a spare gasket in the box. "
)
CAPTCHA_ARTICLE = (
    "A captcha is a test that tells people from programs. The word was coined in 2003 at Carnegie Mellon University. "
    "Early captchas showed distorted letters that machines could not read at the time; by 2014 machines read them "
    'better than people did. Newer ones ask the visitor to tick a box that says "I\'m not a robot" and judge the way '
    "the mouse moves. A page may then say: verify you are human. Critics point out that captchas keep out people who "
    "see badly, and that solving them has become a paid job in some countries. Some firms sell the solutions for less "
    "than a cent each."
)


def page(text: str, html: str = "<html></html>", status: int = 200, **headers: str) -> str | None:
    return explain_block(status, {name.replace("_", "-"): value for name, value in headers.items()}, html, text)


@pytest.mark.parametrize("status", [401, 402, 403, 407, 429, 451, 999])
def test_a_status_alone_can_say_it(status: int) -> None:
    why = page("", status=status)
    assert why is not None
    assert str(status) in why


@pytest.mark.parametrize("status", [400, 404, 410, 500, 502, 503])
def test_a_plain_error_is_not_a_refusal(status: int) -> None:
    assert page("", status=status) is None


@pytest.mark.parametrize(
    "html",
    [
        "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue",
        '<form id="challenge-form" action="/x">',
        "<script>window._cf_chl_opt={}</script>",
        "<p>Checking your browser before accessing the site.",
        '<script src="https://ct.captcha-delivery.com/c.js"></script>',
    ],
)
def test_a_503_with_a_challenge_is_a_refusal(html: str) -> None:
    assert page("", html, 503) == f"{CHALLENGE} (503)"


def test_a_missing_page_with_a_captcha_in_its_form_is_a_missing_page() -> None:
    assert page("", '<div class="g-recaptcha"></div>', 404) is None


@pytest.mark.parametrize(("name", "value"), [("CF-Mitigated", "challenge"), ("x-amzn-waf-action", "captcha")])
@pytest.mark.parametrize("status", [200, 202, 403])
def test_a_header_can_say_it(name: str, value: str, status: int) -> None:
    why = explain_block(status, {name: value}, "<html></html>", ARTICLE)
    assert why is not None
    assert why.startswith(CHALLENGE)


@pytest.mark.parametrize(
    "text",
    [
        "www.acme.com\nVerify you are human by completing the action below.\nwww.acme.com needs to review the security "
        "of your connection before proceeding.\nRay ID: 8a1b2c3d4e5f",
        "Are you a robot?\nPlease complete the CAPTCHA to go on.",
        "Our systems have detected unusual traffic from your computer network. Please try again later.",
        "Pardon Our Interruption\nAs you were browsing something about your browser made us think you were a bot.",
        "Press & Hold to confirm you are a human (and not a bot).",
        "Making sure you're not a bot! Loading...",
        "Request unsuccessful. Incapsula incident ID: 877000430156-1234",
        "Bitte bestätigen Sie, dass Sie kein Roboter sind.",
    ],
)
def test_a_challenge_is_seen(text: str) -> None:
    assert page(text) == CHALLENGE


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Security check", '<div class="cf-turnstile" data-sitekey="x"></div>'),
        ("", '<div id="px-captcha"></div>'),
        ("acme.com", "<script>_cf_chl_opt = 1</script>"),
    ],
)
def test_a_challenge_is_seen_in_its_markup(text: str, html: str) -> None:
    assert page(text, html) == CHALLENGE


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Log in to continue\nEmail\nPassword\nForgot your password?", ""),
        ("You must be logged in to view this page.", ""),
        ("Please sign in. New here? Create an account.", ""),
        ("Ada Vale | Join to view full profile. Managing director at Acme Pumps, Leeds.", ""),
        ("Bitte melden Sie sich an, um fortzufahren.", ""),
        ("Acme intranet", '<form><input name="p" type="password"></form>'),
        ("", "<form><input type=password></form>"),
    ],
)
def test_a_login_wall_is_seen(text: str, html: str) -> None:
    assert page(text, html) == LOGIN


@pytest.mark.parametrize(
    "text",
    [
        "Before you continue to Search\nWe use cookies and data to deliver our services.\nReject all\nAccept all",
        "We value your privacy. We and our 842 partners store and access information on a device, such as cookies, and "
        "process personal data, for personalised content. With your consent we and our partners may use precise "
        "location data. You may change your cookie preferences at any time. Your choices apply to this site only, and "
        "our partners are told of your consent through a standard of the trade. Some of our partners process your "
        "personal data without consent, on the grounds of a legitimate interest.\nManage options\nI agree",
        "Wir und unsere Partner benötigen Ihre Zustimmung.\nAlle akzeptieren",
        "Nous utilisons des cookies avec nos partenaires.\nContinuer sans accepter\nTout accepter",
    ],
)
def test_a_consent_wall_is_seen(text: str) -> None:
    assert page(text) == CONSENT


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Acme Pumps sold again\nThe maker of hand pumps has a new owner.\nSubscribe to continue reading.", ""),
        ("You have reached your limit of free articles this month.", ""),
        ("Acme verkauft\nJetzt abonnieren und weiterlesen", ""),
        ("Cet article est réservé aux abonnés.", ""),
        ("Acme Pumps sold again", '<script type="application/ld+json">{"isAccessibleForFree": false}</script>'),
    ],
)
def test_a_paywall_is_seen(text: str, html: str) -> None:
    assert page(text, html) == PAYWALL


@pytest.mark.parametrize(
    ("text", "html", "why"),
    [
        ("", "", EMPTY),
        (" \n ", "<html><body></body></html>", EMPTY),
        ("", '<div id="root"></div><script src="app.js"></script>', SCRIPT),
        ("You need to enable JavaScript to run this app.", '<div id="root"></div>', SCRIPT),
    ],
)
def test_a_page_with_nothing_on_it_is_seen(text: str, html: str, why: str) -> None:
    assert page(text, html) == why


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param(ARTICLE, "", id="an article"),
        pytest.param(CAPTCHA_ARTICLE, "", id="an article about captchas"),
        pytest.param(
            "CAPTCHA: a test by which a site makes visitors verify that they are human.", "", id="a short entry"
        ),
        pytest.param(ARTICLE + "We use cookies.\nAccept all\nReject all", "", id="a cookie banner under an article"),
        pytest.param(ARTICLE + "Log in to continue the discussion.", "", id="comments for members"),
        pytest.param(ARTICLE + "Already a subscriber? Sign in.", "", id="an offer under an article"),
        pytest.param(
            ARTICLE, '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>', id="behind Cloudflare"
        ),
        pytest.param(ARTICLE, '<div class="g-recaptcha"></div>', id="a captcha in the contact form"),
        pytest.param(ARTICLE, '<input type="password">', id="a login in the corner"),
        pytest.param(ARTICLE + "Please enable JavaScript to see the map.", "", id="a map that needs JavaScript"),
        pytest.param("Founded: 1987\nStaff: 210", "<p>Founded: 1987<p>Staff: 210", id="very short"),
        pytest.param("1987", "1987", id="one number"),
        pytest.param('{"founded": 1987}', "", id="JSON"),
        pytest.param(
            "Cookie policy. We use cookies to count visits. You can delete cookies in your browser at any time.",
            "",
            id="a cookie policy",
        ),
        pytest.param("The P4 hand pump. Login and register in the menu. Price: 45 EUR.", "", id="a menu"),
    ],
)
def test_a_page_is_a_page(text: str, html: str) -> None:
    assert page(text, html) is None


def test_a_page_with_much_text_is_judged_in_time_in_proportion_to_it() -> None:
    text = "We and our " * 200_000

    def judge(size: int) -> None:
        assert page(text[:size], "<p>" + text[:size]) is None
        assert page(text[: min(size, MAX_WALL_CHARACTERS)], "<p>" + text[:size]) is None

    assert grows_in_proportion(judge, len(text))
