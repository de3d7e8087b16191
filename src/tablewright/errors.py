"""Every error Tablewright raises on purpose.

TablewrightError              something a person should read; says what happened, what was kept, what to do next
├── UsageError                the request itself is wrong; nothing was done (exit code 2)
│   ├── BadFile               a file that cannot be read as a table
│   ├── BadFormula            a formula outside the allowed language
│   ├── BadField              a field definition that cannot be understood or does not fit the table
│   ├── NotFound              a table, row, field, run or proposal that does not exist
│   ├── RunEnded              a run that is over, so it can neither be stopped nor resumed
│   ├── BadSetting            a setting with a value that cannot work
│   │   ├── MissingExtra      it takes packages that the core install leaves out
│   │   ├── KeyWithheld       a key would go to an address that it was not issued for; it was not sent
│   │   └── UntrustedFolder   a folder's file says where data is kept while keys come from outside the folder
│   └── Forbidden             the user may not do that
│       └── OverQuota         the user has reached a limit of the month
├── RunError                  the request was fine, doing it failed (exit code 1)
│   ├── StoreError            the database refused, is full, read-only or of a newer version
│   │   ├── Unreachable       it is away, or the connection to it broke
│   │   └── DiskFull          the disk has no space left for it, or for a file
│   ├── Superseded            another process does this piece of a run now; nothing was written
│   ├── EditConflict          a cell was changed by someone else in the meantime; nothing was written
│   ├── Unreadable            a document that cannot be read: broken, encrypted, too large, empty, of an unknown kind
│   ├── Paused                the search, the web or the model failed again and again; the run can be resumed
│   │   └── AuthorityLost     the user in whose name it runs lost the right; a user who has it can resume it
│   ├── SearchError           a search provider refused, failed or answered nonsense
│   │   └── OverBudget        the limit of dollars, tokens or calls is reached; nothing more is spent (a ModelError too)
│   └── ModelError            a language model did not give a usable answer
│       ├── ModelRefused      the request can never work: wrong key, unknown model, too long (never retried)
│       ├── ModelUnavailable  the model cannot be reached, is overloaded or too slow, after all retries
│       └── BadAnswer         it answered, but not in the asked form, even after a second try
└── Cancelled                 the person stopped it; partial results are kept (exit code 130)
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

from tablewright.secrets import mask_secrets

# Where our own code is: to tell its lines from those of libraries, and to find the files that come with it.
PACKAGE = Path(__file__).parent


class TablewrightError(Exception):
    """`kept` says what survives, `advice` what to do next; both are whole sentences or empty. Credentials inside
    addresses are left out of all three."""

    exit_code = 1

    def __init__(self, what: str, *, kept: str = "", advice: str = "") -> None:
        self.what, self.kept, self.advice = mask_secrets(what), mask_secrets(kept), mask_secrets(advice)
        super().__init__(self.what)

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.kept, self.advice) if part)


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """Return the nearest known name as the beginning of an advice, or "" if none is near."""
    near = get_close_matches(wanted, list(known), n=1)
    return f"Did you mean {near[0]}? " if near else ""


class UsageError(TablewrightError):
    exit_code = 2


class BadFile(UsageError):
    pass


class BadFormula(UsageError):
    pass


class BadField(UsageError):
    pass


class NotFound(UsageError):
    pass


class RunEnded(UsageError):
    pass


class BadSetting(UsageError):
    pass


class MissingExtra(BadSetting):
    pass


class KeyWithheld(BadSetting):
    pass


class UntrustedFolder(BadSetting):
    """`places` are the settings by which the file of `folder` says where data is kept; `remember` is the file in which
    a user's consent is remembered."""

    def __init__(
        self,
        what: str,
        *,
        kept: str = "",
        advice: str = "",
        folder: Path = Path(),
        remember: Path = Path(),
        places: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, kept=kept, advice=advice)
        self.folder, self.remember, self.places = folder, remember, places or {}


class Forbidden(UsageError):
    pass


class OverQuota(Forbidden):
    pass


class RunError(TablewrightError):
    pass


class StoreError(RunError):
    def __init__(self, what: str, *, kept: str = "", advice: str = "", public: str = "") -> None:
        """`public` says it to those who need not know where the database is."""
        super().__init__(what, kept=kept, advice=advice)
        self.public = public


class Unreachable(StoreError):
    pass


class DiskFull(StoreError):
    pass


def disk_full(error: BaseException | None) -> DiskFull | None:
    """Return the error for an upload that ran into a full disk or quota, or None for any other error."""
    # A quota of the file system is a full disk to those who upload.
    if not isinstance(error, OSError) or error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return None
    return DiskFull(
        "The disk of the server is full, so the upload was not taken.",
        kept="Nothing of this upload was kept; everything else is unchanged.",
        advice="Free some space in the folders for data and for temporary files, then upload it again.",
    )


class Superseded(RunError):
    pass


class EditConflict(RunError):
    pass


class Paused(RunError):
    pass


class AuthorityLost(Paused):
    pass


class Unreadable(RunError):
    """The document fails alone; the others go on."""


class SearchError(RunError):
    def __init__(
        self, what: str, *, kept: str = "", advice: str = "", retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(what, kept=kept, advice=advice)
        self.retryable = retryable
        self.retry_after = retry_after


class ModelError(RunError):
    pass


class ModelRefused(ModelError):
    pass


class ModelUnavailable(ModelError):
    pass


class BadAnswer(ModelError):
    pass


class OverBudget(ModelError, SearchError):
    """One limit for all paid work, so it is raised both where a model is asked and where a search is made."""


class Cancelled(TablewrightError):
    exit_code = 130


def unforeseen(error: BaseException) -> str:
    """Return the class of an error and where it happened, for records that others read: its message may be a secret."""
    # Our own last line says more than the line of a library that it called.
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)] or frames
    at = f" in {Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else ""
    return f"Unexpected error: {type(error).__name__}{at}."
