"""Names of currencies: ISO 4217 codes, and the signs and words that mean them in texts. Data and patterns only."""

from __future__ import annotations

import re
from collections.abc import Iterable

CURRENCY_CODES: frozenset[str] = frozenset(
    """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CLF CLP CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD
    HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD
    MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG
    QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD
    TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL BTC ETH
    """.split()
)

_DOLLARS = "USD AUD CAD NZD HKD SGD TWD MXN BBD BMD BND BSD BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD"
_PESOS = "MXN ARS CLP COP CUP DOP PHP UYU"

# A sign or word with the currencies it may mean; without further information it means the first.
_SIGNS: dict[str, str] = {
    "$": _DOLLARS, "US$": "USD", "$US": "USD", "U.S.$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD",
    "Can$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD", "SG$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN",
    "Mex$": "MXN", "J$": "JMD", "TT$": "TTD", "Z$": "ZWL", "EC$": "XCD",
    "€": "EUR", "£": "GBP EGP FKP GIP LBP SHP SYP", "¥": "JPY CNY", "￥": "JPY CNY", "円": "JPY", "元": "CNY",
    "JP¥": "JPY", "CN¥": "CNY", "RMB": "CNY", "₹": "INR", "Rs": "INR PKR LKR NPR MUR SCR", "₨": "INR PKR LKR NPR",
    "₽": "RUB", "₩": "KRW", "원": "KRW", "₪": "ILS", "₫": "VND", "₴": "UAH", "₦": "NGN", "₱": "PHP", "฿": "THB",
    "₺": "TRY", "₸": "KZT", "₾": "GEL", "₡": "CRC", "₲": "PYG", "₵": "GHS", "₼": "AZN", "₿": "BTC", "֏": "AMD",
    "RM": "MYR", "Rp": "IDR", "kr": "SEK NOK DKK ISK", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "lei": "RON", "лв": "BGN",
    "руб": "RUB", "грн": "UAH", "Fr": "CHF", "SFr": "CHF", "R": "ZAR", "Dh": "AED MAD", "SR": "SAR", "KSh": "KES",
    "TL": "TRY", "Bs": "BOB VES", "S/": "PEN", "B/": "PAB", "GH₵": "GHS", "Tk": "BDT", "৳": "BDT",
}  # fmt: skip

_WORDS: dict[str, str] = {
    "dollar": _DOLLARS, "dollars": _DOLLARS, "bucks": "USD", "dólares": "USD", "dollari": "USD",
    "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "sterling": "GBP",
    "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "rupee": "INR PKR LKR NPR", "rupees": "INR PKR LKR NPR",
    "franc": "CHF XAF XOF", "francs": "CHF XAF XOF", "franken": "CHF", "peso": _PESOS, "pesos": _PESOS,
    "real": "BRL", "reais": "BRL", "won": "KRW", "ruble": "RUB", "rubles": "RUB", "rouble": "RUB", "roubles": "RUB",
    "krona": "SEK ISK", "kronor": "SEK", "krone": "NOK DKK", "kroner": "NOK DKK", "kronen": "NOK DKK", "zloty": "PLN",
    "zlotys": "PLN", "złoty": "PLN", "złotych": "PLN", "forint": "HUF", "forints": "HUF", "koruna": "CZK",
    "korun": "CZK", "lira": "TRY", "liras": "TRY", "shekel": "ILS", "shekels": "ILS", "rand": "ZAR", "baht": "THB",
    "ringgit": "MYR", "rupiah": "IDR", "dirham": "AED MAD", "dirhams": "AED MAD", "riyal": "SAR QAR OMR",
    "riyals": "SAR QAR OMR", "hryvnia": "UAH", "naira": "NGN", "dong": "VND", "taka": "BDT", "shilling": "KES TZS UGX",
    "shillings": "KES TZS UGX", "dinar": "KWD BHD JOD RSD", "dinars": "KWD BHD JOD RSD", "bitcoin": "BTC",
}  # fmt: skip

