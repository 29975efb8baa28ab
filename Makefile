# Relative paths only: the checkout may live in a directory with spaces in its name.
PYTHON_ENV = .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: demo gallery test endtoend nightly steady blas lint promise mutants study latency evidence trial trial-judge bench tools docs
.PHONY: surface site lock venv help

demo: venv ## Gate a regression and a harmless change of a small real project (half a minute)
	@$(PYTHON_ENV) examples/demo.py

gallery: venv ## Check all branches of the examples (some: examples/gallery.py NAME...) into .gallery (half an hour)
	@$(PYTHON_ENV) examples/gallery.py --docs docs/gallery

test: venv ## Everything fast, in three processes on two processors: some tests wait
	@$(PYTHON_ENV) -m pytest -n 3

endtoend: venv ## What a user meets: pages of documentation, browsers, workflows, signals, real suites, installing
	@$(PYTHON_ENV) -m pytest -n 3 -m "endtoend and not tools and not nightly"

steady: venv ## Beside four busy loops: `make test` five times, and the tests that start processes twenty times (an hour)
	@scripts/steady 5 20

nightly: venv ## What is slow by nature: fuzzing, very long lines, all browser widths, all examples
	@$(PYTHON_ENV) -m pytest -n 2 -m "nightly and not tools"

blas: venv ## Statistics and decisions under the kernels of OpenBLAS for old and new processors
	@$(PYTHON_ENV) -c "import numpy, scipy; [m.show_config() for m in (numpy, scipy)]" | grep DYNAMIC_ARCH
	@for core in Prescott Haswell Zen SkylakeX; do \
		echo "OPENBLAS_CORETYPE=$$core"; \
		OPENBLAS_CORETYPE=$$core OPENBLAS_VERBOSE=2 $(PYTHON_ENV) -c "import numpy, scipy.linalg" || exit 1; \
		OPENBLAS_CORETYPE=$$core $(PYTHON_ENV) -m pytest -n 2 tests/gate/stats tests/gate/decide tests/gate/commands/study || exit 1; \
	done

lint: venv ## Linters and types
	@scripts/check

promise: venv ## The statistical promises, by simulation (slow)
	@$(PYTHON_ENV) -m pytest -n 2 -m promise

mutants: venv ## Break the code that verdicts rest on, 120 times, and count what the tests notice (an hour)
	@$(PYTHON_ENV) -m scripts.mutants

study: venv ## A study of zstd into docs/compressor, and its numbers into docs/study.md (under ten minutes)
	@$(PYTHON_ENV) examples/study.py compressor

latency: venv ## A study of the scheduler into docs/scheduler-latency (two minutes)
	@$(PYTHON_ENV) examples/study.py scheduler-latency

evidence: venv ## Write docs/evidence.md and its figures by simulation (ten minutes of CPU time)
	@$(PYTHON_ENV) -m benchmarks.evidence --reports 200 --seed 1

TRIAL_BUNDLES ?= 75
trial: venv ## Measure how often perfgate and others are wrong on this host, into docs/trial.md (TRIAL_BUNDLES=75)
	@$(PYTHON_ENV) -m benchmarks.trial --bundles $(TRIAL_BUNDLES)

trial-judge: venv ## Judge the measurements that the last trial kept, into docs/trial.md
	@$(PYTHON_ENV) -m benchmarks.trial --judge

bench: venv ## How fast perfgate itself is, as ratios in one run: against its peers, and a revision (AGAINST=REV)
	@$(PYTHON_ENV) -m benchmarks.overhead
	@$(PYTHON_ENV) -m benchmarks.against $(AGAINST)

tools: venv ## Tests against the real external tools on this host
	@scripts/tools results
	@$(PYTHON_ENV) -m pytest -m tools

docs: venv ## Write the tables of keys and of commands in docs/, the man page and the schemas from the types
	@$(PYTHON_ENV) -m scripts.docs

surface: venv ## Before a release: keep what it offers in tests/data/surface.txt, which no later 1.x may take away
	@$(PYTHON_ENV) -m scripts.surface

site: venv ## Build the documentation site into site/ (open site/index.html)
	@$(PYTHON_ENV) -m scripts.site

lock: venv ## Write requirements.lock and requirements-dev.lock anew (UPGRADE=--upgrade: newest versions)
	@scripts/lock $(UPGRADE)

venv: # .venv for all of the above, made once for each change of the lock
	@scripts/venv

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile
