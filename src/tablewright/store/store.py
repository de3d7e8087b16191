"""The store: everything that is kept, behind one object. It only joins its parts; each part has a module of its own."""

from __future__ import annotations

from copy import copy
from types import TracebackType

from tablewright.domain.access import ActingUser
from tablewright.store.cache import Cache, Pages
from tablewright.store.conversations import Conversations, Researches, Results, Shortlists
from tablewright.store.database import Database
from tablewright.store.documents import Documents
from tablewright.store.edit_log import EditLog
from tablewright.store.feedback import Attempts, Corrections
from tablewright.store.ledger import SpendingLedger
from tablewright.store.proposals import Proposals
from tablewright.store.rollback import UndoLog
from tablewright.store.runs import RunEvents, Runs, Slices
from tablewright.store.sharing import Sharing
from tablewright.store.table_details import Imports, Kinds, Listings, Views
from tablewright.store.tables import Tables
from tablewright.store.users import Audit, Tokens, Users
from tablewright.store.workers import SharedLimits, Workers


class Store:
    """Open it with `async with await Store.open(url) as store:`."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.tables = Tables(database)
        self.imports = Imports(database)
        self.log = EditLog(database)
        self.history = UndoLog(database)
        self.proposals = Proposals(database)
        self.runs = Runs(database)
        self.slices = Slices(database)
        self.feed = RunEvents(database)
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
        """Connect and migrate. `patience`: seconds to wait for a PostgreSQL server that is away."""
        return cls(await Database.open(url, patience=patience))

    def seen_by(self, acting: ActingUser, patience: float | None = None) -> Store:
        """Return the store as that person sees it: only what they own or share, and what they create is theirs."""
        seen = copy(self)
        seen.database = self.database.seen_by(acting, patience)
        for name, part in vars(self).items():
            if getattr(part, "_database", None) is self.database:
                # A shallow copy: caches and indexes in memory are shared by all users.
                own = copy(part)
                own._database = seen.database
                setattr(seen, name, own)
        return seen

    async def close(self) -> None:
        # First, or closing would wait for a server that is away.
        self.database.stop_waiting()
        # Before the database closes: answers that wait to be written were paid for.
        await self.cache.settle()
        await self.database.close()

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
