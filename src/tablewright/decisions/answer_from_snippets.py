"""Answer from snippets: what search results say of a row without opening a page. The snippet is then the source."""

from __future__ import annotations

from tablewright.decisions.extract import ExtractFields


class FromSnippets(ExtractFields):
    """As extraction, with snippets for texts: the same prompt, the same rule, the same checks."""

    name = "answer from snippets"
