"""Messages that are no requirements: what is refused, what is off the topic, greetings, and those who say little.

What is refused here no model can allow: a kitchen knife, a toy gun, a bike lock "because mine was stolen" and
fake plants are fine; so is somebody who wants "no counterfeits".
"""

from __future__ import annotations

import re

from tablewright.table.untrusted import clean, gives_orders

LONGEST = 2_000
"""Characters of a message that are read."""


def tidy(message: str) -> str:
    """What a person wrote to us: one line, without sentences that are orders to a machine."""
    text = clean(message[:LONGEST]).replace("’", "'").replace("‘", "'").replace("`", "'").replace("–", "-")
    text = text.replace("|", " ").replace("—", ", ").replace(" w/ ", " with ")
    text = re.sub(r"(?<=[^\W\d]) - (?=[^\W\d])", ", ", text)
    text = _APOSTROPHE.sub(lambda found: found[0][: -len(found["end"])] + "'" + found["end"], text)
    kept = [part for part in _SENTENCE.split(text) if not gives_orders(part)]
    return " ".join(" ".join(kept).split())


_APOSTROPHE = re.compile(
    r"\b(?:i(?=m\b|d\b|ve\b)|what(?=s\b)|don(?=t\b)|doesn(?=t\b)|can(?=t\b)|won(?=t\b)|let(?=s\b)|isn(?=t\b)|"
    r"that(?=s\b))(?P<end>m|d|ve|s|t)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+")


