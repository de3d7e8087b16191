"""Add files and folders as documents: find them, compare them with what is stored, index them in parallel, store them.

A file that cannot be read is stored as a name with a reason, so that an answer can say what it does not cover.
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
from tablewright.documents.indexed_document import IndexedDocument, index_file, index_file_with_parser
from tablewright.documents.parse.parser import Parser, file_ending
from tablewright.documents.parse.pool import parse_files
from tablewright.documents.segment import SEGMENT_LIMITS
from tablewright.domain.documents import Annotation, Document
from tablewright.domain.model import Struct
from tablewright.domain.retrieved import hash_content
from tablewright.domain.run import Progress
from tablewright.errors import ModelError, NotFound, Unreadable
from tablewright.llm.embedder import Embedder
from tablewright.llm.text_budget import split_batches
from tablewright.sandbox.limits import SandboxLimits
from tablewright.sandbox.sandbox import DEFAULT_LIMITS
from tablewright.store.documents import IngestedDocument
from tablewright.store.records import clean_for_storage, new_id, utc_now
from tablewright.store.search_index import Target
from tablewright.store.store import Store

# Embedding and writing this many segments costs little more than one; two seconds keep a progress display moving.
BATCH_SEGMENTS, BATCH_SECONDS = 2_000, 2.0


class IngestProgress(Struct, frozen=True):
    """Progress: `done` of `total` files."""

    done: int
    total: int
    path: str = ""

    @property
    def progress(self) -> Progress:
        return Progress(stage="working", done=self.done, total=self.total)


class IngestResult(Struct, frozen=True):
    """The result of adding files. `same` are those whose content is already stored under another name."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    same: tuple[tuple[str, str], ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    pages: int = 0
    segments: int = 0
    facts: int = 0
    classified: int = 0
    """Documents that the model classified."""
    from_titles: int = 0
    """Documents with a new kind that is only guessed from their titles."""
    outage: str = ""
    """Why documents have no vectors, and are found by their words alone."""
    seconds: float = 0.0


Watch: TypeAlias = Callable[[IngestProgress], None]


