"""The nouns of deep research: what was asked, what each round did and left open, and the report that comes of it.

Their names in JSON are those of the memo that is handed from round to round: bounded, and readable by a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from tablewright.domain.model import Evidence, Field, Label, Noun, Step
from tablewright.domain.run import Progress, Usage

ReportType: TypeAlias = Literal["narrative", "comparison", "answer", "catalog"]
Length: TypeAlias = Literal["short", "standard", "long"]
ReportFormat: TypeAlias = Literal["md", "html", "docx", "pdf", "json"]
GapType: TypeAlias = Literal["missing_field", "weak_evidence", "missing_candidates", "missing_topic"]
FieldStatus: TypeAlias = Literal["missing", "partial", "found"]
Verdict: TypeAlias = Literal["supported", "partly supported", "contradicted", "qualified", "not checked"]
TaskKind: TypeAlias = Literal["discover", "fill", "verify"]
SourceStatus: TypeAlias = Literal["read", "blocked", "forbidden", "error", "empty"]
ResearchStatus: TypeAlias = Literal["running", "done", "partial", "nothing", "cancelled", "failed"]
Stage: TypeAlias = Literal["brief", "round", "task", "reading", "memo", "claim", "writing", "stopped", "done"]

MOST_THEMES = 5
MOST_SOURCES = 20
MOST_OF_A_DOMAIN = 3
MOST_GAPS = 10
MOST_CANDIDATES = 15
DEFAULT_TASKS = 15
MEMO_TOKENS = 2_000


# ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────────────


class ResearchRequest(Noun, frozen=True):
    """What a person asks for; everything beside the question is theirs to fix or to leave to the plan. `fields` are the
    details wanted of each item of a catalog, `sections` the parts of another report."""

    question: str
    report_type: ReportType | None = None
    items: int | None = None
    fields: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    language: str = ""
    length: Length | None = None


class Extent(Noun, frozen=True):
    """How far a piece of research goes, unless somebody says otherwise for one of them."""

    searches: int = DEFAULT_TASKS
    """In all rounds together."""
    first_searches: int = 5
    checking_searches: int = 2
    """Kept for claims."""
    pages: int = 5
    """Opened for a search, at most; with a model, for a search on average."""
    rounds: int = 3
    """1: no gaps are filled; 2: no claims are checked. Gap-filling may take several rounds."""
    claims: int = 3
    sites: int = 3
    """So many should speak; where fewer do, more are searched for, and the report says so."""
    memo_tokens: int = MEMO_TOKENS
    items: int = 5
    """Of a list, where the question does not say how many."""

    @property
    def checked_claims(self) -> int:
        return self.claims if self.rounds > 2 else 0

    @property
    def kept_searches(self) -> int:
        return self.checking_searches if self.checked_claims else 0


USUAL_EXTENT = Extent()


class CatalogField(Noun, frozen=True):
    """A column of a catalog. `field.required` says whether a candidate without it has a gap."""

    field: Field


class Angle(Noun, frozen=True):
    """A part of the question, which becomes a section of the report."""

    name: str
    question: str


class Brief(Noun, frozen=True):
    """The question as a plan that the user sees before anything is searched. `things` is what a catalog lists,
    `subjects` are the names that a comparison compares, `today` is the day on which it was made, `usage` what that
    took."""

    question: str
    report_type: ReportType
    reason: str = ""
    """Why it is of this type, in words."""
    asked: str = ""
    """What exactly is asked, where that is more than the question says."""
    constraints: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    things: str = ""
    target_items: int = 0
    columns: tuple[CatalogField, ...] = ()
    angles: tuple[Angle, ...] = ()
    queries: tuple[str, ...] = ()
    """The first searches."""
    language: str = ""
    length: Length = "standard"
    today: str = ""
    usage: Usage = Usage()


class ResearchEstimate(Noun, frozen=True, omit_defaults=False):
    """What it is likely to take from the plan on. `cost_usd` is None where nobody knows the price."""

    searches: int = 0
    pages: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0


# ── what is still open ───────────────────────────────────────────────────────────────────────────────────────────────


class Gap(Noun, frozen=True):
    """`priority` is 1 (high) to 3 (low). A gap of a catalog names the candidate and its fields, one of a narrative the
    angle (`missing_topic`)."""

    gap_type: GapType
    description: str
    priority: int = 2
    candidate_name: str = ""
    missing_fields: tuple[str, ...] = ()
    missing_topic: str = ""
    suggested_query: str = ""


class Claim(Noun, frozen=True):
    """A statement that much depends on, from note number `note`."""

    claim_text: str
    source_url: str
    note: int = 0
    verification_query: str = ""


class SourceEntry(Noun, frozen=True):
    """`relevance` is the part of the question that most of what was noted from it belongs to."""

    url: str
    domain: str
    title: str = ""
    has_evidence: bool = False
    relevance: str = ""


class CatalogCandidate(Noun, frozen=True):
    name: str
    provider_url: str = ""
    fields: Mapping[str, FieldStatus] = {}
    evidence_urls: tuple[str, ...] = ()


class Contradiction(Noun, frozen=True):
    """Notes, by their numbers, and those that say otherwise."""

    about: str
    notes: tuple[int, ...]
    against: tuple[int, ...]


class Memo(Noun, frozen=True):
    """What one round leaves for the next; the last three belong to catalogs."""

    query: str
    report_type: ReportType
    round_index: int
    tasks_completed: int
    tasks_remaining: int
    unique_citations: int = 0
    unique_domains: int = 0
    pages_extracted: int = 0
    themes_covered: tuple[str, ...] = ()
    sources_summary: tuple[SourceEntry, ...] = ()
    gaps: tuple[Gap, ...] = ()
    claims_to_verify: tuple[Claim, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    answered: Literal["yes", "partly", "no"] = "no"
    target_items: int = 0
    candidates: tuple[CatalogCandidate, ...] = ()
    required_fields: tuple[str, ...] = ()


# ── what was done ────────────────────────────────────────────────────────────────────────────────────────────────────


class ResearchTask(Noun, frozen=True):
    """`id` is "r2_3" or "v_1"; `target_gap` is the gap or the claim that it is for."""

    id: str
    kind: TaskKind
    search_query: str
    target_gap: str = ""


class SeenSource(Noun, frozen=True):
    """Something that a search returned and that was opened, or was to be."""

    url: str
    domain: str
    title: str = ""
    status: SourceStatus = "read"
    detail: str = ""
    content_hash: str = ""


class SourceNote(Noun, frozen=True):
    """One thing that a source says, with the words that say it. Notes are numbered through all rounds, and the report
    is written from them; `topic` is the part of the question that it belongs to."""

    number: int
    statement: str
    evidence: Evidence
    topic: str = ""


class Note(Noun, frozen=True):
    """What a worker brings back from one task: which pages it read, which it could not, and how it found them."""

    task: ResearchTask
    sources: tuple[SeenSource, ...] = ()
    steps: tuple[Step, ...] = ()
    error: str = ""


class CheckedClaim(Noun, frozen=True):
    """`evidence` is what independent sources say, each with its stance; `reason` says what the verdict rests on,
    `unsaid` what of the claim none of them speaks of, and `notes` are the numbers of the notes that were taken of the
    evidence, in its order."""

    claim: Claim
    verdict: Verdict
    reason: str = ""
    unsaid: str = ""
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[int, ...] = ()


class Round(Noun, frozen=True):
    """`kind` is what its searches are for; None in rounds that were kept before gap-filling could go on."""

    index: int
    tasks: tuple[ResearchTask, ...]
    notes: tuple[Note, ...]
    memo: Memo
    kind: TaskKind | None = None
    source_notes: tuple[SourceNote, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a reader of the report should know of the round: searches that failed, pages that nobody read."""
    closed: tuple[str, ...] = ()
    """The gaps of the round before that were filled, each with the note that fills it."""
    checked: tuple[CheckedClaim, ...] = ()
    usage: Usage = Usage()
    stopped: str = ""
    """Which limit cut it off: the budget, the time."""
    ended: str = ""
    """Why no further round of its kind follows; "" where one does."""


