"""State what an answer by code takes for granted, a sentence each, and how complete that leaves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tablewright.conditions.compare import is_limit_text
from tablewright.conditions.evaluate import NameSpellings
from tablewright.documents.results import UndecidedItem
from tablewright.domain.documents import Completeness
from tablewright.domain.model import column_key
from tablewright.llm.tasks.plan_question import QuestionPlan
from tablewright.messages.catalogue import AskText, translate
from tablewright.values.currencies import CURRENCY_CODES
from tablewright.workflows.ask.query_rows import CHANGED, QueryRow, QueryScope, known_values


class Caveats:
    """`matches` are all members that meet the conditions, `shown` those that the answer shows or reckons."""

    def __init__(
        self, plan: QuestionPlan, scope: QueryScope, matches: Sequence[QueryRow], shown: Sequence[QueryRow]
    ) -> None:
        self._plan = plan
        self._scope = scope
        self._matches = matches
        self._shown = shown
        self._is_figure = plan.aggregate not in ("", "count")
        self._figures = known_values(shown, plan.aggregate_column) if self._is_figure else []

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the question; "" if it counts none."""
        return translate("ask", text, self._plan.language, **values) if values.get("count", 1) else ""

    def completeness(self, undecided: Sequence[UndecidedItem], doubts: Iterator[str]) -> tuple[Completeness, str]:
        """Return how complete the answer is, and why."""
        scope, gaps = self._scope, []
        if undecided:
            # Only the commonest reason: a list of all would bury it.
            why, times = Counter(each.reason for each in undecided).most_common(1)[0]
            count, total = len(undecided), len(scope.members)
            text: AskText[str] = "{count} of {total} could not be decided ({times}: {why})"
            gaps.append(self.translate(text, count=count, total=total, times=times, why=why))
        gaps.append(
            self.translate(
                "{count} document could not be read|{count} documents could not be read", count=scope.unreadable
            )
        )
        gaps.append(scope.uncovered.text(self._plan.language) if scope.uncovered else "")
        left_out = self.translate(
            "{count} row that only adds up the others was left out|"
            "{count} rows that only add up the others were left out",
            count=scope.totals,
        )
        open_, assumed = list(filter(None, gaps)), list(filter(None, doubts))
        # A gap outweighs an assumption: what was not looked at could change the answer entirely.
        completeness: Completeness = "incomplete" if open_ else "approximate" if assumed else "exact"
        return completeness, "; ".join(filter(None, (*open_, *assumed, left_out, self._sorted_within())))

    def sentences(self, doubted: int, guesses: Counter[str], said: NameSpellings) -> Iterator[str]:
        """Yield what is uncertain: `doubted` members, `guesses` made on the way, spellings that the model matched
        (`said`)."""
        yield self.translate(
            "{count} of {total} were judged by the model, or are not sure",
            count=doubted,
            total=len(self._scope.members),
        )
        yield from (f"{guess} ({count})" for guess, count in guesses.items())
        for column in sorted(said.by_spelling):
            yield self.translate("names in {column} were compared by spelling alone", column=column)
        yield from self._of_kinds()
        yield self.translate(
            "{count} row may only add up those above it|{count} rows may only add up those above them",
            count=sum(each.may_be_total for each in self._matches),
        )
        yield self._not_compared()
        yield self._may_be_mixed()
        if self._is_figure:
            yield from self._of_figures()
        column = self._plan.aggregate_column
        yield self.translate(
            "{count} document has changed since {column} was read|"
            "{count} documents have changed since {column} was read",
            count=sum(member.missing.get(column_key(column)) == CHANGED for member in self._shown) if column else 0,
            column=column,
        )

    def _of_kinds(self) -> Iterator[str]:
        """Documents whose kind neither a model nor a person has said, each in one of the sentences."""
        members, unsorted = self._scope.members, self._scope.unsorted
        guessed = [each for each in members if each.document.kind_by == "title"] if unsorted else []
        unknown = [each for each in members if not each.document.kind] if guessed else []
        others = unsorted - len({each.document.id for each in (*guessed, *unknown)})
        yield self.translate(
            "the kind of {count} of {total} documents is not confirmed", count=max(0, others), total=self._scope.of
        )
        yield self.translate(
            "the kind of {count} of these {total} is a guess from titles and folders",
            count=len(guessed),
            total=len(members),
        )
        yield self.translate(
            "the kind of {count} of these {total} is not known", count=len(unknown), total=len(members)
        )

    # ── figures and their currencies ─────────────────────────────────────────────────────────────────────────────────

    def _not_compared(self) -> str:
        """Yield a sentence if the largest or the first few are chosen among figures in several currencies or units."""
        plan = self._plan
        is_chosen = plan.aggregate in ("min", "max") or plan.limit > 0
        by = plan.aggregate_column if self._is_figure else plan.order_by
        values = known_values(self._matches, by) if is_chosen else []
        units = sorted({value.currency or value.unit for value in values if value.currency or value.base})
        if len({value.currency or value.base for value in values} - {""}) < 2:
            return ""
        text: AskText[str] = "nothing is converted, so figures in {units} were not weighed against each other"
        return self.translate(text, units=", ".join(units))

    def _may_be_mixed(self) -> str:
        """Yield a sentence if figures without a currency are added up, or ranked, next to a column with several
        currencies."""
        plan = self._plan
        if plan.unit_column or not (self._is_figure or (plan.order_by and plan.limit > 0)):
            return ""
        values = self._figures if self._is_figure else known_values(self._shown, plan.order_by)
        if all(each.currency or each.base for each in values):
            return ""
        marks: dict[str, set[str]] = {}
        for member in self._shown:
            for key, stated in member.values.items():
                marks.setdefault(key, set()).update(each.value.raw.strip().upper() for each in stated)
        # A column of nothing but currency codes next to bare figures is the sign of mixed amounts.
        several = next((values for values in marks.values() if len(values) > 1 and values <= CURRENCY_CODES), set())
        text: AskText[str] = "the figures may be in several currencies ({currencies})"
        return self.translate(text, currencies=", ".join(sorted(several))) if several else ""

    def _of_figures(self) -> Iterator[str]:
        column, shown = self._plan.aggregate_column, self._shown
        key = column_key(column)
        if self._plan.aggregate in ("sum", "average"):
            several = sum(len({each.value.raw for each in member.values.get(key, ())}) > 1 for member in shown)
            text: AskText[str] = "{count} of {total} state several values of {column}; all count"
            yield self.translate(text, count=several, total=len(shown), column=column)
        limits = sum(
            each.number is not None and (each.high is not None or is_limit_text(each.raw)) for each in self._figures
        )
        yield self.translate(
            "{count} of {total} give {column} only as a limit or a range",
            count=limits,
            total=len(self._figures),
            column=column,
        )

    def _sorted_within(self) -> str:
        """Which currencies or units a whole list is sorted within."""
        plan = self._plan
        if not plan.order_by or plan.limit > 0 or plan.aggregate:
            return ""
        values = [each.value for member in self._shown for each in member.values.get(column_key(plan.order_by), ())[:1]]
        units = {value.currency or value.base: value.currency or value.unit for value in values}
        if len(units.keys() - {""}) < 2:
            return ""
        text: AskText[str] = "sorted within each of {units}, which are not compared with each other"
        return self.translate(text, units=", ".join(sorted(filter(None, units.values()))))
