"""Your documents: adding, asking, looking up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.application.base import AnyPath, Application
from tablewright.background_jobs import ingest_spec
from tablewright.domain.form import Form, KnownGroup, form_of
from tablewright.domain.model import Step
from tablewright.domain.text import count_noun
from tablewright.domain.wording import within_bounds
from tablewright.errors import NotFound, UsageError
from tablewright.journeys.files import Imported
from tablewright.policies import documents_unasked, terms_of
from tablewright.store.conversations import Conversation

if TYPE_CHECKING:
    from tablewright.corpus.ingest import Ingested, IngestProgress
    from tablewright.domain.corpus import Document
    from tablewright.domain.reply import Reply
    from tablewright.journeys.ask.ask import Asker
    from tablewright.journeys.ask.retrieval import Retrieval
    from tablewright.journeys.documents import DocumentReport

LONGEST_KIND = 40


class DocumentVerbs(Application):
    async def add_documents(
        self,
        paths: Sequence[AnyPath],
        *,
        kind: str = "",
        workers: int = 0,
        watch: Callable[[IngestProgress], None] = lambda _: None,
    ) -> Ingested:
        """Files and folders; only what is new or has changed is read. `kind` says what all of them are."""
        files = [Path(path) for path in paths]
        await self.charge_files(files)
        spec = ingest_spec(files, workers, kind_of(kind) if kind else "")
        return await self.jobs.perform("ingest", "", spec, partial(self.background.ingest, watch=watch))

    async def documents(self, *, kind: str = "", readable: bool | None = None) -> list[Document]:
        found = await self.store.documents.all(readable=readable)
        return [document for document in found if not kind or document.kind == kind]

    async def document_facts(self) -> dict[str, int]:
        """How many facts and rows were read from each document, by its id."""
        return await self.store.documents.facts()

    async def document(self, name: str) -> DocumentReport:
        """By its id, file name or path, with what was read from it."""
        from tablewright.journeys import documents

        return await documents.report(self.store, name)

    async def remove_documents(self, names: Sequence[str]) -> list[Document]:
        """With everything that was made of them; all of them or, where one is not there, none."""
        from tablewright.journeys.ask.kinds import guess_kinds

        found = {document.id: document for document in [await self.store.documents.get(name) for name in names]}
        await self.store.documents.remove(list(found))
        await guess_kinds(self.store)
        return list(found.values())

    async def annotate_documents(
        self, names: Sequence[str], watch: Callable[[IngestProgress], None] = lambda _: None
    ) -> int:
        """Facts that the model finds beyond those of the rules; how many were new."""
        from tablewright.journeys import documents

        corpus, model = await self.toolbox.open_corpus(self.store), await self.toolbox.open_model()
        async with self.spending():
            return await documents.annotate(self.store, corpus, model, names, watch)

    async def table_of_documents(
        self, name: str, *, kind: str = "", within: Sequence[AnyPath] = (), update: bool = False
    ) -> Imported:
        """Make a table with a row for each readable document, or `update` the one that they became before.

        `within` restricts it to these files and the documents in these folders."""
        from tablewright.journeys import documents

        return await documents.as_table(
            self.store, name, kind=kind, actor=self.actor, within=[Path(each) for each in within], update=update
        )

    async def ask(
        self,
        question: str,
        *,
        conversation: str = "",
        agreed: bool = False,
        tell: Callable[[Step], None] = lambda _: None,
    ) -> Reply:
        """A question about the documents, alone or in a conversation. Before very many of them are read for it, the
        reply asks, unless `agreed`."""
        asker = await self._open_asker(tell)
        async with self.spending():
            return await asker.ask(within_bounds(question), conversation, agreed=agreed)

    async def query_documents(self, form: Form, *, conversation: str = "") -> Reply:
        """What is known of the documents, by conditions that say just what they say; no model is asked."""
        return await (await self._open_asker()).query(form, conversation)

    async def more_rows(self, conversation: str) -> Reply:
        """The next rows of the last list in a conversation; no model is asked."""
        return await (await self._open_asker()).more(conversation)

    async def known_of_documents(self) -> list[KnownGroup]:
        """The kinds of documents, and the tables inside them, with the columns that a form can use."""
        return await (await self._open_asker()).known()

    async def set_document_kind(self, names: Sequence[str], kind: str) -> None:
        """What these documents are, said by a person; it stays when they are read again."""
        from tablewright.journeys.ask.kinds import guess_kinds

        found = [await self.store.documents.get(name) for name in names]
        await self.store.kinds.set_kinds(dict.fromkeys((document.id for document in found), kind_of(kind)), "person")
        await guess_kinds(self.store)

    async def documents_where(self, where: str) -> list[str]:
        """The ids of all documents that meet the conditions; what does not say is not among them."""
        found = await self.retrieval.annotations_search(form_of(where))
        if not found.matches:
            raise NotFound(f"No document meets “{where}”.", advice="`tablewright docs tables` lists what is known.")
        return list(dict.fromkeys(each.document_id for each in found.matches))

    async def _open_asker(self, tell: Callable[[Step], None] = lambda _: None) -> Asker:
        from tablewright.journeys.ask.ask import Asker
        from tablewright.journeys.ask.turn import AskContext

        context = AskContext(
            self.store,
            await self.toolbox.open_corpus(self.store),
            await self.toolbox.open_model(),
            open_tools=self.open_tools,
            actor=self.actor,
            terms=terms_of(self.settings),
            concurrency=self.settings.rows_at_once,
            unasked=documents_unasked(self.settings),
            tell=tell,
            row_tables=self.row_tables,
        )
        return Asker(context)

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self.store.conversations.get(conversation_id)

    async def conversations(self) -> list[Conversation]:
        """Without their turns, the newest first; not those that were broken off before their first answer."""
        return [each for each in await self.store.conversations.all() if each.title]

    async def remove_conversation(self, conversation_id: str) -> None:
        """With the rows of its answers."""
        await self.store.conversations.remove(conversation_id)

    async def export_result(self, result_id: str, path: AnyPath, *, folders: bool = False) -> int:
        """All rows of a reply; how many. `folders`: with where each document lies, not only its name."""
        from tablewright.journeys import documents

        path = Path(path)
        count = await documents.export_result(self.store, result_id, path, folders=folders)
        await self.store.audit.note(
            "export", f"result {result_id}", f"{count_noun(count, 'row')} as {path.suffix or 'text'}"
        )
        return count

    async def document_text(self, name: str) -> str:
        """The whole text of a document, as it was read; evidence points into it."""
        return (await self.store.documents.retrieved((await self.store.documents.get(name)).id)).text

    async def document_page(self, name: str, number: int, quote: str = "") -> bytes:
        """A page of a PDF as a PNG picture, with the quote marked on it. The file has to be where it was read."""
        from tablewright.corpus.page_image import page_image

        document = await self.store.documents.get(name)
        if document.media != "pdf" or not await asyncio.to_thread(Path(document.path).is_file):
            raise NotFound(f"There is no picture of the pages of {document.name}.")
        return await page_image(Path(document.path), number, quote)

    @property
    def retrieval(self) -> Retrieval:
        """The five tools that answers are made with, for those who ask by themselves."""
        from tablewright.journeys.ask.retrieval import Retrieval

        return Retrieval(self.store, partial(self.toolbox.open_corpus, self.store), self._open_asker)


def kind_of(text: str) -> str:
    kind = " ".join(text.lower().split())
    if not kind or len(kind) > LONGEST_KIND:
        raise UsageError(f"A kind has 1 to {LONGEST_KIND} characters.", advice="One or two words: lab report.")
    return kind