class ResearchEvent(Noun, frozen=True):
    """What a piece of research tells while it works: one feed for the terminal, the page and the API."""

    stage: Stage
    round_index: int = 0
    kind: TaskKind | None = None
    detail: str = ""
    done: int = 0
    total: int = 0
    gaps: tuple[Gap, ...] = ()
    closed: tuple[str, ...] = ()

    @property
    def progress(self) -> Progress:
        text = f"{self.stage}: {self.detail}" if self.detail else self.stage
        return Progress(stage="working", done=self.done, total=self.total, detail=text)


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Sentence(Noun, frozen=True):
    """`citations` are numbers of references; a sentence without one states no fact. `calculation` is what its computed
    figures come from."""

    text: str
    citations: tuple[int, ...] = ()
    calculation: str = ""

    @property
    def cited_text(self) -> str:
        """The text with the numbers of its references behind it: "It grew. [1][3]"."""
        return f"{self.text} {''.join(f'[{number}]' for number in self.citations)}".rstrip()


class Section(Noun, frozen=True):
    heading: str
    sentences: tuple[Sentence, ...]


class Reference(Noun, frozen=True):
    """`quotes` are the words that are cited, each found in the stored text of `url` (or of a document's id);
    `title_cited`: its title is cited as well."""

    number: int
    url: str
    title: str = ""
    domain: str = ""
    quotes: tuple[str, ...] = ()
    title_cited: bool = False
    page: int | None = None
    retrieved_at: str = ""
    content_hash: str = ""