# ── refused ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_HARMLESS_GUN = (
    r"(?<!toy )(?<!nerf )(?<!water )(?<!glue )(?<!nail )(?<!massage )(?<!heat )(?<!spray )(?<!caulking )(?<!caulk )"
    r"(?<!staple )(?<!grease )(?<!solder )(?<!soldering )(?<!label )(?<!paint )(?<!squirt )(?<!bubble )(?<!cap )"
    r"(?<!airsoft )(?<!sealant )(?<!silicone )(?<!tagging )(?<!price )(?<!foam )(?<!laser )(?<!tag )(?<!top )"
)
_NO_GUN_AFTER = (
    r"(?! ?(?:safes?|cabinets?|metal|grey|gray|toys?|nozzles?|attachments?|massager|mics?|microphones?|cases?|racks?))"
)
_MEDICINE = (
    r"(?:oxycodone|oxycontin|percocet|vicodin|xanax|alprazolam|valium|diazepam|adderall|ritalin|tramadol|codeine|"
    r"morphine|fentanyl|ozempic|wegovy|viagra|cialis|antibiotics?|amoxicillin|insulin|pills?|tablets? for|medications?|"
    r"medicines?|painkillers?|drugs?|sleeping tablets?|steroids?)"
)
_BRANDED = (
    r"(?:rolex|omega|gucci|prada|louis vuitton|chanel|nike|adidas|jordans?|yeezys?|designer|hermes|birkin|apple|"
    r"airpods|"
    r"branded|brand|cartier|burberry|watch(?:es)?|handbags?|bags?|trainers|sneakers)"
)
_REFUSED = (
    ("weapons",
     rf"\b{_HARMLESS_GUN}(?:guns?|pistols?|rifles?|shotguns?|revolvers?)\b{_NO_GUN_AFTER}|\b(?:handguns?|firearms?|"
     r"machine ?guns?|assault rifles?|ak-?47|ar-?15|glocks?)\b|\b(?:ammo|ammunition|live rounds|(?<!paint )grenades?|"
     r"(?<!bath )(?<!seed )(?<!cocoa )(?<!chocolate )bombs?|explosives?|detonators?|land ?mines?|rocket launchers?|"
     r"flick ?kni(?:fe|ves)|switch ?blades?|butterfly kni(?:fe|ves)|zombie kni(?:fe|ves)|knuckle ?dusters?|"
     r"brass knuckles|tasers?|stun guns?|gun (?:silencers?|suppressors?)|nerve agents?|chemical weapons?|weapons?)\b"),
    ("illegal drugs",
     r"\b(?:cocaine|heroin|crystal meth|meth(?:amphetamine)?|amphetamines?|mdma|ecstasy (?:pills?|tablets?)|lsd|"
     r"ketamine|"
     r"ghb|crack cocaine|magic mushrooms|psilocybin|cannabis(?! (?:print|motif))|marijuana|hashish|anabolic steroids?|"
     r"illegal drugs?|fentanyl)\b|\bweed\b(?! ?(?:killers?|control|whackers?|eaters?|barriers?|pullers?|membrane|"
     r"trimmers?"
     r"|burners?|removers?|wrench|fabric|mat|tool|kill))(?<!the weed)|\b(?:some|buy|of) (?:coke|crack|speed pills)\b"),
    ("prescription medicines without a prescription",
     rf"\b{_MEDICINE}\b[^.!?|]{{0,40}}\b(?:without|no|non)[ -](?:a |any )?(?:valid )?prescription|"
     rf"\b(?:without|no|non)[ -](?:a |any )?(?:valid )?prescription\b[^.!?|]{{0,40}}\b{_MEDICINE}\b|"
     r"\b(?:oxycodone|oxycontin|percocet|vicodin|xanax|alprazolam|valium|diazepam|adderall|ritalin|tramadol|"
     r"morphine)\b"),
    ("stolen goods",
     r"(?<!my )(?<!our )(?<!his )(?<!her )(?<!their )(?<!was )(?<!were )(?<!got )(?<!been )(?<!gets )(?<!being )"
     r"(?<!be )(?<!is )(?<!are )(?<!if )(?<!the )\bstolen\b(?! (?:from|last|yesterday|on|in|at|and|so|by|again)\b)|"
     r"\bstolen (?:goods|credit cards?|card numbers?|accounts?|passwords?|data)\b|"
     r"\bfell off (?:the back of )?a (?:lorry|truck)\b"),
    ("counterfeits and forged papers",
     r"\bcounterfeit(?:s|ed)?\b(?![^.!?]{0,20}\bdetect)|\bknock-?offs?\b|"
     r"\b(?:fake|forged|false)\s+(?:\w+\s+)?(?:ids?|passports?|driving licen[cs]es?|driver'?s licen[cs]es?|money|notes|"
     r"bank ?notes|degrees?|diplomas?|certificates?|prescriptions?|reviews?|number plates?)\b|"
     rf"\b(?:fake|replica)\s+{_BRANDED}\b"),
    ("things that are made to harm people or animals, or that no shop may sell",
     r"\b(?:hit ?man|contract killer|human organs?|human trafficking|ransomware|malware|spyware|stalkerware|"
     r"keyloggers?|"
     r"hacked accounts?|credit card dumps?|(?:signal|gps|phone|radar|wi-?fi) jammers?|rhino horns?|elephant ivory|"
     r"ivory tusks?|tiger (?:skins?|bones?)|pangolin|child (?:porn\w*|abuse \w+)|date[- ]rape|"
     r"poison (?:to|for) (?:kill|poison)\w* (?:my|a|some|the)[ -]?(?:wife|husband|boss|neighbou?r|person|man|woman|"
     r"someone|somebody|one|people))\b"),
)  # fmt: skip
_REFUSES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _REFUSED)
_NOT_WANTED = re.compile(
    r"\b(?:no|not|avoid|avoiding|without|never|nothing|isn't|don't want|aren't|against|non)\b[\w\s'-]{0,18}$",
    re.IGNORECASE,
)


def refused(text: str) -> str:
    """The category that we do not help to buy, or ""; what somebody does not want is not refused."""
    for name, pattern in _REFUSES:
        for found in pattern.finditer(text):
            if not _NOT_WANTED.search(text[: found.start()]):
                return name
    return ""


