# Commands for operators and developers. `make run` needs Python 3.13, make and a package index, nothing else.

# Named by content: a changed requirements file is installed again, a touched one is not.
fingerprint = $(shell cksum < $(1) | tr ' ' '-')
RUNNING := .venv/installed-$(call fingerprint,requirements.txt)
DEVELOPING := .venv/installed-$(call fingerprint,requirements-dev.txt)
VOCABULARY = $${VAR_DIR:-var}/tiktoken/fb374d419588a4632f3f557e76b4b70aebbca790
PROCESSES ?= 3
PACKAGES := recall accounts memory budget chat offline tests bench

# Dozens of processes are started, by the application and by its tests: each would compile Recall again.
unexport PYTHONDONTWRITEBYTECODE

INSTALL := .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes
# By all cores, where pip takes one. A file that isn't for this Python is left out.
COMPILE := .venv/bin/python -m compileall -qq -j 0 .venv/lib || true

LOCK := .venv/bin/uv pip compile --quiet --universal --python-version 3.13 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header

.PHONY: run pid test chaos lint audit types bench-check screenshots lock ci migrations clean help

run: $(RUNNING)  ## start everything; stop with Ctrl-C
	@test -e "$(VOCABULARY)" || .venv/bin/python -m recall.process.token_vocabulary
	@exec .venv/bin/python manage.py up

pid:  ## the process that `make run` started: kill $(make pid)
	@cat "$${VAR_DIR:-var}/run/supervisor.pid"

test: $(DEVELOPING)  ## run the whole suite on a throwaway database
	@test -e "$(VOCABULARY)" || .venv/bin/python -m recall.process.token_vocabulary
	.venv/bin/python -m pytest --numprocesses $(PROCESSES) --dist loadscope --no-loadscope-reorder $(ARGS)

chaos: $(DEVELOPING)  ## kill processes at random for five minutes in each mode, then check every row
	.venv/bin/python -m tests.processes.chaos $(ARGS)

lint: $(DEVELOPING)  ## style, imports, templates, prose
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	.venv/bin/djlint --lint --quiet templates
	.venv/bin/python .ci/prose.py

audit: $(DEVELOPING)  ## known vulnerabilities of the locked packages, as the package index knows them
	.venv/bin/python .ci/audit.py

types: $(DEVELOPING)  ## mypy, strict
	.venv/bin/mypy $(PACKAGES)

bench-check: $(DEVELOPING)  ## the benches' ratios against the last release's (or ARGS=REVISION): 10% worse fails
	.venv/bin/python -m bench.results $(ARGS)

screenshots: $(DEVELOPING)  ## every page, both themes, four widths, below var/screenshots
	@test -e "$(VOCABULARY)" || .venv/bin/python -m recall.process.token_vocabulary
	.venv/bin/python -m tests.browser.screenshots $(PAGES)

migrations: $(DEVELOPING)  ## check that models and migrations agree
	.venv/bin/python -m pytest -q tests/recall/test_migrations.py

lock: $(DEVELOPING)  ## write the requirements files from pyproject.toml
	$(LOCK) pyproject.toml --output-file requirements.txt
	$(LOCK) --extra tracing pyproject.toml --constraints requirements.txt --output-file requirements-tracing.txt
	$(LOCK) --group dev --constraints requirements.txt --output-file requirements-dev.txt

ci:  ## run what CI runs
	bash .ci/run

clean:  ## remove generated files; your data in var/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A Python of the right release: the one named by PYTHON=, else the first of the usual names that is.
.venv/bin/python:
	@for python in $(PYTHON) python3.13 python3 python; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then \
	    $$python -m venv .venv || { rm -rf .venv; exit 1; }; \
	    exit 0; \
	  fi; \
	done; \
	echo 'Recall needs Python 3.13. Install it, or say where it is: make run PYTHON=/path/to/python3.13' >&2; exit 1

$(RUNNING): requirements.txt | .venv/bin/python
	@echo 'Installing what requirements.txt names; this is done once and takes a minute or two.'
	@$(INSTALL) -r requirements.txt
	@$(COMPILE)
	@rm -f .venv/installed-*; touch $@

$(DEVELOPING): requirements-dev.txt $(RUNNING)
	@$(INSTALL) -r requirements-dev.txt
	@$(COMPILE)
	@touch $@
