"""Files and folders become documents: found, compared with what is known, read in parallel, indexed, kept.

What cannot be read is kept as a name with a reason, so that an answer can say what it does not know of.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from tablewright.arrays import NDArray, np
from tablewright.corpus.digest import Digest, digest_file, digest_with
from tablewright.corpus.parse.parser import Parser, ending_of
from tablewright.corpus.parse.pool import parse_files
from tablewright.corpus.segment import MOST_CHARACTERS
from tablewright.domain.corpus import Annotation, Document
from tablewright.domain.model import Noun
from tablewright.domain.retrieved import content_hash
from tablewright.domain.run import Progress
from tablewright.errors import NotFound, Unreadable
from tablewright.models.embedder import Embedder
from tablewright.models.text_budget import batches
from tablewright.sandbox.limits import SandboxLimits
from tablewright.sandbox.sandbox import DEFAULT
from tablewright.store.documents import IngestedDocument
from tablewright.store.records import new_id, now, printable
from tablewright.store.search_index import Target
from tablewright.store.store import Store

BATCH_SEGMENTS = 2_000
"""Segments that are embedded and written together, about."""
BATCH_SECONDS = 2.0
HASHED = 100
"""Files that are compared with what is known at once."""


class IngestProgress(Noun, frozen=True):
    """Progress: `done` of `total` files."""

    done: int
    total: int
    path: str = ""

    @property
    def progress(self) -> Progress:
        return Progress(stage="working", done=self.done, total=self.total)


class Ingested(Noun, frozen=True):
    """Result of reading files. `same` are those whose content is there already, under another name."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    same: tuple[tuple[str, str], ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    pages: int = 0
    segments: int = 0
    facts: int = 0
    classified: int = 0
    """Documents of which the model said what they are."""
    from_titles: int = 0
    """Documents whose kind is new, and only a guess from their titles."""
    seconds: float = 0.0


Watch: TypeAlias = Callable[[IngestProgress], None]


