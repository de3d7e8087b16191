"""Files become documents: each once, again when it changed, and whatever is wrong with one costs no other."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from tablewright.documents.corpus import Corpus
from tablewright.documents.ingest import Ingest, IngestProgress, IngestResult, find_files
from tablewright.documents.segment import SEGMENT_LIMITS
from tablewright.domain.documents import Segment
from tablewright.errors import NotFound
from tablewright.llm import embedder
from tablewright.llm.embedder import Vectors, WordLlamaEmbedder
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store

KETTLE = "Guide to the kettle\n\nDescale the kettle with vinegar once a month.\n"
BOAT = "Guide to the boat\n\nThe sails are made of canvas.\nLength: 7.2 m\n"


class Embedder(WordLlamaEmbedder):
    """The real one, with a gate in front of it that a test may close."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.set()
        self.texts += texts
        await self.gate.wait()
        return await super().embed(texts)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(f"sqlite:///{tmp_path / 'kept.db'}") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    return made


class Library:
    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.embedder = Embedder()
        self.corpus = Corpus(store, self.embedder)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def add(self, *paths: Path, watch: Callable[[IngestProgress], None] = lambda _: None) -> IngestResult:
        return await Ingest(self.store, self.embedder, workers=1).add(paths or [self.folder], watch)

    async def found(self, text: str) -> list[str]:
        """The names of the documents that have all these words."""
        parts = await self.store.documents.with_words(text)
        return [each.name for each in await self.store.documents.find([part.document_id for part in parts])]

    async def names(self, *, readable: bool | None = None) -> list[str]:
        return [each.name for each in await self.store.documents.all(readable=readable)]


@pytest.fixture
async def library(store: Store, folder: Path) -> Library:
    return Library(store, folder)


def said(ingested: IngestResult) -> tuple[int, int, int, int, int]:
    return (
        ingested.added,
        ingested.changed,
        ingested.unchanged,
        len(ingested.same),
        len(ingested.unreadable),
    )


async def test_what_was_added_is_not_read_again(library: Library) -> None:
    path = library.write("kettle.txt", KETTLE)
    library.write("deep/er/boat.txt", BOAT)
    news: list[IngestProgress] = []
    first = await library.add(watch=news.append)
    assert said(first) == (2, 0, 0, 0, 0)
    assert first.segments >= 2
    assert first.facts >= 1
    assert (news[0].done, news[0].total, news[-1].done) == (0, 2, 2)
    assert {Path(each.path).name for each in news[1:]} == {"kettle.txt", "boat.txt"}
    before = await library.store.documents.all()
    library.embedder.texts.clear()
    os.utime(path, (1, 1))
    again = await library.add()
    assert said(again) == (0, 0, 2, 0, 0)
    assert (again.pages, again.segments, again.facts) == (0, 0, 0)
    assert library.embedder.texts == []
    assert await library.store.documents.all() == before


async def test_a_changed_file_is_read_again_and_its_old_text_is_found_no_more(library: Library) -> None:
    path = library.write("kettle.txt", KETTLE)
    await library.add()
    (before,) = await library.store.documents.all()
    assert await library.found("vinegar") == ["kettle.txt"]
    path.write_text("Guide to the kettle\n\nDescale the kettle with lemon juice.\n")
    assert said(await library.add()) == (0, 1, 0, 0, 0)
    (after,) = await library.store.documents.all()
    assert after.id == before.id
    assert after.text_hash != before.text_hash
    assert await library.found("vinegar") == []
    assert await library.found("lemon") == ["kettle.txt"]
    hits = (await library.corpus.search.hybrid("descaling with vinegar")).hits
    assert hits
    assert not any("vinegar" in hit.text for hit in hits)


async def test_a_file_that_broke_loses_its_text_and_gets_it_back_when_it_is_whole_again(library: Library) -> None:
    path = library.write("kettle.txt", KETTLE)
    await library.add()
    path.write_bytes(b"\0\0\0")
    broken = await library.add()
    assert said(broken) == (0, 0, 0, 0, 1)
    assert await library.found("vinegar") == []
    assert await library.names(readable=True) == []
    path.write_text(KETTLE)
    assert said(await library.add()) == (0, 1, 0, 0, 0)
    assert await library.names(readable=False) == []
    assert await library.found("vinegar") == ["kettle.txt"]


