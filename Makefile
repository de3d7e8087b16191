# Each of these does all its own set-up: a virtual environment in .venv, and what the lock files name.
.PHONY: demo test check bench evals texts lock clean

demo: .venv/.ready
	.venv/bin/tablewright demo

test: .venv/.ready-dev
	scripts/test

# What `make test` runs besides the tests: formatting, lint, types and the arrows between the rooms.
check: .venv/.ready-dev
	scripts/check

bench: .venv/.ready-dev
	.venv/bin/python bench/table.py
	.venv/bin/python bench/reading.py
	.venv/bin/python bench/engine.py
	.venv/bin/python bench/ingest.py
	.venv/bin/python bench/corpus.py
	.venv/bin/python bench/chaos.py
	.venv/bin/python bench/serve.py
	.venv/bin/python bench/rest.py
	.venv/bin/python bench/loop.py
	.venv/bin/python bench/page.py
	.venv/bin/python bench/newcomer.py

evals: .venv/.ready-dev
	.venv/bin/python evals/dedupe.py
	.venv/bin/python evals/reading.py
	.venv/bin/python evals/pages.py
	.venv/bin/python evals/retrieval.py
	.venv/bin/python evals/documents.py
	.venv/bin/python evals/multihop.py
	.venv/bin/python evals/research.py

# Brings src/tablewright/messages/*.po up to date with the texts in the code.
texts: .venv/.ready-dev
	.venv/bin/python scripts/texts.py

lock: .venv/.ready-dev
	scripts/lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.ready: requirements.lock pyproject.toml scripts/setup
	scripts/setup requirements.lock
	touch $@

.venv/.ready-dev: requirements-dev.lock pyproject.toml scripts/setup
	scripts/setup requirements-dev.lock
	touch $@ .venv/.ready
