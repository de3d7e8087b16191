"""The names of currencies: ISO 4217 codes, and the signs and words that stand for them in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

CODES: frozenset[str] = frozenset(
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

# A sign or word, and the currencies it may mean: the first is what it means where nothing else is said.
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

# Hundredths that are written by a name of their own.
CENTS: dict[str, str] = {"¢": _DOLLARS, "cent": "USD EUR", "cents": "USD EUR", "p": "GBP", "pence": "GBP"}

_NATIONS: dict[str, str] = {
    "us": "USD", "u.s.": "USD", "american": "USD", "canadian": "CAD", "australian": "AUD", "new zealand": "NZD",
    "hong kong": "HKD", "singapore": "SGD", "taiwan": "TWD", "swiss": "CHF", "british": "GBP", "egyptian": "EGP",
    "indian": "INR", "pakistani": "PKR", "sri lankan": "LKR", "nepalese": "NPR", "mexican": "MXN", "chilean": "CLP",
    "argentine": "ARS", "colombian": "COP", "philippine": "PHP", "danish": "DKK", "norwegian": "NOK",
    "swedish": "SEK", "icelandic": "ISK", "chinese": "CNY", "japanese": "JPY", "south korean": "KRW",
    "kuwaiti": "KWD", "serbian": "RSD", "saudi": "SAR", "qatari": "QAR", "omani": "OMR", "turkish": "TRY",
    "south african": "ZAR", "brazilian": "BRL", "russian": "RUB", "israeli": "ILS", "kenyan": "KES",
}  # fmt: skip

# Where these are used a point separates thousands: "€1.234" is more often 1234 than 1.234.
POINT_GROUPS: frozenset[str] = frozenset("EUR BRL DKK IDR TRY ARS CLP COP VND PLN SEK NOK ISK HUF RON CZK UYU".split())

SYMBOLS = "$€£¥￥₹₨₽₩₪₫₴₦₱฿₺₸₾₡₲₵₼₿֏৳"

_MEANINGS: dict[str, tuple[str, ...]] = {
    **{name.casefold(): tuple(codes.split()) for name, codes in (_SIGNS | _WORDS).items()},
    **{code.casefold(): (code,) for code in CODES},
}

# Codes are read in capitals, for "mad", "pen", "cup" and "try" are words; ALL and TOP are words even in capitals.
_IN_TEXT = (
    (CODES - {"ALL", "TOP"}) | set("usd eur gbp inr chf cad aud jpy cny Usd Eur".split()) | {"rs", "RS", "KR", "Kr"}
)


def _any_of(names: Iterable[str], edge: str) -> str:
    """The names as alternatives, the longest first; where one ends in a letter, `edge` must follow."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name) + (edge if name[-1].isalpha() else "") for name in ordered)


_SIGN_BEFORE = _any_of({*_SIGNS, *_IN_TEXT}, r"\.?")
_SIGN_AFTER = _any_of({*_SIGNS, *_IN_TEXT}, r"(?![^\W\d_])\.?")
_WORD = _any_of(_WORDS, r"\b")
_NATION = _any_of(_NATIONS, "")

# A currency right after a position ("5 Canadian dollars") and right before one ("US$ 5", "Rs. 500", "USD1.2bn").
AFTER = re.compile(rf"\s?(?P<mark>(?:(?i:{_NATION})\s+)?(?:{_SIGN_AFTER}|(?i:{_WORD})))")
CENTS_AFTER = re.compile(r"\s?(?P<mark>¢|(?:[Cc]ents?|[Pp]ence|p)\b)")
BEFORE = re.compile(rf"(?<![^\W\d_])(?P<mark>{_SIGN_BEFORE})\s?$")
LONGEST_MARK = 24


def is_currency(unit: str) -> bool:
    return currency_of(unit) != ""


def currency_of(text: str) -> str:
    """The ISO code that a code, sign or word stands for, or "" where it is none."""
    meanings = meanings_of(text)
    return meanings[0] if meanings else ""


def meanings_of(mark: str) -> tuple[str, ...]:
    """Every currency the mark may mean, the most usual first."""
    name = mark.strip().rstrip(".").casefold()
    found = _MEANINGS.get(name) or tuple(CENTS.get(name, "").split())
    if found or " " not in name:
        return found
    nation, _, noun = name.rpartition(" ")
    stated = _NATIONS.get(nation.strip())
    return (stated,) if stated and noun in _MEANINGS else ()
