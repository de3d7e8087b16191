"""Your documents: a table of them, and questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.application.base import AnyPath, Application
from tablewright.domain.files import Imported
from tablewright.domain.form import Form
from tablewright.domain.model import Step
from tablewright.domain.text import count_noun
from tablewright.domain.wording import within_bounds
from tablewright.policies import terms_of
from tablewright.store.conversations import Conversation

if TYPE_CHECKING:
    from tablewright.domain.reply import Reply
    from tablewright.journeys.ask.ask import Asker
    from tablewright.journeys.ask.retrieval import Retrieval


class DocumentVerbs(Application):
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
        asker = await self.open_asker(tell)
        async with self.spending():
            return await asker.ask(within_bounds(question), conversation, agreed=agreed)

    async def query_documents(self, form: Form, *, conversation: str = "") -> Reply:
        """What is known of the documents, by conditions that say just what they say; no model is asked."""
        return await (await self.open_asker()).query(form, conversation)

    async def more_rows(self, conversation: str) -> Reply:
        """The next rows of the last list in a conversation; no model is asked."""
        return await (await self.open_asker()).more(conversation)

    async def open_asker(self, tell: Callable[[Step], None] = lambda _: None) -> Asker:
        from tablewright.journeys.ask.ask import Asker
        from tablewright.journeys.ask.turn import AskContext

        context = AskContext(
            self.store,
            await self.toolbox.open_corpus(self.store),
            await self.toolbox.open_model(),
            open_tools=self.open_tools,
            actor=self.actor,
            terms=terms_of(self.settings),
            concurrency=self.settings.concurrency,
            unasked=self.settings.documents_unasked,
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

    @property
    def retrieval(self) -> Retrieval:
        """The five tools that answers are made with, for those who ask by themselves."""
        from tablewright.journeys.ask.retrieval import Retrieval

        return Retrieval(self.store, partial(self.toolbox.open_corpus, self.store), self.open_asker)
