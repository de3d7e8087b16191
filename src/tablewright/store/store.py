"""The store: everything that is kept, behind one object."""

from __future__ import annotations

from copy import copy
from types import TracebackType

from tablewright.domain.access import Acting
from tablewright.store.cache import Cache, Pages
from tablewright.store.conversations import Conversations, Researches, Results, Shortlists
from tablewright.store.database import Database
from tablewright.store.documents import Documents
from tablewright.store.learning import Attempts, Corrections
from tablewright.store.ledger import SpendingLedger
from tablewright.store.log import Log
from tablewright.store.proposals import Proposals
from tablewright.store.rollback import UndoLog
from tablewright.store.runs import Feed, Runs, Slices
from tablewright.store.sharing import Sharing
from tablewright.store.table_details import Imports, Kinds, Listings, Views
from tablewright.store.tables import Tables
from tablewright.store.users import Audit, Tokens, Users
from tablewright.store.workers import SharedLimits, Workers


class Store:
    """`async with await Store.open(url) as store:`"""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.tables = Tables(database)
        self.imports = Imports(database)
        self.log = Log(database)
        self.history = UndoLog(database)
        self.proposals = Proposals(database)
        self.runs = Runs(database)
        self.slices = Slices(database)
        self.feed = Feed(database)
        self.workers = Workers(database)
        self.users = Users(database)
        self.tokens = Tokens(database)
        self.sharing = Sharing(database)
        self.audit = Audit(database)
        self.ledger = SpendingLedger(database)
        self.attempts = Attempts(database)
        self.corrections = Corrections(database)
        self.cache = Cache(database)
        self.pages = Pages(database)
        self.documents = Documents(database, self.cache)
        self.kinds = Kinds(database)
        self.results = Results(database)
        self.conversations = Conversations(database)
        self.researches = Researches(database)
        self.listings = Listings(database)
        self.views = Views(database)
        self.shortlists = Shortlists(database)
        self.shared_limits = SharedLimits(database) if database.engine.dialect.name == "postgresql" else None
        """None on SQLite, whose work is done by one process."""

    @classmethod
    async def open(cls, url: str, *, patience: float = 0.0) -> Store:
        """`patience`: seconds to wait for a PostgreSQL server that is away."""
        return cls(await Database.open(url, patience=patience))

    def seen_by(self, acting: Acting, patience: float | None = None) -> Store:
        """As that person sees it: only what is theirs or shared with them, and what they make is theirs."""
        seen = copy(self)
        seen.database = self.database.seen_by(acting, patience)
        for name, part in vars(self).items():
            if getattr(part, "_database", None) is self.database:
                own = copy(part)
                own._database = seen.database
                setattr(seen, name, own)
        return seen

    async def close(self) -> None:
        self.database.hurry()
        await self.cache.settle()
        await self.database.close()

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
