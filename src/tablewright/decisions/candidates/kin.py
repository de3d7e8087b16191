"""Words that a trade's own pages use instead of its name: a site may host language models and never say "AI".

`strong` ones tell by themselves; of `weak` ones, which others use too, it takes two.
"""

from __future__ import annotations

from tablewright.table.model import Noun


class Kin(Noun, frozen=True):
    strong: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


def _kin(strong: str, weak: str = "") -> Kin:
    return Kin(strong=tuple(strong.split("|")), weak=tuple(weak.split("|")) if weak else ())


_AI = _kin(
    "ai|ki|artificial intelligence|machine learning|deep learning|language model|large language model|llm|llms|"
    "neural network|generative ai|foundation model|vision model|speech model|translation model|gpu|inference|"
    "chatbot|computer vision|speech to text|text to speech|prompt engineering|fine tuning",
    "model|token|extraction|forecast|analytics|assistant|prediction|automation|endpoint|accelerator|algorithm|"
    "data science|annotation|labelling|labeling|recognition|translation|transcription|training data",
)
KIN: dict[str, Kin] = {
    "ai": _AI,
    "artificial intelligence": _AI,
    "machine learning": _AI,
    "llm": _AI,
    "cloud": _kin("cloud|iaas|paas|virtual machine|data center|data centre", "hosting|server|storage|gpu|region"),
    "hosting": _kin("hosting|web host|data center|data centre|hosts", "server|uptime|domain|bandwidth|gpu"),
    "software": _kin("software|saas|web app|mobile app", "app|platform|api|dashboard|plan|uptime|release"),
    "security": _kin("security|firewall|penetration test|antivirus|encryption", "threat|breach|audit|identity"),
    "logistics": _kin("logistics|haulage|haulier|freight|shipping|warehousing", "truck|lorry|depot|cargo|delivery"),
    "food": _kin(
        "food|foods|soup|dairy|bakery|creamery|snack|confectionery", "recipe|kitchen|ingredient|flavour|taste"
    ),
    "energy": _kin("energy|power plant|wind turbine|solar|photovoltaic|electricity", "turbine|grid|panel|watt|meter"),
    "solar": _kin("solar|photovoltaic", "panel|inverter|roof|sun|watt"),
    "robot": _kin("robot|robotics|cobot", "automation|gripper|picking|autonomous"),
    "textile": _kin("textile|fabric|weaving|spinning mill|garment", "wool|linen|cotton|loom|blanket|mill"),
    "bicycle": _kin("bicycle|bike|cycles|e-bike|tandem", "frame|wheel|saddle|ride"),
    "lighting": _kin("lighting|lamp|luminaire|lantern", "light|led|bulb"),
    "bank": _kin("bank|banking", "loan|account|mortgage|deposit"),
    "insurance": _kin("insurance|insurer|reinsurance|underwriting", "policy|claim|premium|cover"),
    "consulting": _kin("consulting|consultancy|consultants|advisory", "advice|adviser|advisor"),
    "consultancy": _kin("consulting|consultancy|consultants|advisory", "advice|advise|adviser|advisor"),
    "newspaper": _kin(
        "newspaper|courier|gazette|herald|tribune|daily news", "news|editor|journalist|subscriber|most read"
    ),
    "shop": _kin("shop|store|webshop", "delivery|return|basket|cart|product|stock"),
    "marketing": _kin("marketing|advertising|seo|public relations", "campaign|brand|audience|content"),
    "music": _kin("music|musical instrument|guitar|piano|violin|mandolin", "album|song|band|concert"),
    "health": _kin("health|healthcare|hospital|clinic|medical", "patient|doctor|nurse|treatment"),
}
