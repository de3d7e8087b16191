"""The kept result of a conversation: the next rows of it, or all of them for a file."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.domain.reply import Reply, ReplyRow
from tablewright.journeys.ask.answering import ROWS, Sources
from tablewright.journeys.ask.turn import QuestionTurn
from tablewright.store.conversations import Turn


def since_new_topic(turns: Sequence[Turn]) -> Sequence[Turn]:
    starts = [place for place, turn in enumerate(turns) if turn.route == "new topic"]
    return turns[starts[-1] + 1 :] if starts else turns


async def go_on(asking: QuestionTurn) -> Reply:
    """More of the kept result, or its beginning where all of it goes into a file; as complete as it was before."""
    before = next((turn for turn in reversed(since_new_topic(asking.conversation.turns)) if turn.result_id), None)
    if before is None:
        return await asking.reply_with(asking.translate("There are no rows yet. Ask for a list first."))
    is_export = asking.plan.action == "export"
    start = 0 if is_export else before.shown
    kept = await asking.context.store.results.page(before.result_id, start, ROWS)
    sources = Sources(corpus=asking.context.corpus)
    rows = tuple(
        [
            ReplyRow(
                document_id=row.document_id,
                title=row.values[0],
                values=row.values[1:],
                page=row.page,
                source=await sources.cite(row.document_id, [(row.start, row.end)]),
            )
            for row in kept.rows
        ]
    )
    until = before.shown if is_export else start + len(rows)
    if is_export:
        path = asking.plan.path
        where = (
            asking.translate(" to {path}", path=path) if path else asking.translate("; name a file, such as rows.csv")
        )
        text = asking.translate(
            "{count} row can be exported{where}.|{count} rows can be exported{where}.", count=kept.total, where=where
        )
    elif rows:
        text = asking.translate("Rows {first} to {last} of {total}.", first=start + 1, last=until, total=kept.total)
    else:
        text = asking.translate("That was all.")
    reply = Reply(
        question=asking.text,
        answer=text,
        citations=tuple(sources.citations),
        columns=kept.columns[1:],
        rows=rows,
        count=kept.total,
        completeness=before.completeness,
        result_id=kept.id,
        more=max(0, kept.total - until),
        export=asking.plan.path if is_export else "",
        route=asking.plan.action,
    )
    return await asking.remember(reply, shown=until, plan=before.plan)
