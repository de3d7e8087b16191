"""Types of deep research: the request and its plan, what each round did and left open, and the report.

Their names in JSON are those of the memo passed from round to round, which is bounded and readable by a person. Types
only: `workflows/research` works with them, `store/` keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from tablewright.domain.model import Evidence, Field, Label, Step, Struct
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


# ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────────────


class ResearchRequest(Struct, frozen=True):
    """A research request. The plan chooses whatever is left empty. `fields` are the details wanted for each item of a
    catalog, `sections` the parts of any other report."""

    question: str
    report_type: ReportType | None = None
    items: int | None = None
    fields: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    language: str = ""
    length: Length | None = None


class MemoLimits(Struct, frozen=True):
    """Bounds of the memo, which must fit into every request of the next round: entries of each list, tokens in all."""

    themes: int = 5
    sources: int = 20
    sources_of_a_domain: int = 3
    gaps: int = 10
    candidates: int = 15
    tokens: int = 2_000


MEMO_LIMITS = MemoLimits()


class ResearchExtent(Struct, frozen=True):
    """Limits of research. These are defaults; settings and requests override them."""

    searches: int = 15
    """In all rounds together."""
    first_searches: int = 5
    checking_searches: int = 2
    """Reserved for checking claims."""
    pages: int = 5
    """Pages opened per search: the maximum without a model, the average with one."""
    rounds: int = 3
    """With 1, no gaps are filled; with 2, no claims are checked. Gap-filling may take several rounds."""
    claims: int = 3
    sites: int = 3
    """Sites wanted in the report; if there are fewer, it searches for more and the report says so."""
    memo_tokens: int = MEMO_LIMITS.tokens
    items: int = 5
    """Length of a list if the question does not say it."""

    @property
    def checked_claims(self) -> int:
        return self.claims if self.rounds > 2 else 0

    @property
    def kept_searches(self) -> int:
        return self.checking_searches if self.checked_claims else 0


DEFAULT_EXTENT = ResearchExtent()


class CatalogField(Struct, frozen=True):
    """A column of a catalog. If `field.required`, a candidate without it has a gap."""

    field: Field


class Angle(Struct, frozen=True):
    """A part of the question that becomes a section of the report."""

    name: str
    question: str


class Brief(Struct, frozen=True):
    """The plan for a question, shown to the user before anything is searched. `things` names what a catalog lists,
    `subjects` what a comparison compares; `today` is the date of the plan, `usage` its cost."""

    question: str
    report_type: ReportType
    reason: str = ""
    """The reason for the report type."""
    asked: str = ""
    """The precise task, if it says more than the question."""
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


class ResearchEstimate(Struct, frozen=True, omit_defaults=False):
    """The likely cost of carrying out the plan. `cost_usd` is None if the model's price is unknown."""

    searches: int = 0
    pages: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0


# ── what is still open ───────────────────────────────────────────────────────────────────────────────────────────────


class Gap(Struct, frozen=True):
    """Missing information, with a `priority` from 1 (high) to 3 (low). A gap of a catalog names the candidate and its
    fields; a gap of a narrative names the angle (`missing_topic`)."""

    gap_type: GapType
    description: str
    priority: int = 2
    candidate_name: str = ""
    missing_fields: tuple[str, ...] = ()
    missing_topic: str = ""
    suggested_query: str = ""


class Claim(Struct, frozen=True):
    """An important statement to check, from note number `note`."""

    claim_text: str
    source_url: str
    note: int = 0
    verification_query: str = ""


class SourceEntry(Struct, frozen=True):
    """A source in the memo. `relevance` is the part of the question that most of its notes belong to."""

    url: str
    domain: str
    title: str = ""
    has_evidence: bool = False
    relevance: str = ""


class CatalogCandidate(Struct, frozen=True):
    name: str
    provider_url: str = ""
    fields: Mapping[str, FieldStatus] = {}
    evidence_urls: tuple[str, ...] = ()


class Contradiction(Struct, frozen=True):
    """Numbers of notes that contradict each other: `notes` and `against`."""

    about: str
    notes: tuple[int, ...]
    against: tuple[int, ...]


class Memo(Struct, frozen=True):
    """The state passed from one round to the next; the last three keys belong to catalogs."""

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


class ResearchTask(Struct, frozen=True):
    """One search. `id` is "r2_3" or "v_1"; `target_gap` is the gap or claim that it serves."""

    id: str
    kind: TaskKind
    search_query: str
    target_gap: str = ""


class SeenSource(Struct, frozen=True):
    """A search result that was opened, or could not be."""

    url: str
    domain: str
    title: str = ""
    status: SourceStatus = "read"
    detail: str = ""
    content_hash: str = ""


