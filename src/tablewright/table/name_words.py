"""What words are worth in a name. A word that is in none of these lists names something."""

from __future__ import annotations

import re

from tablewright.table.rowkey import words

# May be there or not without changing what is meant. No single letters: "Vitamin A" and "Henry V" need them.
FILLER = words("an and by for of the with pc program restaurant ristorante software tm version")
# How a thing is packed and what it runs on, where that is a list: "(jewel case)", "Win 95 98 Me 2000 XP".
PACKAGING = re.compile(
    r"\bjewel case\b|\b(?:small|large|mini|retail) box\b|\b(?:cd|dvd)[ -]?rom\b|\bcomplete (?:package|product)\b|"
    r"\bfull version\b|\bwin(?:dows)?(?:[ ,/]+(?:95|98|98se|me|nt|2000|xp|vista|7|8|10|11)\b){2,}"
)
# Kinds and properties that many things share. They agree with everything, so their agreement says little.
GENERIC = words("""
    accessory adapter adjustable amplifier analog antenna audio automatic battery bluetooth board book burning
    camcorder camera card cartridge case cd changer channel charger class collection color compact complete computer
    control cordless cover desktop device digital disc disk display dock drive dual dvd earbuds edition electric
    electronics expandable external fax film filter flash flat for game games gaming glass hard hd hdtv headphones
    high home hotel inch ink inkjet integrated internal kit laptop laser lcd led lens light machine maker media
    memory microwave mini mobile model monitor motherboard mount mouse music network notebook optical original oven
    pack panel paper phone photo plasma player plus portable power printer processor production professional
    projection radio range receiver recorder remote replacement restaurant screen series server set single size slim
    solid sound speaker speakers stand state steel stereo storage suite system tablet technology telephone theater
    toner tool tools tower tuner turntable tv universal usb video wall washer webcam white widescreen wireless zoom
""")
# What is made for another thing and carries that thing's model number.
ACCESSORY = words("armband bag battery case charger cover cradle holster pouch protector refill skin sleeve strap")
COLOUR = words("""
    beige bisque black blue bronze brown burgundy charcoal copper cyan gold graphite gray green ivory lavender
    magenta maroon navy orange pink purple red rose silver tan teal titanium turquoise violet white yellow
""")
# In front of a name, or anywhere, these make it another thing: "West Virginia", "Pro", "Upgrade".
VARIANT = words("""
    academic advanced anti basic business central deluxe developer east eastern elite enterprise essential extended
    family first full gold grand great greater home junior lite little lower mac max micro mid mini nano neo new non
    north northeast northern northwest oem old plus post pre premier premium pro professional refurbished saint san
    second senior server small south southeast southern southwest standard starter student super teacher third trial
    ultimate ultra upgrade upper upsell west western windows
""")
# Beside a model number, or glued to its end, these are another model: "RTX 3080" and "RTX 3080 Ti".
EDITION = words("academic air fe lite max mini pro refurbished se super ti ultra upgrade xl xt")
# Ends a maker's or publisher's name in front of a title.
MAKER = words("""
    development electronics entertainment games interactive international media publishing software technologies
""")
SPELLING = {
    short: long
    for long, shorts in {
        "academic": "edu",
        "aluminum": "aluminium",
        "association": "assn assoc",
        "brothers": "bros",
        "center": "centre ctr",
        "color": "colour",
        "delicatessen": "deli",
        "deluxe": "dlx",
        "department": "dept",
        "gray": "grey",
        "international": "intl",
        "laboratories": "labs",
        "macintosh": "mac",
        "management": "mgmt",
        "manufacturing": "mfg",
        "mount": "mt",
        "national": "natl",
        "professional": "prof",
        "services": "svcs",
        "standard": "std",
        "theater": "theatre",
        "university": "univ",
        "upgrade": "upg",
        "volume": "vol",
        "windows": "win",
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
