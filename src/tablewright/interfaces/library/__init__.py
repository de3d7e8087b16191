"""The library's verbs: `tablewright.enrich`, `find`, `ask`, `research`, `extract` and `transform`."""