class Ingest:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        workers: int = 0,
        limits: SandboxLimits = DEFAULT_LIMITS,
        parsers: Mapping[str, Parser] | None = None,
    ) -> None:
        """`parsers` are the caller's own, by file ending; they run in this process."""
        self._parsers = {name.lower().removeprefix("."): parser for name, parser in (parsers or {}).items()}
        self._store = store
        self._embedder = embedder
        self._workers = workers
        self._limits = limits
        self._outage = ""

    async def add(self, paths: Sequence[Path], watch: Watch = lambda _: None, *, kind: str = "") -> IngestResult:
        """Read all new or changed files of the paths, and set the `kind` of all. A file that fails stops no other."""
        started = time.monotonic()
        files = await asyncio.to_thread(lambda: list(dict.fromkeys(find_files(paths))))
        watch(IngestProgress(done=0, total=len(files)))
        fresh, tally = await self._compare(files)
        kinds = {each.id: each for each in await self._store.documents.all() if each.is_sorted}
        done = len(files) - len(fresh)
        batch: list[tuple[Document, IndexedDocument | None]] = []
        flushed = time.monotonic()
        async for path, result in self._index_files(list(fresh)):
            done += 1
            watch(IngestProgress(done=done, total=len(files), path=str(path)))
            file_hash, identity = fresh[path]
            document = build_document_record(path, identity or new_id("doc_"), file_hash, result, kinds.get(identity))
            tally.count(document, result, is_new=not identity)
            batch.append((document, None if isinstance(result, Unreadable) else result))
            waiting = sum(len(each.segments) for _, each in batch if each is not None)
            if waiting >= BATCH_SEGMENTS or time.monotonic() - flushed > BATCH_SECONDS:
                tally.lose(await self._write(batch), fresh)
                batch, flushed = [], time.monotonic()
        tally.lose(await self._write(batch), fresh)
        tally.outage = self._outage
        if kind:
            known = await self._store.documents.known()
            ids = [known[name][0] for path in files if (name := str(path)) in known]
            await self._store.kinds.set_kinds(dict.fromkeys(ids, kind), "person")
        return tally.total(time.monotonic() - started)

    async def _compare(self, files: Sequence[Path]) -> tuple[dict[Path, FileToRead], IngestTally]:
        """Return the files to read, and the counts of those that need no reading.

        A file that could not be read is tried again, as the cause may be gone; a moved file stays the same document.
        One that an earlier version cut into overlong segments, or that has no vectors of this embedder, is read again:
        its text and its quotes stay the same."""
        known = await self._store.documents.known()
        unread = {document.path for document in await self._store.documents.all(readable=False)}
        again = await self._store.documents.with_long_segments(SEGMENT_LIMITS.characters)
        again |= await self._store.documents.without_vectors(self._embedder.name)
        tally = IngestTally()
        # Under another ending the same bytes are parsed differently.
        there = {(file_hash, path_suffix(path)): path for path, (_, file_hash) in known.items() if file_hash}
        fresh: dict[Path, FileToRead] = {}
        for path, file_hash in (await hash_files(files)).items():
            name = str(path)
            identity, known_hash = known.get(name, ("", ""))
            other = there.get((file_hash, path_suffix(name)), name)
            if file_hash and file_hash == known_hash and name not in unread and identity not in again:
                tally.unchanged += 1
            elif other != name and Path(other).exists():
                tally.same.append((clean_for_storage(name), other))
            else:
                moved, _ = known.get(other, ("", ""))
                fresh[path] = FileToRead(file_hash=file_hash, identity=identity or moved)
                if file_hash:
                    there[file_hash, path_suffix(name)] = name
        return fresh, tally

    async def _index_files(self, files: Sequence[Path]) -> AsyncIterator[tuple[Path, IndexedDocument | Unreadable]]:
        """Yield each file as soon as it is indexed. Workers get its name as text, which not every name is."""
        nameable = [path for path in files if clean_for_storage(str(path)) == str(path)]
        for path in set(files).difference(nameable):
            yield path, Unreadable("Its name is not text.", advice="Give it another name.")
        for path in [path for path in nameable if file_ending(path.name) in self._parsers]:
            nameable.remove(path)
            try:
                yield (
                    path,
                    await asyncio.to_thread(
                        index_file_with_parser, self._parsers[file_ending(path.name)], path, self._limits.size
                    ),
                )
            except Unreadable as problem:
                yield path, problem
        async for outcome in parse_files(nameable, read=index_file, workers=self._workers, limits=self._limits):
            yield outcome

    async def _write(self, batch: list[tuple[Document, IndexedDocument | None]]) -> list[Document]:
        """Return the documents whose text could not be embedded; each is kept with its problem."""
        if not batch:
            return []
        texts = await asyncio.to_thread(
            lambda: [text for _, each in batch if each for part in texts_to_embed(each).values() for text in part]
        )
        vectors: NDArray[np.float16] | None = None
        try:
            # The other batches would fail in the same way, each after a long wait.
            if not self._outage:
                vectors = (await self._embedder.embed(texts)).astype(np.float16)
        except ModelError as error:
            self._outage = error.what
        except Unreadable as problem:
            # One of them cannot be read; the others are written without it.
            if len(batch) > 1:
                return [lost for each in batch for lost in await self._write([each])]
            [(document, _)] = batch
            lost = msgspec.structs.replace(document, problem=str(problem))
            await self._store.documents.add(IngestedDocument(document=lost))
            return [lost]
        read = await asyncio.to_thread(attach_vectors, batch, vectors, self._embedder.name)
        await self._store.documents.add_many(read)
        return []


