"""Texts in one line."""

from __future__ import annotations

from tablewright.domain.text import drop_tried_queries


def test_a_query_that_was_tried_is_not_new_in_another_case_or_spacing() -> None:
    queries = ("Acme  history", "acme history", " ", "Acme\nannual report", "ACME founders")
    assert drop_tried_queries(queries) == ("Acme history", "Acme annual report", "ACME founders")
    assert drop_tried_queries(queries, ("acme HISTORY", " acme  founders")) == ("Acme annual report",)