class Ingest:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        workers: int = 0,
        limits: SandboxLimits = DEFAULT,
        parsers: Mapping[str, Parser] | None = None,
    ) -> None:
        """`parsers` are the caller's own, by the endings of the files that they read; they run in this process."""
        self._parsers = {name.lower().removeprefix("."): parser for name, parser in (parsers or {}).items()}
        self._store = store
        self._embedder = embedder
        self._workers = workers
        self._limits = limits

    async def add(self, paths: Sequence[Path], watch: Watch = lambda _: None, *, kind: str = "") -> Ingested:
        """Read all files of the paths that are new or have changed; `kind` is the kind of all of them, if given. A file
        that fails stops no other."""
        started = time.monotonic()
        files = await asyncio.to_thread(lambda: list(dict.fromkeys(find_files(paths))))
        watch(IngestProgress(done=0, total=len(files)))
        fresh, tally = await self._compare(files)
        kinds = {each.id: each for each in await self._store.documents.all() if each.is_sorted}
        done = len(files) - len(fresh)
        batch: list[tuple[Document, Digest | None]] = []
        flushed = time.monotonic()
        async for path, result in self._digests(list(fresh)):
            done += 1
            watch(IngestProgress(done=done, total=len(files), path=str(path)))
            file_hash, identity = fresh[path]
            document = described(path, identity or new_id("doc_"), file_hash, result, kinds.get(identity))
            tally.count(document, result, is_new=not identity)
            batch.append((document, None if isinstance(result, Unreadable) else result))
            waiting = sum(len(each.segments) for _, each in batch if each is not None)
            if waiting >= BATCH_SEGMENTS or time.monotonic() - flushed > BATCH_SECONDS:
                tally.lose(await self._write(batch), fresh)
                batch, flushed = [], time.monotonic()
        tally.lose(await self._write(batch), fresh)
        if kind:
            known = await self._store.documents.known()
            ids = [known[name][0] for path in files if (name := str(path)) in known]
            await self._store.kinds.set_kinds(dict.fromkeys(ids, kind), "person")
        return tally.total(time.monotonic() - started)

    async def _compare(self, files: Sequence[Path]) -> tuple[dict[Path, Fresh], IngestTally]:
        """The files to read, and what is settled without reading. One that could not be read is tried again, as it may
        not have been its own fault; one that was moved stays the document that it was. One that an earlier version cut
        into segments that are too long is read again: its text, and so what is quoted from it, stays the same."""
        known = await self._store.documents.known()
        unread = {document.path for document in await self._store.documents.all(readable=False)}
        badly_cut = await self._store.documents.with_long_segments(MOST_CHARACTERS)
        tally = IngestTally()
        # The same bytes are read in another way under another ending.
        there = {(file_hash, ending(path)): path for path, (_, file_hash) in known.items() if file_hash}
        fresh: dict[Path, Fresh] = {}
        for path, file_hash in (await hashes_of(files)).items():
            name = str(path)
            identity, known_hash = known.get(name, ("", ""))
            other = there.get((file_hash, ending(name)), name)
            if file_hash and file_hash == known_hash and name not in unread and identity not in badly_cut:
                tally.unchanged += 1
            elif other != name and Path(other).exists():
                tally.same.append((printable(name), other))
            else:
                moved, _ = known.get(other, ("", ""))
                fresh[path] = Fresh(file_hash=file_hash, identity=identity or moved)
                if file_hash:
                    there[file_hash, ending(name)] = name
        return fresh, tally

    async def _digests(self, files: Sequence[Path]) -> AsyncIterator[tuple[Path, Digest | Unreadable]]:
        """Each file as soon as it is read. The workers are sent its name as text, which not every name is."""
        nameable = [path for path in files if printable(str(path)) == str(path)]
        for path in set(files).difference(nameable):
            yield path, Unreadable("Its name is not text.", advice="Give it another name.")
        for path in [path for path in nameable if ending_of(path.name) in self._parsers]:
            nameable.remove(path)
            try:
                yield (
                    path,
                    await asyncio.to_thread(digest_with, self._parsers[ending_of(path.name)], path, self._limits.size),
                )
            except Unreadable as problem:
                yield path, problem
        async for outcome in parse_files(nameable, read=digest_file, workers=self._workers, limits=self._limits):
            yield outcome

    async def _write(self, batch: list[tuple[Document, Digest | None]]) -> list[Document]:
        """Return the documents whose text could not be embedded; each is kept with its problem."""
        if not batch:
            return []
        texts = await asyncio.to_thread(
            lambda: [text for _, each in batch if each for part in embedded(each).values() for text in part]
        )
        try:
            vectors: NDArray[np.float16] = (await self._embedder.embed(texts)).astype(np.float16)
        except Unreadable as problem:  # of one of them; the others must not pay for it
            if len(batch) > 1:
                return [lost for each in batch for lost in await self._write([each])]
            [(document, _)] = batch
            lost = msgspec.structs.replace(document, problem=str(problem))
            await self._store.documents.add(IngestedDocument(document=lost))
            return [lost]
        read = await asyncio.to_thread(with_vectors, batch, vectors, self._embedder.name)
        await self._store.documents.add_many(read)
        return []


def with_vectors(
    batch: Sequence[tuple[Document, Digest | None]], vectors: NDArray[np.float16], embedder: str
) -> list[IngestedDocument]:
    read, at = [], 0
    for document, digested in batch:
        if digested is None:
            read.append(IngestedDocument(document=document))
            continue
        of: dict[Target, NDArray[np.float16]] = {}
        for target, part in embedded(digested).items():
            of[target] = vectors[at : at + len(part)]
            at += len(part)
        read.append(
            IngestedDocument(
                document=document,
                text=digested.parsed.text,
                segments=digested.segments,
                summaries=digested.summaries,
                annotations=digested.annotations,
                vectors=of,
                embedder=embedder,
            )
        )
    return read