async def test_what_cannot_be_read_is_listed_with_the_reason_and_stops_nothing(library: Library) -> None:
    for name, content in (
        ("1-empty.txt", b""),
        ("2-blank.txt", b" \n\t\n"),
        ("3-broken.pdf", b"%PDF-1.7\nthis is no PDF at all"),
        ("4-mislabelled.docx", b"plain text"),
        ("5-unknown.bin", bytes(range(256)) * 20),
        ("6-kettle.txt", KETTLE.encode()),
    ):
        library.write(name, content)
    os.mkfifo(library.folder / "7-pipe.txt")
    (library.folder / "8-nowhere.txt").symlink_to(library.folder / "gone.txt")
    done = await library.add()
    assert said(done) == (1, 0, 0, 0, 7)
    reasons = {Path(path).name: reason for path, reason in done.unreadable}
    assert "empty" in reasons["1-empty.txt"]
    assert "pipe" in reasons["7-pipe.txt"]
    assert "not there" in reasons["8-nowhere.txt"]
    assert all(name in reason for name, reason in reasons.items())
    assert await library.found("vinegar") == ["6-kettle.txt"]
    kept = await library.store.documents.all()
    assert (len(kept), sum(bool(document.problem) for document in kept)) == (8, 7)


async def test_a_file_that_could_not_be_read_is_tried_and_said_again(library: Library) -> None:
    library.write("broken.pdf", b"%PDF-1.7\nthis is no PDF at all")
    library.write("kettle.txt", KETTLE)
    first = await library.add()
    again = await library.add()
    assert again.unreadable == first.unreadable
    assert again.unchanged == 1


async def test_the_same_content_under_two_names_is_one_document(library: Library) -> None:
    library.write("a.txt", KETTLE)
    library.write("b.txt", KETTLE)
    done = await library.add()
    assert said(done) == (1, 0, 0, 1, 0)
    assert [(Path(path).name, Path(other).name) for path, other in done.same] == [("b.txt", "a.txt")]
    assert await library.names() == ["a.txt"]
    later = await library.add()
    assert said(later) == (0, 0, 1, 1, 0)


async def test_a_copy_with_another_ending_may_be_readable_where_the_first_is_not(library: Library) -> None:
    library.write("kettle.pdf", KETTLE)
    library.write("kettle.txt", KETTLE)
    done = await library.add()
    assert said(done) == (1, 0, 0, 0, 1)
    assert await library.found("vinegar") == ["kettle.txt"]


async def test_a_moved_file_stays_the_document_that_it_was(library: Library) -> None:
    path = library.write("old.txt", KETTLE)
    await library.add()
    (before,) = await library.store.documents.all()
    path.rename(library.folder / "new.txt")
    assert said(await library.add()) == (0, 1, 0, 0, 0)
    (after,) = await library.store.documents.all()
    assert (after.id, after.name) == (before.id, "new.txt")
    assert await library.found("vinegar") == ["new.txt"]


async def test_a_removed_document_can_be_added_again(library: Library) -> None:
    library.write("kettle.txt", KETTLE)
    await library.add()
    (before,) = await library.store.documents.all()
    assert await library.store.documents.remove([before.id]) == 1
    assert await library.found("vinegar") == []
    assert (await library.corpus.search.hybrid("descale the kettle")).hits == ()
    assert said(await library.add()) == (1, 0, 0, 0, 0)
    assert await library.found("vinegar") == ["kettle.txt"]


