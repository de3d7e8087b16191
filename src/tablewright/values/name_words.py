"""What words are worth in a name. A word that is in none of these lists names something."""

from __future__ import annotations

import re

from tablewright.domain.rowkey import words

# May be there or not without changing what is meant. No single letters: "Vitamin A" and "Henry V" need them.
FILLER = words("an and by for of the with")
COLOUR = words("""
    beige bisque black blue bronze brown burgundy charcoal copper cyan gold graphite gray green ivory lavender
    magenta maroon navy orange pink purple red rose silver tan teal titanium turquoise violet white yellow
""")
# In front of a name, or anywhere, these make it another thing: "West Virginia", "Pro", "Junior".
VARIANT = words("""
    advanced anti basic central deluxe east eastern elite essential extended first full gold grand great greater junior
    lite little lower max micro mid mini nano neo new non north northeast northern northwest old plus post pre premier
    premium pro professional refurbished saint san second senior small south southeast southern southwest standard
    starter super third trial ultimate ultra upgrade upper west western
""")
# Beside a model number, or glued to its end, these are another model: "RTX 3080" and "RTX 3080 Ti".
EDITION = words("academic air fe lite max mini pro refurbished se super ti ultra upgrade xl xt")
SPELLING = {
    short: long
    for long, shorts in {
        "aluminum": "aluminium",
        "association": "assn assoc",
        "brothers": "bros",
        "center": "centre ctr",
        "color": "colour",
        "department": "dept",
        "gray": "grey",
        "international": "intl",
        "laboratories": "labs",
        "management": "mgmt",
        "manufacturing": "mfg",
        "mount": "mt",
        "national": "natl",
        "professional": "prof",
        "services": "svcs",
        "standard": "std",
        "theater": "theatre",
        "university": "univ",
        "volume": "vol",
    }.items()
    for short in shorts.split()
}
UNIT = {
    spelling: unit
    for unit, spellings in {
        "gb": "gb gigabyte gigabytes",
        "tb": "tb terabyte terabytes",
        "mb": "mb megabyte megabytes",
        "inch": "inch inches",
        "mm": "mm",
        "cm": "cm",
        "foot": "ft feet foot",
        "ounce": "oz ounce ounces",
        "pound": "lb lbs",
        "kg": "kg",
        "gram": "gr grams",
        "ml": "ml",
        "litre": "l litre liter litres liters",
        "watt": "w watt watts",
        "volt": "v volt volts",
        "ghz": "ghz",
        "mhz": "mhz",
        "dbi": "dbi",
        "pack": "pack pk ct count pcs",
        "user": "user users",
        "year": "year years yr",
        "port": "port ports",
    }.items()
    for spelling in spellings.split()
}
# Letters and digits that many products share: resolutions, connectors, memory standards, ordinals.
STANDARD = re.compile(
    r"\A(?:\d{3,4}[pi]|mp\d|h26\d|ddr\d\w*|pc\d\d*|usb\d+|sata\d*|80211\w*|lga\d+|socket\d+|cl\d+|win\d+|v\d+|"
    r"\d+(?:st|nd|rd|th)|\d+(?:x|k|bit|pin|rpm|fps|hz|mp|gbps|mbps|mbs|gbs|db|way|d|w|v|p)|\d+x\d+\w*|i[3579]\d*)"
)