# ── little or nothing said ───────────────────────────────────────────────────────────────────────────────────────────

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|greetings|thanks|thank you|cheers|ok thanks|"
    r"yo)(?: there| again| all| everyone| so much| very much)?[\s,!.]*)+",
    re.IGNORECASE,
)
_SKIP = re.compile(
    r"\b(?:(?:just|please|let's|lets|can you|now) (?:go(?: ahead)?|search|start|look|find (?:me )?(?:something|some|"
    r"them|it)|show me(?: (?:some|what you (?:have|find)))?)|go ahead|go for it|search (?:now|already|for it|anyway)|"
    r"start (?:the )?(?:search|searching|now)|get on with it|(?:skip|enough|no more|stop) (?:the |with the |all the |"
    r"asking |these )?questions?|stop asking|that'?s (?:all|it|enough|everything)|nothing else|no more preferences|"
    r"skip(?: it| this| that)?$|proceed|do it|let's do (?:it|this)|i'm ready|ready when you are|"
    r"find something already)\b|^\W*(?:whatever|search|go|skip|"
    r"done|next|continue)\W*$",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\b(?:(?:it )?(?:does ?n[o']t|doesn't|does not|doesnt) (?:really )?matter|(?:i )?(?:do ?n[o']t|don't|dont|do not) "
    r"(?:really )?(?:know (?:much|a lot|anything|enough) about [\w ]+|(?:mind|care|know)(?! about))|no (?:preference|"
    r"idea|opinion|clue|strong feelings)s?|"
    r"not (?:sure|bothered|fussed|really)|(?:you|u) (?:choose|decide|pick)|your (?:choice|call|pick)|up to you|"
    r"(?:whatever|what|anything) you (?:think|like|suggest|recommend|say)|what (?:would|do) you (?:suggest|recommend|"
    r"think)|"
    r"surprise me|any(?: of them| will do| is fine| are fine|thing goes)?$|either(?: is fine)?$|none(?: of (?:them|"
    r"those))?$|"
    r"all the same to me|no particular)\b|^\W*(?:no|nope|nah|no thanks|nothing|n/a|idk|dunno|not really|anything)\W*$",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|fine|please do|of course)\b(?: please)?\W*",
    re.IGNORECASE,
)


def is_greeting(text: str) -> bool:
    return bool(text) and bool(_GREETING.fullmatch(text.strip()))


def without_greeting(text: str) -> str:
    found = _GREETING.match(text)
    return text[found.end() :] if found else text


def wants_to_search(text: str) -> bool:
    return bool(_SKIP.search(text))


def declines(text: str) -> bool:
    """No answer to our question, and none wanted: "doesn't matter", "you choose"."""
    return bool(_DECLINED.search(text))


def without_chatter(text: str) -> str:
    """Without the words that only wave a question away or ask to go on, which are no requirements."""
    return _CHATTER.sub(" | ", _DECLINED.sub(" | ", _SKIP.sub(" | ", _YES.sub("", text))))


_CHATTER = re.compile(
    r"\b(?:should (?:i|we) (?:buy|get|choose|pick|go for|take)|(?:would|do|can|could) you (?:recommend|suggest)|"
    r"i (?:guess|think|suppose|believe)|i'd say|stay with (?:the |a )?\w+)\b",
    re.IGNORECASE,
)


def is_yes(text: str) -> bool:
    return bool(_YES.fullmatch(text))


# ── off the topic ────────────────────────────────────────────────────────────────────────────────────────────────────

_ABOUT_US = re.compile(
    r"\b(?:who|what) (?:are|r) (?:you|u)\b|\bwhat(?:'s| is) your name\b|\bare you (?:a |an )?(?:human|bot|robot|real|"
    r"ai|"
    r"person|machine|chatgpt|chatbot)\b|\bwhat (?:can|do) you do\b|\bhow (?:do|does) (?:you|this) work\b|"
    r"\bwho (?:made|built|wrote) you\b|\bwhat (?:is|'s) this\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:weather|forecast for|joke|poem|song lyrics|capital of|president|prime minister|football score|who won|"
    r"what time is it|what day is it|meaning of life|stock market|translate|horoscope|how are you|recipe for|"
    r"write (?:me )?(?:a|an|some) (?:code|story|essay|email|program|poem|letter)|solve|homework|the news|"
    r"do you (?:like|love|sleep|dream|feel))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:who|whose|whom|what|what's|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|"
    r"have|which|tell me)\b",
    re.IGNORECASE,
)


def is_about_us(text: str) -> bool:
    return bool(_ABOUT_US.search(text))


def is_elsewhere(text: str) -> bool:
    return bool(_ELSEWHERE.search(text))


def is_question(text: str) -> bool:
    return bool(_ASKS.match(text)) or text.rstrip().endswith("?")