async def test_two_ways_to_one_file_are_one_document(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.write("sub/kettle.txt", KETTLE)
    (library.folder / "other").mkdir()
    await library.add(library.folder / "sub")
    library.write("sub/kettle.txt", KETTLE + "\nIt holds a litre.\n")
    monkeypatch.chdir(library.folder / "other")
    done = await library.add(Path("../sub/kettle.txt"), library.folder / "sub", Path("../sub"))
    assert said(done) == (0, 1, 0, 0, 0)
    assert await library.names() == ["kettle.txt"]


def test_hidden_files_are_left_alone_unless_they_are_named(folder: Path) -> None:
    for name in (".secret.txt", ".git/config.txt", "seen/.env", "seen/kettle.txt"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(KETTLE)
    assert [path.name for path in find_files([folder])] == ["kettle.txt"]
    assert [path.name for path in find_files([folder / ".secret.txt"])] == [".secret.txt"]
    assert [path.name for path in find_files([folder / ".git"])] == ["config.txt"]


def test_a_folder_that_contains_itself_ends(folder: Path) -> None:
    (folder / "kettle.txt").write_text(KETTLE)
    (folder / "again").symlink_to(folder, target_is_directory=True)
    assert [path.name for path in find_files([folder])] == ["kettle.txt"]


async def test_a_path_that_is_not_there_is_said_before_anything_is_read(library: Library) -> None:
    library.write("kettle.txt", KETTLE)
    with pytest.raises(NotFound, match="nowhere"):
        await library.add(library.folder, library.folder / "nowhere")
    assert await library.names() == []


async def test_an_empty_folder_is_nothing(library: Library) -> None:
    assert said(await library.add()) == (0, 0, 0, 0, 0)


async def test_a_name_that_is_no_text_costs_only_its_file(library: Library) -> None:
    library.write("kettle.txt", KETTLE)
    name = os.fsdecode(b"caf\xe9.txt")
    (library.folder / name).write_text(BOAT)
    done = await library.add()
    assert done.added >= 1
    assert await library.found("vinegar") == ["kettle.txt"]
    for text in (path for pair in (*done.unreadable, *done.same) for path in pair):
        text.encode()


async def test_what_was_written_before_a_stop_is_kept_and_the_rest_is_read_later(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.documents.ingest.BATCH_SEGMENTS", 1)
    for number in range(6):
        library.write(f"{number}.txt", f"{KETTLE}\nIt is kettle number {number}.\n")
    third = asyncio.Event()

    def watch(news: IngestProgress) -> None:
        if news.done == 3:
            library.embedder.asked.clear()
            library.embedder.gate.clear()
            third.set()

    task = asyncio.create_task(library.add(watch=watch))
    await third.wait()
    await library.embedder.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kept = await library.names()
    assert len(kept) == 2
    assert await library.found("vinegar") == kept
    library.embedder.gate.set()
    rest = await library.add()
    assert said(rest) == (4, 0, 2, 0, 0)
    assert len(await library.names()) == 6


async def test_two_who_add_the_same_folder_at_once_make_no_document_twice(library: Library) -> None:
    for number in range(4):
        library.write(f"{number}.txt", f"{KETTLE}\nIt is kettle number {number}.\n")
    await asyncio.gather(library.add(), library.add())
    assert await library.names() == [f"{number}.txt" for number in range(4)]
    assert len(await library.found("vinegar")) == 4
    assert said(await library.add()) == (0, 0, 4, 0, 0)


async def test_a_document_that_was_cut_into_segments_that_are_too_long_is_read_again(library: Library) -> None:
    """As an earlier version cut texts without spaces. Its text stays the same, and what was quoted from it."""
    path = library.write("panels.txt", "太阳能电池板把阳光转换成电。" * 1_000)
    library.write("kettle.txt", KETTLE)
    await library.add()
    found = {each.name: each for each in await library.store.documents.all()}
    before, text = found["panels.txt"], path.read_text(encoding="utf-8")
    whole = Segment(number=0, start=0, end=len(text), text=text)
    await library.store.documents.add(IngestedDocument(document=before, text=text, segments=(whole,)))
    assert said(await library.add()) == (0, 1, 1, 0, 0)
    [after] = [each for each in await library.store.documents.all() if each.name == "panels.txt"]
    assert (after.id, after.text_hash) == (before.id, before.text_hash)
    segments = await library.store.documents.segments_of(after.id)
    assert max(len(each.segment.text) for each in segments) <= SEGMENT_LIMITS.characters
    assert said(await library.add()) == (0, 0, 2, 0, 0)


async def test_a_text_that_cannot_be_embedded_costs_its_document_only(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "WORKER_LIMITS", SandboxLimits(seconds=0.001))
    library.write("kettle.txt", KETTLE)
    library.write("long.txt", "The sails are made of canvas.\n\n" * 4_000)
    done = await library.add()
    assert said(done) == (1, 0, 0, 0, 1)
    assert "Its text took longer than 0.001 s to embed and was given up. Divide the document" in done.unreadable[0][1]
    assert await library.found("vinegar") == ["kettle.txt"]
    assert await library.names(readable=False) == ["long.txt"]
    monkeypatch.undo()
    await library.embedder.close()
    library.embedder = Embedder()
    assert said(await library.add()) == (0, 1, 1, 0, 0)
    assert await library.names(readable=False) == []
    await library.embedder.close()


@pytest.mark.parametrize("content", ["a[" * 400_000, "太阳能电池板把阳光转换成电" * 20_000, "x" * 800_000])
def test_hostile_text_is_added_within_little_memory(content: str, tmp_path: Path) -> None:
    """In a process of its own, whose memory and that of its workers is limited and added up."""
    (tmp_path / "small.txt").write_text(KETTLE)
    (tmp_path / "hostile.txt").write_text(content, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", ADDING, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    segments, grown, largest_worker = map(int, done.stdout.split())
    assert segments > 100
    assert grown < 300 * MEBIBYTE
    assert largest_worker < 700 * MEBIBYTE, "with Python, the libraries and the model itself"


ADDING = """
import asyncio, resource, sys
from pathlib import Path
from tablewright.documents.ingest import Ingest
from tablewright.llm.embedder import WordLlamaEmbedder
from tablewright.store.store import Store

def most(who):
    return resource.getrusage(who).ru_maxrss * 1024

async def main(folder):
    resource.setrlimit(resource.RLIMIT_AS, (4 * 1024**3,) * 2)
    embedder = WordLlamaEmbedder()
    async with await Store.open(f"sqlite:///{folder}/kept.db") as store:
        ingest = Ingest(store, embedder, workers=1)
        await ingest.add([folder / "small.txt"])
        before = most(resource.RUSAGE_SELF)
        done = await ingest.add([folder / "hostile.txt"])
        await embedder.close()
    print(done.segments, most(resource.RUSAGE_SELF) - before, most(resource.RUSAGE_CHILDREN))

asyncio.run(main(Path(sys.argv[1])))
"""
