"""A report with everything in it, and the texts that pages use to break out of one."""

from __future__ import annotations

from tablewright.domain.model import Evidence
from tablewright.domain.research import (
    CheckedClaim,
    Claim,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    RoundSummary,
    Section,
    SeenSource,
    Sentence,
    UnfoundTopic,
)
from tablewright.domain.run import Usage

_READ_AT = "2026-11-12T09:30:00Z"


def _reference(number: int, url: str, title: str, domain: str, *quotes: str, page: int | None = None) -> Reference:
    return Reference(
        number=number, url=url, title=title, domain=domain, quotes=quotes, page=page, retrieved_at=_READ_AT
    )


def _row(*cells: ReportCell) -> tuple[ReportCell, ...]:
    return cells


def _cell(text: str, *citations: int, sure: str = "high", note: str = "") -> ReportCell:
    return ReportCell(text=text, citations=citations, confidence=sure, note=note)  # type: ignore[arg-type]


REPORT = Report(
    title="Five AI providers for customer conversations, with prices and case studies",
    question="Identify 5 AI providers that handle customer conversations, with pricing and case studies",
    report_type="catalog",
    answer=Sentence(
        text="Five providers were found; entry prices are published by three of them and range from $99 to $750 a "
        "month, and four can name a customer.",
        citations=(1, 3, 5),
    ),
    notes=(
        "The budget was spent in round 2: two of fifteen tasks were not run.",
        "One site refused to be read, so Drift Harbor's price could not be looked up there.",
    ),
    table=ReportTable(
        columns=("Provider", "Website", "Problem it solves", "Price", "Case study"),
        rows=(
            _row(
                _cell("Leadwell", 1),
                _cell("https://leadwell.example/", 1),
                _cell("Answers property enquiries within two minutes and books viewings", 1),
                _cell("$149 to $449 a month", 2, 7),
                _cell("Hartman Realty: 31% more viewings", 6, sure="medium"),
            ),
            _row(
                _cell("Siena Desk", 3),
                _cell("https://sienadesk.example/", 3),
                _cell("Resolves order and returns questions for online shops", 3),
                _cell("$750 a month", 3, 8, sure="low", note="Sources disagree: $500 (comparely.example)"),
                _cell("Northloom: 80% of tickets without a person", 4, sure="medium"),
            ),
            _row(
                _cell("Parlance", 5),
                _cell("https://parlance.example/", 5),
                _cell("Qualifies leads by text message", 5, sure="medium"),
                _cell("$99 a month", 5),
                _cell("Alder Dental", 5, sure="medium"),
            ),
            _row(
                _cell("Drift Harbor", 8, sure="medium"),
                _cell("https://driftharbor.example/", 8, sure="medium"),
                _cell("Routes chats to the right team", 8, sure="low"),
                _cell("", sure="none", note="Not found: its pricing page refused us"),
                _cell("", sure="none", note="Not found on 4 pages"),
            ),
            _row(
                _cell("Ottava Voice", 9),
                _cell("https://ottava.example/", 9),
                _cell("Answers the telephone for clinics, day and night", 9),
                _cell("", sure="none", note="Not published: “contact sales”"),
                _cell("St. Brigid Clinic: waiting time from 9 to 2 minutes", 9),
            ),
        ),
        others=(
            "Chatmere: no price and no customer found",
            "Brisk AI: the same product as Parlance, under its old name",
        ),
    ),
    sections=(
        Section(
            heading="How they charge",
            sentences=(
                Sentence(text="Leadwell's plans run from $149 to $449 a month.", citations=(2, 7)),
                Sentence(text="Parlance starts at $99 a month and has no fee for setup.", citations=(5,)),
                Sentence(
                    text="Siena Desk lists $750 a month, while a comparison from 2024 has $500.", citations=(3, 8)
                ),
            ),
        ),
        Section(
            heading="What customers report",
            sentences=(
                Sentence(text="Hartman Realty counted 31% more viewings in its first quarter.", citations=(6,)),
                Sentence(text="Northloom says that 80% of its tickets need no person.", citations=(4,)),
            ),
        ),
    ),
    references=(
        _reference(
            1,
            "https://leadwell.example/",
            "Leadwell — the assistant for estate agents",
            "leadwell.example",
            "Leadwell answers every property enquiry within two minutes and books the viewing for you.",
        ),
        _reference(
            2,
            "https://leadwell.example/pricing",
            "Pricing — Leadwell",
            "leadwell.example",
            "Starter: $149 per month",
            "Brokerage: $449 per month, unlimited agents",
        ),
        _reference(
            3,
            "https://sienadesk.example/plans?currency=usd&period=month",
            "Plans",
            "sienadesk.example",
            "Siena Desk Core is $750 a month, billed yearly.",
        ),
        _reference(
            4,
            "https://northloom.example/blog/a-year-with-siena",
            "A year with Siena Desk",
            "northloom.example",
            "Today 80% of our tickets are closed without a person touching them.",
        ),
        _reference(
            5,
            "https://parlance.example/",
            "Parlance: leads by text",
            "parlance.example",
            "From $99 a month. No setup fee.",
            "Alder Dental books a third of its new patients through Parlance.",
        ),
        _reference(
            6,
            "doc_4f1c_hartman.pdf",
            "Hartman Realty, quarterly review",
            "",
            "viewings rose 31% in the quarter after Leadwell was introduced",
            page=4,
        ),
        _reference(
            7,
            "https://estatetools.example/reviews/leadwell",
            "Leadwell reviewed",
            "estatetools.example",
            "Expect to pay between $149 and $449 a month, depending on the number of agents.",
        ),
        _reference(
            8,
            "https://comparely.example/ai-support-2024",
            "AI support tools compared (2024)",
            "comparely.example",
            "Siena Desk starts at $500 per month",
            "Drift Harbor (driftharbor.example) routes chats to the right team.",
        ),
        _reference(
            9,
            "https://ottava.example/clinics",
            "Ottava Voice for clinics",
            "ottava.example",
            "At St. Brigid Clinic the average waiting time fell from nine minutes to two.",
        ),
    ),
    claims=(
        CheckedClaim(
            claim=Claim(
                claim_text="Leadwell costs $149 to $449 a month", source_url="https://leadwell.example/pricing"
            ),
            verdict="supported",
            reason="A review on another domain gives the same two amounts.",
            evidence=(
                Evidence(
                    origin="https://estatetools.example/reviews/leadwell",
                    title="Leadwell reviewed",
                    domain="estatetools.example",
                    quote="Expect to pay between $149 and $449 a month, depending on the number of agents.",
                ),
            ),
        ),
        CheckedClaim(
            claim=Claim(claim_text="Siena Desk costs $750 a month", source_url="https://sienadesk.example/plans"),
            verdict="contradicted",
            reason="An independent comparison gives a lower price; it is older.",
            evidence=(
                Evidence(
                    origin="https://comparely.example/ai-support-2024",
                    title="AI support tools compared (2024)",
                    domain="comparely.example",
                    quote="Siena Desk starts at $500 per month",
                    stance="contradicts",
                ),
            ),
        ),
        CheckedClaim(
            claim=Claim(
                claim_text="80% of Northloom's tickets need no person",
                source_url="https://northloom.example/blog/a-year-with-siena",
            ),
            verdict="qualified",
            reason="Another source limits it to questions about orders.",
            evidence=(
                Evidence(
                    origin="https://retailpost.example/northloom",
                    title="Northloom's quiet help desk",
                    domain="retailpost.example",
                    quote="about 80% of order questions, though complaints still reach a person",
                    stance="qualifies",
                ),
            ),
        ),
        CheckedClaim(
            claim=Claim(claim_text="Hartman Realty saw 31% more viewings", source_url="doc_4f1c_hartman.pdf"),
            verdict="not checked",
            reason="No independent source was found in the two searches that were left.",
        ),
    ),
    unfound=(
        UnfoundTopic(what="Drift Harbor: price", where="driftharbor.example (refused), comparely.example, 2 searches"),
        UnfoundTopic(what="Ottava Voice: price", where="ottava.example/clinics, ottava.example/pricing, 3 searches"),
    ),
    sources=(
        SeenSource(url="https://leadwell.example/", domain="leadwell.example", title="Leadwell", status="read"),
        SeenSource(url="https://sienadesk.example/plans", domain="sienadesk.example", title="Plans", status="read"),
        SeenSource(
            url="https://driftharbor.example/pricing",
            domain="driftharbor.example",
            status="blocked",
            detail="The site answered 403 to our reader",
        ),
        SeenSource(
            url="https://reviewwall.example/private",
            domain="reviewwall.example",
            status="forbidden",
            detail="robots.txt does not allow it",
        ),
        SeenSource(url="https://slow.example/", domain="slow.example", status="error", detail="No answer in 20 s"),
        SeenSource(url="https://ottava.example/pricing", domain="ottava.example", title="Pricing", status="empty"),
        SeenSource(url="doc_4f1c_hartman.pdf", domain="", title="Hartman Realty, quarterly review", status="read"),
    ),
    rounds=(
        RoundSummary(
            index=1,
            name="Discovery",
            tasks=("AI customer conversation providers", "AI lead qualification pricing", "AI help desk case study"),
            open=(
                "Leadwell: missing Price, Case study",
                "Drift Harbor: missing Price",
                "Need more candidates: 4 of 10",
            ),
        ),
        RoundSummary(
            index=2,
            name="Filling gaps",
            tasks=('"Leadwell" pricing cost plans', '"Drift Harbor" pricing cost plans'),
            closed=("Leadwell: missing Price, Case study", "Need more candidates: 4 of 10"),
            open=("Drift Harbor: missing Price",),
            stopped="the budget of $0.50 was spent",
        ),
        RoundSummary(index=3, name="Verification", tasks=("Leadwell pricing review", "Siena Desk pricing comparison")),
    ),
    completeness="Two independent passes found 6 and 7 names, 5 of them the same: about 8 in all.",
    written_by="qwen2.5-1.5b-instruct",
    usage=Usage(
        llm_calls=41,
        input_tokens=88_410,
        output_tokens=5_230,
        searches=13,
        fetches=37,
        cache_hits=6,
        cost_usd=0.4987,
        seconds=412.0,
    ),
    created_at="2026-11-12T09:41:00Z",
)

EMPTY_HANDED = Report(
    title="Turnover of Quillon Ltd in 1931",
    question="What was the turnover of Quillon Ltd in 1931?",
    report_type="narrative",
    unfound=(UnfoundTopic(what="The turnover of Quillon Ltd in 1931", where="4 searches, 6 pages"),),
    sources=(SeenSource(url="https://quillon.example/", domain="quillon.example", status="empty"),),
)

HOSTILE = (
    "<script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "[click](javascript:alert(1))",
    "![pixel](https://tracker.example/p.png)",
    "<https://evil.example>",
    "[1]: https://evil.example",
    "# Not a heading",
    "- [ ] not a list",
    "1. not a list",
    "a | b | c",
    "one\n\n# two\n\n---\n| x |\n|---|",
    "```\ncode",
    "moc.live\u202egpj\u2066 \x00\x07\x1b[31m\u200b\ufeff\ud800\uffff",
    "&lt;b&gt; &#60; &amp;",
    "]]><w:p/>",
    "https://evil.example/x www.evil.example",
    "a$b$ *bold* _it_ ~~gone~~ `code`",
)