class SourceNote(Struct, frozen=True):
    """One statement of a source with its quote. Notes are numbered across all rounds, and the report is written from
    them; `topic` is the part of the question that it belongs to."""

    number: int
    statement: str
    evidence: Evidence
    topic: str = ""


class Note(Struct, frozen=True):
    """The result of one task: the pages that it read or could not read, and the steps that led to them."""

    task: ResearchTask
    sources: tuple[SeenSource, ...] = ()
    steps: tuple[Step, ...] = ()
    error: str = ""


class CheckedClaim(Struct, frozen=True):
    """The verdict on a claim. `evidence` is what independent sources say, each with its stance; `reason` explains the
    verdict; `unsaid` is the part of the claim that no source mentions; `notes` are the numbers of the notes taken from
    the evidence, in its order."""

    claim: Claim
    verdict: Verdict
    reason: str = ""
    unsaid: str = ""
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[int, ...] = ()


class Round(Struct, frozen=True):
    """A completed round. `kind` is the purpose of its searches; None in rounds stored by old versions."""

    index: int
    tasks: tuple[ResearchTask, ...]
    notes: tuple[Note, ...]
    memo: Memo
    kind: TaskKind | None = None
    source_notes: tuple[SourceNote, ...] = ()
    remarks: tuple[str, ...] = ()
    """Remarks for readers of the report, such as failed searches and unread pages."""
    closed: tuple[str, ...] = ()
    """The gaps of the previous round that were filled, each with the note that fills it."""
    checked: tuple[CheckedClaim, ...] = ()
    usage: Usage = Usage()
    stopped: str = ""
    """The limit that ended it early: the budget or the time."""
    ended: str = ""
    """Why no further round of its kind follows, or ""."""


class ResearchEvent(Struct, frozen=True):
    """Progress of research: one feed for the terminal, the page and the API."""

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


class Sentence(Struct, frozen=True):
    """A sentence of the report. `citations` are numbers of references; without one it states no fact. `calculation`
    gives its computed figures."""

    text: str
    citations: tuple[int, ...] = ()
    calculation: str = ""

    @property
    def cited_text(self) -> str:
        """The text followed by the numbers of its references: "It grew. [1][3]"."""
        return f"{self.text} {''.join(f'[{number}]' for number in self.citations)}".rstrip()


class Section(Struct, frozen=True):
    heading: str
    sentences: tuple[Sentence, ...]


class Reference(Struct, frozen=True):
    """A cited source. `quotes` are the cited words, each found in the stored text of `url` (or of a document's id).
    With `title_cited`, its title is cited too."""

    number: int
    url: str
    title: str = ""
    domain: str = ""
    quotes: tuple[str, ...] = ()
    title_cited: bool = False
    page: int | None = None
    retrieved_at: str = ""
    content_hash: str = ""


class ReportCell(Struct, frozen=True):
    text: str = ""
    citations: tuple[int, ...] = ()
    confidence: Label = "none"
    note: str = ""
    """Why it is empty, or a note that sources disagree."""


class ReportTable(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    others: tuple[str, ...] = ()
    """Candidates that were considered but not chosen, with the reason."""


class UnfoundTopic(Struct, frozen=True):
    """Information that was searched for and not found, and the places searched."""

    what: str
    where: str = ""


class RoundSummary(Struct, frozen=True):
    index: int
    name: str
    tasks: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    stopped: str = ""


class Report(Struct, frozen=True):
    """A report, written only from `references`, which were all retrieved. `written_by` is the model's name, or "" if
    the sentences are the sources' own. If `unread`, no model has read the sources, so they may not answer the
    question."""

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
    unfound: tuple[UnfoundTopic, ...] = ()
    sources: tuple[SeenSource, ...] = ()
    rounds: tuple[RoundSummary, ...] = ()
    completeness: str = ""
    notes: tuple[str, ...] = ()
    language: str = ""
    """The language of the question, as the plan names it; built-in texts use it too."""
    words: dict[str, str] = field(default_factory=dict)
    """Built-in texts that were translated for this report."""
    written_by: str = ""
    unread: bool = False
    usage: Usage = Usage()
    created_at: str = ""


class AnsweredFollowUp(Struct, frozen=True):
    """A follow-up question, answered from stored sources or from a new search (`searched`)."""

    question: str
    sentences: tuple[Sentence, ...] = ()
    references: tuple[Reference, ...] = ()
    searched: bool = False
    at: str = ""


class Research(Struct, frozen=True):
    """The saved state of one research."""

    id: str
    brief: Brief
    status: ResearchStatus = "running"
    table_id: str = ""
    max_tasks: int = DEFAULT_EXTENT.searches
    rounds: tuple[Round, ...] = ()
    report: Report | None = None
    answered: tuple[AnsweredFollowUp, ...] = ()
    created_at: str = ""
    updated_at: str = ""