class Fresh(NamedTuple):
    """A file to read. `identity` is the id of the document that it is already, if any."""

    file_hash: str
    identity: str


class IngestTally:
    """Counts on the way."""

    def __init__(self) -> None:
        self.added = self.changed = self.unchanged = self.pages = self.segments = self.facts = 0
        self.same: list[tuple[str, str]] = []
        self.unreadable: list[tuple[str, str]] = []

    def count(self, document: Document, result: Digest | Unreadable, *, is_new: bool) -> None:
        if isinstance(result, Unreadable):
            self.unreadable.append((printable(document.path), document.problem))
            return
        self.added += is_new
        self.changed += not is_new
        self.pages += document.pages
        self.segments += len(result.segments)
        self.facts += len(result.annotations)

    def lose(self, documents: Sequence[Document], fresh: Mapping[Path, Fresh]) -> None:
        """Count again, as unreadable, what was counted as read."""
        for document in documents:
            is_new = not fresh[Path(document.path)].identity
            self.added -= is_new
            self.changed -= not is_new
            self.unreadable.append((printable(document.path), document.problem))

    def total(self, seconds: float) -> Ingested:
        return Ingested(
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            same=tuple(self.same),
            unreadable=tuple(self.unreadable),
            pages=self.pages,
            segments=self.segments,
            facts=self.facts,
            seconds=round(seconds, 3),
        )


def embedded(digested: Digest) -> dict[Target, list[str]]:
    """The texts that become vectors, by what they are of."""
    return {
        "segment": [f"{segment.heading}\n{segment.text}".strip() for segment in digested.segments],
        "summary": [summary.text for summary in digested.summaries],
        "fact": [serialised(annotation) for annotation in digested.annotations],
    }


def serialised(annotation: Annotation) -> str:
    """ "Width: 951 mm", or a row as such pairs."""
    return "; ".join(f"{each.label}: {each.value.raw}" for each in annotation.properties)


def described(
    path: Path, identity: str, file_hash: str, result: Digest | Unreadable, before: Document | None = None
) -> Document:
    """Build the record of a document. A kind that a person set is kept."""
    problem = str(result) if isinstance(result, Unreadable) else ""
    bare = Document(
        id=identity,
        path=str(path),
        name=path.name,
        media=path.suffix.lower().removeprefix("."),
        file_hash=file_hash,
        size=size_of(path),
        added_at=now(),
        problem=problem,
    )
    if isinstance(result, Unreadable):
        return bare
    parsed = result.parsed
    return msgspec.structs.replace(
        bare,
        title=parsed.title or path.stem,
        media=parsed.media,
        heading=result.heading,
        kind=before.kind if before else result.kind,
        kind_by=before.kind_by if before else "",
        categories=result.categories,
        text_hash=content_hash(parsed.text),
        pages=len(parsed.page_starts) or 1,
        page_starts=parsed.page_starts,
        characters=len(parsed.text),
    )


def find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files, and those in the folders, in order; what is hidden is left alone unless it was named."""
    for path in paths:
        path = path.expanduser().absolute()
        path = path.resolve() if path.is_dir() else path.parent.resolve() / path.name
        if not path.exists():
            raise NotFound(f"There is no {path}.", advice="Name files or folders that exist.")
        if not path.is_dir():
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    yield Path(folder) / name


async def hashes_of(files: Sequence[Path]) -> dict[Path, str]:
    """Many small files are hashed in one thread's turn."""
    hashes: dict[Path, str] = {}
    for part in batches(files, most=HASHED):
        hashes.update(zip(part, await asyncio.to_thread(lambda these: [*map(hash_of, these)], part), strict=True))
    return hashes


def hash_of(path: Path) -> str:
    """Return the hash of the content, or "" if the file cannot be read; the parsers then say why."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def ending(path: str) -> str:
    return Path(path).suffix.lower()


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