class ReportCell(Noun, frozen=True):
    text: str = ""
    citations: tuple[int, ...] = ()
    confidence: Label = "none"
    note: str = ""
    """Why it is empty, or that sources disagree."""


class ReportTable(Noun, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    others: tuple[str, ...] = ()
    """Candidates that were looked at and not chosen, with the reason."""


class Unfound(Noun, frozen=True):
    """What was looked for and not found, and where."""

    what: str
    where: str = ""


class RoundSummary(Noun, frozen=True):
    index: int
    name: str
    tasks: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    stopped: str = ""


class Report(Noun, frozen=True):
    """Everything in it was written from `references`, which were all retrieved. `written_by` is the model's name, or
    empty where the sentences are the sources' own; `unread`: no model read the sources, so nobody knows whether they
    answer the question."""

    title: str
    question: str
    report_type: ReportType
    answer: Sentence | None = None
    summary: tuple[Sentence, ...] = ()
    sections: tuple[Section, ...] = ()
    table: ReportTable | None = None
    disagreements: tuple[Sentence, ...] = ()
    next_steps: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    unfound: tuple[Unfound, ...] = ()
    sources: tuple[SeenSource, ...] = ()
    rounds: tuple[RoundSummary, ...] = ()
    completeness: str = ""
    notes: tuple[str, ...] = ()
    language: str = ""
    """That of the question, as the plan names it; what we say in our own words is in it, too."""
    words: dict[str, str] = field(default_factory=dict)
    """Our own words in it, where they were translated for it."""
    written_by: str = ""
    unread: bool = False
    usage: Usage = Usage()
    created_at: str = ""


class AnsweredFollowUp(Noun, frozen=True):
    """A follow-up question, and what it was answered from: what was stored already, or a search of its own."""

    question: str
    sentences: tuple[Sentence, ...] = ()
    references: tuple[Reference, ...] = ()
    searched: bool = False
    at: str = ""


class Research(Noun, frozen=True):
    """One piece of research, as far as it has come."""

    id: str
    brief: Brief
    status: ResearchStatus = "running"
    table_id: str = ""
    max_tasks: int = DEFAULT_TASKS
    rounds: tuple[Round, ...] = ()
    report: Report | None = None
    answered: tuple[AnsweredFollowUp, ...] = ()
    created_at: str = ""
    updated_at: str = ""
