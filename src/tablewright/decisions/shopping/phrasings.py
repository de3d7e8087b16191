"""How people say what they want next, once a comparison is in front of them. Patterns are tried on a message in lower
case, without greetings."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "a few": 3, "a couple": 2, "a couple of": 2, "a dozen": 12, "another": 1, "fifteen": 15, "twenty": 20,
}  # fmt: skip
_N = rf"(?:\d{{1,2}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_THINGS = (
    r"(?:options?|products?|ones?|models?|brands?|choices?|candidates?|results?|suggestions?|alternatives?|"
    r"recommendations?|picks?|{things})"
)
_TABLE = r"(?:table|list|comparison|shortlist|chart|results?|data|set|thing|picture|lot)"
_MEASURES = (
    r"(?:years?|months?|hours?|minutes?|litres?|liters?|watts?|kg|gb|cups?|lumens?|inch(?:es)?|"
    r"info\w*|details?|questions?|things?|expensive|power|time)"
)
_SHOPS = r"(?:shops?|stores?|retailers?|sellers?|stockists?|dealers?|websites?)"

GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|thanks?(?: you)?(?: (?:so|very) much| a lot)?|great|ok(?:ay)?|cool|perfect|nice(?: one)?"
    r"|good(?: (?:stuff|job|work))?|"
    r"right|well|so|alright|lovely|brilliant|awesome|super|hm+|um+|oh|ah|yes|yeah|yep|please|and|also|now|then"
    r"|but)\b[\s,.!;:–-]*)+",
    re.IGNORECASE,
)
ADVERBS = re.compile(
    r"\b(?:actually|really|also|just|maybe|probably|definitely|still|now|perhaps|then|please|simply|honestly|basically"
    r"|possibly|"
    r"i think|i guess|kindly|quickly)\b[\s,]*",
    re.IGNORECASE,
)
THANKS = _any(r"\b(?:thanks?|thank you|thx|cheers)\b")
ASKS = _any(
    r"^(?:which|what|what's|whats|how|is|are|was|does|do|did|can|could|would|will|has|have|who|whose|when|where|why"
    r"|should|isn't|aren't|doesn't)\b"
)

# ── unclear ──────────────────────────────────────────────────────────────────────────────────────────────────────────

HESITATES = re.compile(
    r"^(?:(?:h+m+|um+|uh+|er+|well|so|i'?m (?:really |still )?not (?:really |quite )?sure(?: (?:yet|what (?:to do"
    r"|i want)))?|not (?:really )?sure|(?:i(?:'ve| have) )?no idea|meh|i (?:really )?don'?t know(?: (?:yet"
    r"|what i want))?|dunno|"
    r"maybe|perhaps|possibly|idk|whatever|ok(?:ay)?|sure|yes|yeah|yep|no|nope|nah|cool|nice|great|good|fine|i see"
    r"|interesting|let me think(?: about it)?|"
    r"help|what|huh|eh|it depends|(?:i )?can'?t decide|difficult|tough(?: one)?|right|and|but|oh|ah|wow|really|hello"
    r"|hi|hey|go on|continue|next)[\s.!?…,]*)+$",
    re.IGNORECASE,
)
FRUSTRATED = _any(
    r"\b(?:useless|rubbish|terrible|awful|garbage|unhelpful|frustrat\w+|ridiculous|stupid|annoying|crap|pointless"
    r"|hopeless|disappoint\w+)\b",
    r"\bwaste of (?:my )?time\b|\bnot (?:very |at all )?helpful\b|\bdoesn'?t help\b|\bi give up\b|\bnot impressed\b"
    r"|\bfed up\b",
    r"\bnot what i (?:asked|wanted|meant|need|was looking)\b|\byou(?:'re| are)(?: just)? not (?:listening|helping"
    r"|getting)\b|\byou don'?t (?:get|understand|listen)\b",
    r"\bnone of (?:these|them|those|this)\b|\b(?:don'?t|do not) like any\b|\bi hate (?:this|these|all|them)\b"
    r"|\bthese are all (?:bad|wrong|too)\b|\bthis (?:is not|isn'?t) working\b",
)

# ── done ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

ENDS = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|cool|no|nope|yes|lovely|brilliant|super|excellent|alright|right|good"
    r"|nice)[\s,.!-]+)*"
    r"(?:thanks?(?: you)?|thx|cheers|ta|many thanks|much appreciated|appreciated?|done|finish(?:ed)?|quit|exit"
    r"|(?:good)?bye|end|stop|close|enough|sold|that'?s (?:perfect|great))"
    r"(?:[\s,]+(?:thanks?(?: you)?|cheers|(?:so|very) much|a lot|a million|you"
    r"|bye|goodbye|now|here|then|perfect|great|again|that'?s (?:all|it|great|perfect|very helpful"
    r"|helpful)(?: i need(?:ed)?)?|"
    r"very helpful|i'?m (?:done|good|all set)|for now|no more questions))*"
    r"(?:[\s,]+for (?:your|the|all|everything)[\w\s]*)?[\s.!]*$",
    re.IGNORECASE,
)
FINISHED = _any(
    r"\b(?:i'?m|i am|we'?re|we are)\s+(?:all\s+)?(?:done|finished|sorted|set|good(?: (?:now|thanks|to go))?"
    r"|sold)\b(?! (?:on|at|by|with (?:the|this) \w+ column))",
    r"\bthat(?:'s|s| is| will be|'ll be| would be) (?:all|it|everything|enough|the one)\b(?! (?:you|of)\b)"
    r"|\bthat(?:'s| is) what i needed\b",
    r"\bno (?:more|further|other) questions?\b|\bnothing (?:else|more)\b(?=[\s.!,]|$)|\bno,? (?:thanks|thank you"
    r"|that'?s)\b|\bwe can stop\b|\bit'?s settled\b|\bdecision made\b|\ball (?:done|sorted|set|good)\b"
    r"|\bi have (?:all|everything) i need\b",
    r"\b(?:made|made up|make) my (?:mind|decision|choice)\b|\bmy (?:choice|decision|mind) is made\b"
    r"|\bthat'?s me (?:done|sorted)\b|\bcase closed\b|\bi(?:'ve| have) decided[.!]?$",
)
CHOOSES = _any(
    r"\b(?:i'?ll|i will|we'?ll|we will|i(?:'m| am) (?:going to|gonna)|we(?:'re| are) going to|let'?s|let me"
    r"|i think i'?ll|i guess i'?ll|gonna)\s+(?:just\s+|probably\s+|definitely\s+)?"
    r"(?:take|go (?:with|for)|buy|get|order|pick|choose|grab|purchase|stick with|settle (?:on|for)"
    r"|have)\b(?! (?:a look|another|back|more|to know|some|\d))",
    r"\b(?:i(?:'ve| have)?|we(?:'ve| have)?)\s+(?:decided (?:on|for|to (?:go with|buy|take|get))|chosen|choose|chose"
    r"|picked|pick|settled on|ordered|bought)\b",
    r"\b(?:i(?:'m| am)|we(?:'re| are))\s+(?:going (?:with|for)|taking|buying|getting|choosing|ordering)\b"
    r"|^(?:going with|(?:buying|taking|getting|choosing|ordering) the)\b|\b(?:it is|it'?s)(?: then)?[.!]*$"
    r"|\bthat'?s the one\b|\bis the one(?: for me)?[.!]*$|\bsold on\b"
    r"|\bwins\b[.!]*$|\bis perfect\b|\bhappy with\b",
)

# ── links, export, the whole table ───────────────────────────────────────────────────────────────────────────────────

EXPORTS = _any(
    r"\bexport\w*\b|\b(?:csv|xlsx|xls)\b|\bas an? (?:excel|spreadsheet|file)\b|\b(?:to|in|into|for) (?:excel"
    r"|a spreadsheet|google sheets?|a file)\b|^(?:an? )?(?:excel|spreadsheet)\b",
    r"\b(?:save|download|write|dump|store)\b.*\b(?:it|this|that|them|table|list|comparison|results?|everything|file"
    r"|all|data|shortlist)\b|^download\b|\bsave (?:to|as)\b|\b(?:excel|spreadsheet) (?:file|version|please)\b"
    r"|\b(?:send|give|make|want|like|need|have|get)(?: me)? (?:the|a) (?:file|spreadsheet)\b",
)
FILE = re.compile(
    r"[\"“']([^\"”']+\.\w{2,8})[\"”']|((?<!\S)[~./][\w~./\\: -]*\.[a-z]\w{1,7})\b|"
    r"([\w~./\\:-]+\.(?:csv|tsv|xlsx|jsonl?|parquet))\b|"
    r"\b(?:to|as|in|into|called|named)\s+([\w~./\\:-]+\.[a-z]\w{1,7})\b|(?<!\S)([~.]*/[\w~./-]*\w)",
    re.IGNORECASE,
)
"""A path that begins like one may have blanks in it; a bare name with blanks is to be quoted. Whether a file of that
name can be written is not judged here."""
FORMAT = re.compile(
    r"\b(?:as|to|into|in)\s+(?:an?\s+)?(tsv|jsonl?|parquet|pdf|docx|html|xml|ods|markdown)\b", re.IGNORECASE
)
LINKS = _any(
    r"\bwhere (?:can|do|could|should|would|might|to|will)\b.*\b(?:buy|get|order|find|purchase|pick (?:it |one "
    r"|them )?up|shop)\b|\bwhere to (?:buy|get|order|find)\b|\bwhere(?:'s| is| are) .*\b(?:sold|cheapest|available"
    r"|in stock)\b",
    r"\blinks?\b(?!ed)|\burls?\b|\bbuying options\b|\b(?:web ?site|page)s? (?:for|of|where)\b|\bproduct pages?\b"
    r"|\bofficial (?:page|site|website)s?\b",
    rf"\b(?:who|which {_SHOPS}|what {_SHOPS}|any {_SHOPS}|does anyone|anyone) (?:sell\w*|stock\w*|ha(?:s|ve)|carr\w+"
    rf"|offers?)\b|\b{_SHOPS} (?:for|that|with|selling|near|to)\b|\b(?:in|at|from)(?: any| which| what)? {_SHOPS}\b"
    rf"|\bshow (?:me )?{_SHOPS}\b",
    r"\b(?:in|out of) stock\b|\bstock (?:levels?|status)\b|\bstill (?:available|on sale|sold|cost\w*|for sale)\b"
    r"|\bfor sale\b|\bavailability\b|\bavailable (?:now|anywhere|today|online|to buy|in (?:the )?(?:uk|us|usa|eu"
    r"|shops?|stores?|europe|germany|france|ireland|london|my|canada))\b|\b(?:is|are) (?:it|they"
    r"|the \S+(?: \S+)?) available\s*\??$",
    r"\b(?:current|latest|today'?s|live|up.to.date|newest) prices?\b|\b(?:check|recheck|re-check|double.?check"
    r"|refresh|update|verify)\b.*\b(?:prices?|stock|availability)\b|\bprices? (?:again|now|today|right now)\b"
    r"|\bprices?\b.*\b(?:changed?|dropped|risen|gone (?:up|down))\b|\bstill (?:at )?[£$€]\s?\d",
    r"\bhow (?:do|can|could|would) (?:i|we|you) (?:buy|order|get (?:it|one|them|the)|purchase)\b|\b(?:i|we)(?:'d"
    r"| would)? (?:want|like|love|'d like)(?: to)? (?:buy|order|purchase)\b|\bready to (?:buy|order)\b"
    r"|\bplace an order\b|\bcan i (?:buy|order|get)\b",
    r"\b(?:any|current|special|good|best) (?:deals?|discounts?|offers?)\b|\bon (?:sale|offer)\b|\bdiscount(?:s|ed)?\b"
    r"|\bcheapest (?:place|shop|store|retailer|seller|offer)\b|\bbest (?:price|deal) (?:for|on)\b|\bbuy (?:it|them"
    r"|that|this|one|the)\b|\bpurchase options\b",
    r"\bdeliver(?:y|ed|ies)?\b|\bshipping\b|\b(?:on|from|at) (?:amazon|ebay|argos|currys|john lewis|walmart|best buy"
    r"|target|halfords)\b",
)
SHOWS_ALL = _any(
    rf"\b(?:whole|full|entire|complete) {_TABLE}\b|\b(?:show|see|display|view|print)(?: me| us)? (?:the|that|this|my"
    r"|your) (?:table|comparison|list)\b",
    r"\b(?:show|see|list|display|give|view|print)(?: me| us)? (?:all|everything|every (?:one|single|row|{things})"
    r"|the (?:rest|remaining|others in the table)|them all)\b",
    r"^(?:i want (?:to see )?|can i see |let me see )?(?:all(?: of)?(?: (?:them|it|these|those))?|everything|the rest"
    r"|all \d+)(?: please)?[\s.!?]*$",
    r"\ball (?:\d+ |the |of the |your )*(?:{things}|products|options|candidates|results|rows|columns|models"
    r"|ones)\b(?! (?:like|similar))",
)
NARROWS = _any(r"\b(?:under|below|with|without|that|which|over|less than|more than|cheaper|between|at least|made)\b")

# ── what is wrong, what is missing ───────────────────────────────────────────────────────────────────────────────────

FLAGS = _any(
    r"\b(?:wrong|incorrect|inaccurate|mistaken?|erroneous|error|typo|misleading|nonsense)\b|\b(?:not|isn'?t|aren'?t"
    r"|wasn'?t|ain'?t) (?:right|correct|true|accurate|what (?:the|it) \w+ says?)\b",
    r"\bcan(?:no|')?t be (?:right|correct|true|real|accurate|that)\b|\bcannot be\b|\b(?:doesn'?t|don'?t) (?:look|seem"
    r"|sound) (?:right|correct|plausible)\b|\b(?:looks?|seems?|sounds?) (?:off|odd|wrong|suspicious|fishy|implausible"
    r"|too (?:high|low|good|small|large|big|heavy|light|cheap))\b",
    r"\bout ?dated\b|\bout of date\b|\b(?:fix|correct) (?:the|that|this)\b|\bshould (?:say|read)\b|\b(?:double.?"
    r"|re-?)check\b|\bcheck\b.*\bagain\b|\blook\b.*\bup again\b|\b(?:i )?doubt (?:that|the|it)\b|\bnot believe\b"
    r"|\bdon'?t (?:believe|trust) (?:the|that)\b|\bflag\b",
    r"\b(?:is|are|weighs|costs|holds|lasts)\b[^?]*\d[^?]*\bnot\s+[£$€]?\d|\b(?:is|are|weighs|costs|holds|has"
    r"|it's) actually\b|\bactually (?:is|are|weighs|costs|holds)\b",
)
NOT_FLAGS = _any(
    r"\bi was wrong\b|\bmy (?:mistake|bad|error)\b|\bi (?:made|meant)\b|\bwhat(?:'s| is) wrong with\b|\bgoes? wrong\b"
    r"|\bwrong (?:size|one|product) for me\b|\berror (?:codes?|display)\b|\bmy budget\b"
)
WHY_NOT = _any(
    r"\bwhy (?:not|isn'?t|is not|wasn'?t|aren'?t|are not|weren'?t|no|did not|didn'?t|does not|doesn'?t|don'?t|hasn'?t"
    r"|haven'?t)\b(?=.*\w)",
    r"\bwhy (?:is|was|are|were|has|have|did|do)\b.*\b(?:missing|excluded?|left out|leave|leave out|off the list|gone"
    r"|dropped?|removed?|rejected?|ruled? out|not (?:on|in|there|listed|included|shown|first)|so low|skipp?e?d?"
    r"|filtered|last)\b",
    r"\bhow come\b.*(?:n'?t|not|missing|\bno\b|excluded|left out|dropped|removed|gone)|\bwhat(?:'s| is) wrong with\b"
    r"|\bwhat happened to\b|\bwhere did\b.*\bgo\b|\b(?:isn'?t|not|missing|absent) (?:on|in|from|among) (?:the|your"
    r"|this) (?:list|table|shortlist|top|comparison|results)\b",
    r"\b(?:you|did you) (?:forgot|forget|missed|miss|leave out|left out|exclude|excluded|skipped|overlooked"
    r"|overlook)\b|\bi (?:don'?t|can'?t|cannot) see the\b|\bdidn'?t make (?:it|the)\b|\b(?:isn'?t|wasn'?t) (?:listed"
    r"|included|shown|recommended)\b"
    r"|\bwhat about the (?P<name>[A-Z0-9]\S*(?: [A-Z0-9]\S*)*)\s*\?*$",
)

# ── more ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BETTER = (
    r"(?:cheaper|smaller|bigger|larger|lighter|quieter|faster|better|brighter|simpler|newer|sturdier|nicer|stronger|"
    r"longer|shorter|taller|more \w+|less \w+|similar|comparable|different|other|alternative|new|further|additional|"
    r"extra)"
)


def more_options(things: str) -> re.Pattern[str]:
    """`things` is what the products are called, as a pattern."""
    named = _THINGS.replace("{things}", things)
    return _any(
        rf"\b{_N}\s+(?:more|others?|additional|extra|further|new|different|similar|alternatives?"
        rf"|cheaper)\b(?!\s*{_MEASURES}\b)",
        rf"\b{_N}\s+(?:more\s+)?{named}\s+(?:like|similar to|such as)\b|\b(?:find|show|get|give|suggest)(?: me"
        rf"| us)?\s+{_N}\s+(?:\w+\s+)?{named}",
        r"\b(?:any|some|several|many|even)\s+(?:more|others?|additional|extra|further"
        rf"|alternatives?)\b(?!\s*{_MEASURES}\b)|\bmore\s+(?:\w+\s+)?{named}\b|\bmore (?:like|of (?:these|those|them"
        r"|the same)|to (?:choose|pick) from)\b|\b(?:the )?next (?:\d+|five|ten|three|few|ones)\b|\bmore in (?:this"
        r"|that) (?:style|range|price)\b",
        r"\bare there (?:any )?more\b|^(?:show|give|find|get|see|i want|want)?\s*(?:me|us)?\s*(?:some |a few "
        r"|even )?more(?: please)?[\s.!?]*$",
        r"\b(?:any|some|show|find|see|get|give|are there|is there|have you got|do you have|got|look for|search for"
        r"|suggest|what|want|need|a|me|the)\s+(?:me\s+|any\s+|some\s+|an?\s+|the\s+"
        rf"|for\s+)*(?:other\s+)?{_BETTER}\s+{named}\b",
        r"\balternatives?\b|\b(?:something|anything|someone) (?:else|similar|like|cheaper|better|under|below|with|in"
        r"|for|a bit|a little|less|more|that|around|from|\w+er)\b|^(?:a bit |slightly |much )?(?:cheaper|smaller"
        r"|bigger|lighter|quieter)(?: ones?)?[\s.!?]*$",
        r"\b(?:find|show|get|give|search|look|suggest|recommend|want|need)\b.*\b(?:like|similar to|comparable (?:to"
        r"|with))\s+(?:the|this|that|it|these|those|[A-Z])|\b(?:like|similar to) (?:the |this |that |it\b|these"
        rf"|those).*\bbut\b|\b{named} (?:like|similar to) (?:the|this|that|it|these|those|[A-Z])",
        r"\b(?:show|give|see|got|have|find|try|view|suggest)(?: me| you| us)?(?: any| the| some"
        r"| a few)? others?(?: ones?)?\b(?! than| in the table)|\bwhat else (?:is|do|have|can you|could|would|did|you"
        r"|there)\b|^what else[\s?]*$|\bwhich others\b",
        r"\b(?:keep|continue|carry on) (?:looking|searching)\b|\b(?:search|look|try) (?:again|further|for more"
        r"|for others?|elsewhere|more widely)\b|\b(?:widen|broaden|expand|extend) (?:the|your) (?:search|net|list)\b"
        r"|\bother (?:brands?|makers?|manufacturers?)\b",
        rf"^(?:what|how) about (?:an?|some|something|one|any)\b.*\b{named}\b|^(?:what|how) about (?:something"
        r"|anything)\b",
    )


NEEDS = re.compile(
    r"^(?:i|we)(?:'d| would)? (?:need|want|prefer|like) (?:something|one)\b(?! (?:else|similar|like"
    r"|\w+er)\b)",
    re.IGNORECASE,
)
COUNT = re.compile(
    rf"\b(?P<before>{_N})\s+(?:more|others?|additional|extra|further|new|different|similar|alternatives?|cheaper)\b|"
    rf"\b(?:find|show|get|give|suggest|next)(?: me| us)?\s+(?P<after>{_N})\b|\b(?P<another>another)\b",
    re.IGNORECASE,
)
LOOKS_FOR = re.compile(
    r"^(?:(?:can|could|would|will|you|we|let'?s|i want you to|i'd like you to|try to|go)\s+)*(?:find|look for"
    r"|search for|hunt for|suggest|recommend)\s+"
    r"(?!out\b|it\b|that\b|the (?:link|price))",
    re.IGNORECASE,
)
NOT_MORE = _any(
    r"\b(?:tell|know|hear|say|read|learn|explain)\b.*\bmore\b|\bmore (?:about|details?|info\w*)\b|\bmore important\b"
    r"|\bweather\b|(?:n't|\bnot|\bno longer|\bnever)\b.*\bany ?more\b"
)
CONDITION = re.compile(
    r"\b(?:but|under|below|less than|cheaper than|for less|with|without|that|which|in|from|between|over|above"
    r"|at least|at most|up to|max(?:imum)?|not|no|only|made|around|for)\b.*$",
    re.IGNORECASE,
)
COMPARATIVE = re.compile(
    r"\b(?:cheaper|smaller|bigger|larger|lighter|quieter|faster|better|brighter|simpler|newer|sturdier|stronger"
    r"|longer|shorter|taller|(?:more|less) (?!like\b|of\b|options?\b|products?\b|ones\b|models?\b|please\b|results?\b"
    r"|choices?\b)\w+(?=\s+(?:ones?|options?|models?|products?)))\b",
    re.IGNORECASE,
)

# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────

ADDS = re.compile(
    r"^(?:(?:please|also|and|can|could|would|you|we|i|i'?d like (?:you )?to|i want (?:you )?to|let'?s|now|to"
    r"|maybe)[\s,]+)*(?:add|include|put in|put|bring in|factor in|append)\s+(?!up\b)(?P<what>.+)$",
    re.IGNORECASE,
)
OF_REQUIREMENTS = _any(
    r"\b(?:must.haves?|requirements?|budget|priorit\w+|criteria|constraints?|nice.to.haves?|filter)\b"
)
COMPARES = re.compile(
    r"^(?:(?:please|also|and|can|could|would|you|we|i|i'?d like (?:you )?to|i want (?:you )?to|let'?s|now"
    r"|to)[\s,]+)*(?:compare|contrast)\s+(?P<what>.+)$",
    re.IGNORECASE,
)
WHAT_ABOUT = re.compile(
    r"^(?:what|how) about\s+(?P<what>.+)$|^and\s+(?:the\s+)?(?P<and>[\w\s-]{3,30})\?$", re.IGNORECASE
)
MATTERS = re.compile(
    r"^(?:the\s+)?(?P<what>[\w\s-]{3,40}?)\s+(?:also\s+)?(?:matters?|(?:is|are) (?:also )?important|counts?)(?: too"
    r"| as well| to me| also)*[\s.!]*$|"
    r"^(?:i|we)\s+(?:also\s+|really\s+)?care about\s+(?P<care>.+?)(?: too| as well)?[\s.!]*$",
    re.IGNORECASE,
)
ALSO_SHOW = re.compile(
    r"^(?:(?:please|also|can|could|would|you|we|i|i'?d like to|i want to|let'?s)[\s,]+)*(?:show|see|know|have|list"
    r"|consider|look at|look up|find out|get|check|take into account|tell me|give me)(?: me)?\s+(?P<what>.+)$",
    re.IGNORECASE,
)
WISHED = re.compile(
    r"\b(?:like|want|see|have|get)\s+(?P<what>.+?)\s+(?:added|included|in the (?:table|comparison)"
    r"|as a(?:nother)? column)\b",
    re.IGNORECASE,
)
FOR_ALL = _any(
    r"\bin there\b|\b(?:too|as well|also)[\s.?!]*$|\b(?:column|in the (?:table|comparison)|to the (?:table"
    r"|comparison))\b"
    r"|\bfor (?:all|each|every)\b|\bfor them all\b"
)

# ── requirements ─────────────────────────────────────────────────────────────────────────────────────────────────────

CHANGES = _any(
    r"\bbudget\b|\b(?:i|we)(?:'m| am| are)? (?:can|could|can'?t|cannot|only want to|don'?t want to|willing to|will"
    r"|want to|would)\s+(?:only\s+|now\s+)?(?:spend|pay|afford|go (?:up|down|over|to|as high))\b|\bprice (?:limit"
    r"|range|cap)\b",
    r"^(?:actually|instead|on second thou?ghts?|i(?:'ve)? changed my mind|change of plans?|scratch that|wait"
    r"|sorry)\b(?!.*\?$)|\bi(?:'ve| have)? changed my mind\b|\bwhat if (?:my|i|we|the budget|it)\b",
    r"\b(?:it|they|this|that|mine|the \w+)(?:'s)? (?:must|should|has to|have to|needs? to|need to|ought to|can'?t"
    r"|cannot|mustn'?t|must not|shouldn'?t|doesn'?t (?:have|need) to)\b|\bmust(?:n'?t| not)? (?:be|have|come|include"
    r"|fit|support|work|not)\b|^(?:has|have|needs?) to (?:be|have)\b|\bmust.haves?\b",
    r"^(?:i|we)(?:'d| would)? (?:really |also |only |just |now )*(?:want|need|prefer|like|rather|require|insist"
    r"|(?<='d )love)\b(?! to (?:know|see|compare|export|download|understand|think))|\bi(?:'d| would) (?:rather"
    r"|prefer)\b|\bprefer(?:ably|red|ence)?\b",
    r"\b(?:i|we) (?:don'?t|do not|no longer) (?:want|need|care|like|mind)\b|\bno longer\b|\b(?:doesn'?t|don'?t"
    r"|not) matter\b|(?:n't|\bnot) (?:that |so |very |really |all that )*(?:important|an issue|a problem|necessary"
    r"|needed|required)\b|\bno issue\b|\bmy (?:max\w*|limit|ceiling|upper limit|needs?)\b|\bi(?:'m| am) (?:not|only"
    r"|really|more) (?:bothered|interested|fussed|looking|keen)\b",
    r"^(?:please )?(?:let'?s )?(?:focus on|concentrate on|forget|drop|ignore|remove|skip|never mind|nevermind|scrap"
    r"|lose|relax|loosen|exclude|avoid|rule out)\b|\bexclude\b",
    r"^(?:no|not|only|without|must|under|below|less than|max(?:imum)?|up to|at most|at least|over|cheaper than"
    r"|make (?:it|that|the)|switch to|change|nothing (?:over|under|with|from|above)|just (?:the )?\w+ ones|limit"
    r"|increase|raise|lower|reduce|set|let'?s (?:say|make)|restrict|focus on|stick to)\b",
    r"\bstart (?:over|again|fresh)\b|\bfrom scratch\b|\bnew search\b|\bdifferent (?:product|category|kind of)\b"
    r"|\binstead\b|\bmost important\b|\bmatters? (?:most|more)\b|\bpriorit\w+\b|\bmore important\b|\bcare (?:more"
    r"|most|less) about\b|\bthan price\b",
    r"^[£$€]\s?\d|\b\d+ ?(?:pounds|euros|dollars|quid)(?: max| tops| at most)?[\s.!]*$",
)
ASKS_FOR_CHANGE = re.compile(
    r"what if\b|(?:can|could) (?:you|we) (?:change|raise|lower|increase|reduce|drop|make)\b|.*\bmy budget\b",
    re.IGNORECASE,
)
OFF_TOPIC = _any(
    r"\b(?:weather|rain|snow|sunny|forecast|jokes?|poems?|poetry|lyrics|limerick|riddle|recipes?|football|soccer"
    r"|cricket score"
    r"|politic\w*|president|prime minister|election|capital (?:city )?of|translate|meaning of life|homework|horoscope"
    r"|lottery|bitcoin|stock market|shares|movies?|films?|netflix|girlfriend|boyfriend|dinner|lunch|breakfast recipe"
    r"|flights?|python|javascript|world war|population of|history of|square root|world cup|celebrity|religion|god)\b",
    r"\byour name\b|\bwho (?:are|made|created|built|trained) you\b|\bare you (?:an? )?(?:human|robot|ai|real|bot"
    r"|person|chatgpt|alive)\b|\bhow are you\b|\bhow old are you\b|\bdo you (?:like|love|feel|sleep|dream"
    r"|have feelings)\b|\bwhat (?:time|day) is it\b|\btoday'?s date\b|\bwhat'?s up\b",
    r"\b(?:write|compose|sing|draw|paint|tell)(?: me| us)? (?:an?|some|the) (?:\w+ )?(?:poem|essay|code|story|song"
    r"|letter|email|program|script|function|joke|picture|haiku)\b|^\s*(?:what(?:'s"
    r"| is) )?\d+\s*[+*x×/]\s*\d+\s*[=?]*\s*$|\bbook (?:me )?(?:a|an) \w+\b|\bplay (?:some )?music\b|\bset (?:a"
    r"|an) (?:alarm|timer|reminder)\b",
)
SHOPPING = _any(
    r"\b(?:one|ones|it|its|they|them|these|those|this|that|difference|between|better|best|worst|recommend\w*"
    r"|suggest\w*|choose|pick|decide|compare|top|cheapest|lightest|heaviest|biggest|smallest|largest|quietest|newest"
    r"|longest|rank\w*|score|scored|made|brand|maker|product|buy|worth|trade.?offs?|pros|cons|listed|list|table"
    r"|shortlist|columns?|rows?|sources?|evidence|data|reliable|options?|models?|first|second|third|\w{3,}est|means?"
    r"|stands? for|enough|suitable|matter)\b"
)
TELLS = re.compile(
    r"^(?:tell|explain|describe|show|give|help|i'?m wondering|i wonder|difference)\b|\bvs\.?\b|\bversus\b",
    re.IGNORECASE,
)
FOREIGN = re.compile(r"^(?:who|when|where)\b|\b(?:you|your)\b", re.IGNORECASE)
