"""Work on documents apart from questions: find more facts with a model, summarise, make a table, export results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tablewright.arrays import np
from tablewright.documents.annotate.annotate import is_sound_annotation
from tablewright.documents.corpus import Corpus
from tablewright.documents.ingest import IngestProgress, Watch, format_annotation
from tablewright.domain.documents import Annotation, Document, Property
from tablewright.domain.files import ImportOutcome
from tablewright.domain.model import Field, Row, Table, column_key, make_given_cell
from tablewright.domain.retrieved import track_documents
from tablewright.errors import NotFound, UsageError
from tablewright.formats.tables.incoming import Incoming, find_free_name
from tablewright.formats.tables.write import open_writer, target_format
from tablewright.llm.tasks.annotate_document import AnnotateDocument, ExcerptToAnnotate, SummariseText, TextToSummarise
from tablewright.llm.tasks.decision import decide
from tablewright.store.store import Store
from tablewright.values.comparable_value import parse_comparable
from tablewright.workflows.files import import_from_memory, replace_file

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


async def add_model_facts(
    store: Store, corpus: Corpus, model: LanguageModel | None, names: Sequence[str], watch: Watch
) -> int:
    """Add facts that the model finds beyond those of the rules, each checked against the text; return how many are new.
    Existing facts stay, summaries are replaced, and each document is saved as soon as it is done."""
    if model is None:
        raise UsageError(
            "The rules have found what they can; for more a model is needed.",
            advice="Set TABLEWRIGHT_MODEL, or say --model; `tablewright models list` shows some for this machine.",
        )
    documents = store.documents
    chosen = [await documents.get(name) for name in names] if names else await documents.all(readable=True)
    count = 0
    for done, document in enumerate(chosen):
        # Before the work, so that the page names the document that is being read.
        watch(IngestProgress(done=done, total=len(chosen), path=document.path))
        new = await find_further_facts(store, model, document)
        if new:
            vectors = await corpus.embedder.embed([format_annotation(each) for each in new])
            await documents.add_annotations(document.id, new, vectors.astype(np.float16), corpus.embedder.name)
        count += len(new)
        await summarise_document(store, corpus, model, document)
    watch(IngestProgress(done=len(chosen), total=len(chosen)))
    return count


async def find_further_facts(store: Store, model: LanguageModel, document: Document) -> list[Annotation]:
    text = await store.documents.retrieved(document.id)
    known = await store.documents.annotations(document.id)
    new: list[Annotation] = []
    for segment in (each.segment for each in await store.documents.segments_of(document.id)):
        inside = tuple(
            (each.label, each.value.raw)
            for annotation in known
            if segment.start <= annotation.start < segment.end
            for each in annotation.properties
        )
        asked = ExcerptToAnnotate(text=segment.text, title=document.title, known=inside)
        with track_documents([document.id]):
            found = (await decide(AnnotateDocument(), asked, model, lambda _: None)).decided
        for fact in found:
            start, end = segment.start + fact.start, segment.start + fact.end
            stated = Property(label=fact.label, value=parse_comparable(fact.value, fact.label), start=start, end=end)
            annotation = Annotation(
                shape="fact",
                properties=(stated,),
                start=segment.start + fact.quote_start,
                end=segment.start + fact.quote_end,
                page=segment.page,
                by="model",
            )
            # A model's fact counts only if the text holds its value at that place.
            if is_sound_annotation(annotation, text.text):
                new.append(annotation)
    return new


async def summarise_document(store: Store, corpus: Corpus, model: LanguageModel, document: Document) -> None:
    """Summarise the large parts of a long document with the model, as far as the text supports it."""
    summaries = [each.summary for each in await store.documents.summaries_of(document.id)]
    if "long" not in document.categories or not summaries:
        return
    segments = [each.segment for each in await store.documents.segments_of(document.id)]
    new = []
    for summary in summaries:
        text = "\n".join(segment.text for segment in segments if summary.first <= segment.number <= summary.last)
        asked = TextToSummarise(text=text, extract=summary.text, title=document.title)
        with track_documents([document.id]):
            said = (await decide(SummariseText(), asked, model, lambda _: None)).decided
        new.append(msgspec.structs.replace(summary, text=said))
    vectors = (await corpus.embedder.embed([summary.text for summary in new])).astype(np.float16)
    await store.documents.set_summaries(document.id, new, vectors, corpus.embedder.name)


async def make_documents_table(
    store: Store, name: str, *, kind: str, actor: str, within: Sequence[Path] = (), update: bool = False
) -> ImportOutcome:
    """Make a table with a row for each readable document, or `update` the one that they became before.

    `within` restricts it to these files and the documents in these folders."""
    places = [path.resolve() for path in within]
    found = [
        each
        for each in await store.documents.all(readable=True)
        if (not kind or each.kind == kind)
        and (not places or any(Path(each.path).resolve().is_relative_to(place) for place in places))
    ]
    if not found:
        what = f"document of the kind {kind!r}" if kind else "document"
        raise NotFound(f"There is no {what}.", advice="`tablewright docs list` shows what there is.")
    names = Counter(each.name for each in found)
    rows = [
        (
            make_given_cell(each.name if names[each.name] == 1 else each.path),
            make_given_cell(each.title),
            make_given_cell(each.kind),
            make_given_cell(each.pages),
        )
        for each in found
    ]
    # What is known of every document without reading it again.
    fields = Field(name="File"), Field(name="Title"), Field(name="Kind"), Field(name="Pages", type="number")
    incoming = Incoming(name=name, fields=fields, row_count=len(rows), batches=lambda: iter([rows]), key_field="File")
    note = f"a row for each of {len(found)} documents"
    return await import_from_memory(store, incoming, note, actor=actor, update=update)


async def export_answer_rows(store: Store, result_id: str, path: Path, *, folders: bool) -> int:
    """Write the rows of an answer to a file, each with its document (path or name) and page; return how many."""
    format = target_format(path)
    result = await store.results.page(result_id)
    found = await store.documents.find({row.document_id for row in result.rows})
    places = {each.id: each.path if folders else Path(each.path).name for each in found}
    with replace_file(path, kept="The result is safe.") as stream:
        names: list[str] = []
        for wanted in (*result.columns, "page", "path", "id"):
            names.append(find_free_name(wanted, set(map(column_key, names))))
        fields = tuple(Field(name=name) for name in names)
        writer = open_writer(stream, format, Table(id=result.id, name="result", fields=fields, key_field=names[0]))
        writer.write(
            [
                Row(
                    id=number,
                    cells={
                        column: make_given_cell(value)
                        for column, value in zip(
                            names,
                            (*row.values, row.page or "", places[row.document_id], row.document_id),
                            strict=True,
                        )
                        if value != ""
                    },
                )
                for number, row in enumerate(result.rows, start=1)
                if row.document_id in places
            ]
        )
        writer.close()
    return len(result.rows)