_NATIONS: dict[str, str] = {
    "us": "USD", "u.s.": "USD", "american": "USD", "canadian": "CAD", "australian": "AUD", "new zealand": "NZD",
    "hong kong": "HKD", "singapore": "SGD", "taiwan": "TWD", "swiss": "CHF", "british": "GBP", "egyptian": "EGP",
    "indian": "INR", "pakistani": "PKR", "sri lankan": "LKR", "nepalese": "NPR", "mexican": "MXN", "chilean": "CLP",
    "argentine": "ARS", "colombian": "COP", "philippine": "PHP", "danish": "DKK", "norwegian": "NOK",
    "swedish": "SEK", "icelandic": "ISK", "chinese": "CNY", "japanese": "JPY", "south korean": "KRW",
    "kuwaiti": "KWD", "serbian": "RSD", "saudi": "SAR", "qatari": "QAR", "omani": "OMR", "turkish": "TRY",
    "south african": "ZAR", "brazilian": "BRL", "russian": "RUB", "israeli": "ILS", "kenyan": "KES",
}  # fmt: skip

# With these currencies, a point separates thousands: "€1.234" is more often 1234 than 1.234.
POINT_GROUPED_CURRENCIES: frozenset[str] = frozenset(
    "EUR BRL DKK IDR TRY ARS CLP COP VND PLN SEK NOK ISK HUF RON CZK UYU".split()
)

CURRENCY_SYMBOLS = "$€£¥￥₹₨₽₩₪₫₴₦₱฿₺₸₾₡₲₵₼₿֏৳"

_MEANINGS: dict[str, tuple[str, ...]] = {
    **{name.casefold(): tuple(codes.split()) for name, codes in (_SIGNS | _WORDS).items()},
    **{code.casefold(): (code,) for code in CURRENCY_CODES},
    # Hundredths.
    **{
        name: tuple(codes.split())
        for name, codes in {"¢": _DOLLARS, "cent": "USD EUR", "cents": "USD EUR", "p": "GBP", "pence": "GBP"}.items()
    },
}


def _compile_marks() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a currency right after a position ("5 Canadian dollars") and right before one ("US$ 5",
    "Rs. 500", "USD1.2bn")."""
    # Codes are read in capitals, for "mad", "pen", "cup" and "try" are words; ALL and TOP are words even in capitals.
    written = "usd eur gbp inr chf cad aud jpy cny Usd Eur rs RS KR Kr"
    signs = {*_SIGNS, *(CURRENCY_CODES - {"ALL", "TOP"}), *written.split()}
    sign_before = _alternatives_pattern(signs, r"\.?")
    sign_after = _alternatives_pattern(signs, r"(?![^\W\d_])\.?")
    nation, word = _alternatives_pattern(_NATIONS, ""), _alternatives_pattern(_WORDS, r"\b")
    return (
        re.compile(rf"\s?(?P<mark>(?:(?i:{nation})\s+)?(?:{sign_after}|(?i:{word})))"),
        re.compile(rf"(?<![^\W\d_])(?P<mark>{sign_before})\s?$"),
    )


def _alternatives_pattern(names: Iterable[str], edge: str) -> str:
    """Return a pattern of the names, the longest first; after a name that ends in a letter, `edge` must follow."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name) + (edge if name[-1].isalpha() else "") for name in ordered)


CURRENCY_AFTER, CURRENCY_BEFORE = _compile_marks()
CENTS_AFTER = re.compile(r"\s?(?P<mark>¢|(?:[Cc]ents?|[Pp]ence|p)\b)")
# The longest mark is a nation and a noun, "south african rand".
MAX_MARK_CHARACTERS = 24


def is_currency(unit: str) -> bool:
    return parse_currency(unit) != ""


def parse_currency(text: str) -> str:
    """Return the ISO code that a code, sign or word means, or ""."""
    meanings = currency_meanings(text)
    return meanings[0] if meanings else ""


def currency_meanings(mark: str) -> tuple[str, ...]:
    """Return every currency that the mark may mean, the most usual first."""
    name = mark.strip().rstrip(".").casefold()
    found = _MEANINGS.get(name, ())
    if found or " " not in name:
        return found
    nation, _, noun = name.rpartition(" ")
    stated = _NATIONS.get(nation.strip())
    return (stated,) if stated and noun in _MEANINGS else ()