def attach_vectors(
    batch: Sequence[tuple[Document, IndexedDocument | None]], vectors: NDArray[np.float16] | None, embedder: str
) -> list[IngestedDocument]:
    """Return what is stored of the documents; without vectors they are found by their words alone."""
    read, at = [], 0
    for document, indexed in batch:
        if indexed is None:
            read.append(IngestedDocument(document=document))
            continue
        of: dict[Target, NDArray[np.float16]] = {}
        if vectors is not None:
            for target, part in texts_to_embed(indexed).items():
                of[target] = vectors[at : at + len(part)]
                at += len(part)
        read.append(
            IngestedDocument(
                document=document,
                text=indexed.parsed.text,
                segments=indexed.segments,
                summaries=indexed.summaries,
                annotations=indexed.annotations,
                vectors=of,
                embedder=embedder,
            )
        )
    return read


class FileToRead(NamedTuple):
    """A file to read. `identity` is the id of the document if it is already stored."""

    file_hash: str
    identity: str


class IngestTally:
    """Running counts of an ingest."""

    def __init__(self) -> None:
        self.added = self.changed = self.unchanged = self.pages = self.segments = self.facts = 0
        self.same: list[tuple[str, str]] = []
        self.unreadable: list[tuple[str, str]] = []
        self.outage = ""

    def count(self, document: Document, result: IndexedDocument | Unreadable, *, is_new: bool) -> None:
        if isinstance(result, Unreadable):
            self.unreadable.append((clean_for_storage(document.path), document.problem))
            return
        self.added += is_new
        self.changed += not is_new
        self.pages += document.pages
        self.segments += len(result.segments)
        self.facts += len(result.annotations)

    def lose(self, documents: Sequence[Document], fresh: Mapping[Path, FileToRead]) -> None:
        """Count documents as unreadable that were already counted as read."""
        for document in documents:
            is_new = not fresh[Path(document.path)].identity
            self.added -= is_new
            self.changed -= not is_new
            self.unreadable.append((clean_for_storage(document.path), document.problem))

    def total(self, seconds: float) -> IngestResult:
        return IngestResult(
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            same=tuple(self.same),
            unreadable=tuple(self.unreadable),
            pages=self.pages,
            segments=self.segments,
            facts=self.facts,
            outage=self.outage,
            seconds=round(seconds, 3),
        )


def texts_to_embed(indexed: IndexedDocument) -> dict[Target, list[str]]:
    """Return the texts to embed, by what they describe."""
    return {
        "segment": [f"{segment.heading}\n{segment.text}".strip() for segment in indexed.segments],
        "summary": [summary.text for summary in indexed.summaries],
        "fact": [format_annotation(annotation) for annotation in indexed.annotations],
    }


def format_annotation(annotation: Annotation) -> str:
    """Return a fact as "Width: 951 mm", a row as several such pairs."""
    return "; ".join(f"{each.label}: {each.value.raw}" for each in annotation.properties)


def build_document_record(
    path: Path, identity: str, file_hash: str, result: IndexedDocument | Unreadable, before: Document | None = None
) -> Document:
    """Build the record of a document. A kind that a person set is kept."""
    problem = str(result) if isinstance(result, Unreadable) else ""
    bare = Document(
        id=identity,
        path=str(path),
        name=path.name,
        media=path.suffix.lower().removeprefix("."),
        file_hash=file_hash,
        size=file_size(path),
        added_at=utc_now(),
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
        text_hash=hash_content(parsed.text),
        pages=len(parsed.page_starts) or 1,
        page_starts=parsed.page_starts,
        characters=len(parsed.text),
    )


def find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files and those in the folders, in order; hidden ones only if they were named."""
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


async def hash_files(files: Sequence[Path]) -> dict[Path, str]:
    """Return the content hashes; a thread hashes many small files in one turn."""
    hashes: dict[Path, str] = {}
    for part in split_batches(files, most=100):
        hashes.update(zip(part, await asyncio.to_thread(lambda these: [*map(hash_one_file, these)], part), strict=True))
    return hashes


def hash_one_file(path: Path) -> str:
    """Return the hash of the content, or "" if the file cannot be read; the parsers then say why."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def path_suffix(path: str) -> str:
    return Path(path).suffix.lower()


def file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
