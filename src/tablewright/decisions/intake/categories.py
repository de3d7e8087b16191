"""What people usually look at in common kinds of products: only words to ask with, never facts about any product."""

from __future__ import annotations

from functools import lru_cache

from tablewright.decisions.question.words import singular
from tablewright.table.model import Noun


class Category(Noun, frozen=True):
    """`matters` are offered as priorities, `features` as must-haves."""

    names: tuple[str, ...]
    matters: tuple[str, ...]
    features: tuple[str, ...]


ANY = Category(
    names=(), matters=("build quality", "ease of use", "price"), features=("a certain size", "a certain material")
)

_TABLE = """
kettle, teakettle: build quality, speed, capacity: variable temperature, a keep-warm function
lamp, light, desk lamp: brightness, adjustability, energy use: dimming, a USB port
laptop, notebook, ultrabook, chromebook: performance, battery life, weight: a certain screen size, 16 GB of memory
phone, smartphone, mobile, iphone: camera, battery life, size: 5G, a headphone jack
headphones, earbuds, earphones, headset: sound quality, comfort, battery life: noise cancelling, a wireless connection
bicycle, bike, ebike, e-bike: comfort, weight, durability: a certain frame size, disc brakes
car, van, suv, hatchback: reliability, running costs, space: a certain fuel, a manual or automatic gearbox
vacuum, vacuum cleaner, hoover: suction, noise, weight: a cordless design, a HEPA filter
tv, television, telly: picture quality, size, smart features: 4K, several HDMI ports
monitor, display: picture quality, size, refresh rate: 4K, USB-C
camera, dslr, camcorder: image quality, size, ease of use: stabilisation, weather sealing
printer: print quality, running costs, speed: scanning, Wi-Fi
tablet, ipad, e-reader, ereader: screen, battery life, weight: a stylus, mobile data
speaker, soundbar: sound quality, size, battery life: Bluetooth, water resistance
washing machine, washer, dryer, tumble dryer: energy use, capacity, noise: a quick programme, a delayed start
dishwasher: energy use, noise, capacity: a cutlery tray, a half load
fridge, freezer, refrigerator: energy use, capacity, noise: no-frost, a certain width
oven, cooker, hob, microwave, air fryer: capacity, ease of cleaning, energy use: a timer, a certain power
coffee machine, coffee maker, espresso machine: coffee quality, ease of cleaning, size: a milk frother, a grinder
toaster, blender, mixer, food processor: build quality, power, ease of cleaning: dishwasher-safe parts, several settings
mattress, bed, sofa, couch: comfort, durability, size: a certain firmness, a removable cover
chair, office chair: comfort, adjustability, build quality: lumbar support, armrests
desk, table: size, build quality, adjustability: height adjustment, drawers
watch, smartwatch, fitness tracker: battery life, accuracy, size: GPS, water resistance
shoes, boots, trainers, sneakers: comfort, durability, weight: a waterproof lining, a wide fit
backpack, bag, suitcase, rucksack, luggage: durability, capacity, weight: a laptop sleeve, a cabin size
jacket, coat: warmth, weight, durability: a hood, waterproofing
tent, sleeping bag: weight, weather protection, space: a certain number of persons, a quick set-up
drill, saw, lawnmower, mower, sander: power, weight, durability: a battery, a spare blade
pushchair, pram, stroller, car seat: safety, weight, ease of folding: a rain cover, a certain age range
router, modem: speed, range, ease of use: Wi-Fi 6, a guest network
knife, pan, pot, saucepan, frying pan: build quality, ease of cleaning, weight: induction, a certain material
heater, fan, air purifier, dehumidifier: noise, energy use, power: a timer, a remote control
hotel, flat, apartment, cottage: location, comfort, quiet: parking, breakfast
"""

_OTHERS = """book guitar piano keyboard mouse drone projector console game toy bottle mug cup plate towel blanket pillow
duvet curtain rug wardrobe shelf bookcase mirror clock radio turntable microphone webcam charger powerbank battery hdd
ssd cable motorcycle motorbike scooter helmet boat kayak surfboard skis snowboard racket ball treadmill dumbbell shirt
dress jeans trousers socks gloves hat scarf sunglasses glasses ring necklace perfume shampoo razor shaver toothbrush
hairdryer straightener iron thermometer scale grill barbecue wok grater juicer teapot cafetiere grinder hedge trimmer
hammer screwdriver ladder wrench generator greenhouse shed bench aquarium pram cot crib trombone violin telescope
binoculars umbrella wallet handbag thermostat doorbell lock safe tyre tire dashcam satnav trailer caravan sewing-machine
machine holiday ticket computer pc desktop""".split()
_PAIRS = frozenset(
    """headphones earphones earbuds glasses sunglasses jeans trousers scissors binoculars shoes boots trainers sneakers
    sandals slippers gloves socks skis tights shorts pliers tongs clippers curtains leggings goggles heels pyjamas
    dumbbells speakers blinds secateurs shears airpods tweezers""".split()
)


@lru_cache(maxsize=1)
def _categories() -> dict[str, Category]:
    found: dict[str, Category] = {}
    for line in _TABLE.strip().splitlines():
        names, matters, features = (tuple(part.strip() for part in cell.split(",")) for cell in line.split(":"))
        category = Category(names=names, matters=matters, features=features)
        found |= dict.fromkeys(names, category)
    return found


def category_of(product_type: str) -> Category:
    """By the longest ending of the name that is known: "gaming laptop" is a laptop."""
    parts = one_of(product_type.casefold()).split()
    known = _categories()
    return next((known[name] for at in range(len(parts)) if (name := " ".join(parts[at:])) in known), ANY)


def is_product(name: str) -> bool:
    """Whether the name ends in something that is known to be bought."""
    return category_of(name) is not ANY or head(name) in _OTHERS


def one_of(name: str) -> str:
    """ "desk lamps" → "desk lamp", but "headphones" and other pairs stay."""
    return name if name.rpartition(" ")[2].casefold() in _PAIRS else singular(name)


def is_pair(name: str) -> bool:
    return name.rpartition(" ")[2].casefold() in _PAIRS


def head(name: str) -> str:
    return one_of(name.casefold()).rpartition(" ")[2]
