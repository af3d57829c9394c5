# make results: set up and run everything at the scale of params.yaml; make test: pass the tests.
PYTHON ?= python3
BIN := .venv/bin
CORES ?= all
ARGS ?=
SNAKEMAKE = $(BIN)/snakemake --cores $(CORES) $(ARGS)
# The value of a variable as one word of the shell, whatever characters it has.
quoted = '$(subst ','\'',$(value $(1)))'
# make results SCALE=reference PAPERS=marvell,secdt: other than params.yaml says; SETUPS=, DEFENSES=, ATTACKS=: a part of it.
comma := ,
named = $(if $($(2)),"$(1): ["$(call quoted,$(2))"]$(comma) ")
ONLY = $(if $(SETUPS)$(DEFENSES)$(ATTACKS),"only={"$(call named,setups,SETUPS)$(call named,defenses,DEFENSES)$(call named,attacks,ATTACKS)"}")
CONFIG = $(if $(SCALE)$(PAPERS)$(ONLY),--config $(if $(SCALE),scale=$(call quoted,SCALE)) $(if $(PAPERS),"papers=["$(call quoted,PAPERS)"]") $(ONLY))

# What a shell may lack or have of another program: a user with a name and a place for caches (as in a container), this
# checkout's library before any other, text in UTF-8.
export USER ?= $(firstword $(shell id -un 2>/dev/null || id -u))
ifeq ($(shell cache="$${XDG_CACHE_HOME:-$$HOME/.cache}"; mkdir -p "$$cache" 2>/dev/null; test -w "$$cache" || echo none),none)
export XDG_CACHE_HOME := $(CURDIR)/.snakemake/cache
export MPLCONFIGDIR := $(XDG_CACHE_HOME)/matplotlib
endif
export PYTHONPATH := $(CURDIR)/workflow
export PYTHONUTF8 := 1

.PHONY: results setup data plan seconds show report try publish judge compare verify kick docs lock check test lint clean push settle release

results: setup
	$(SNAKEMAKE) $(CONFIG)
	@$(BIN)/python -m cutlayer.reference.found

setup: .venv/ready

# The user's own pip configuration says where packages come from (index, proxy, certificates), but not where they go.
PIP = env -u PIP_NO_DEPS -u PIP_DRY_RUN -u PIP_REQUIRE_HASHES $(BIN)/python -m pip --disable-pip-version-check
INSTALL = $(PIP) install --no-user --target= --prefix="$$PWD/.venv" --root=/ --no-compile $$([ -t 1 ] || echo --quiet)

# An environment knows its folder and its Python: a checkout that was copied or moved, and another PYTHON=, get one anew.
VERSION = -c 'import os, sys; print(os.getcwd() + "/.venv of Python %d.%d" % sys.version_info[:2])'
WANTED := $(shell $(if $(filter-out file,$(origin PYTHON)),$(PYTHON),$(BIN)/python) $(VERSION) 2>/dev/null)
ifneq ($(shell cat .venv/ready 2>/dev/null),$(WANTED))
.PHONY: .venv/ready
endif

.venv/ready: PYTHONPATH :=
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make setup: PYTHON=$(PYTHON) is Python %d.%d; expected 3.11 or newer" % sys.version_info[:2])'
	@echo "Installing the packages of requirements.lock into .venv"
	@rm -f $@
	@$(PYTHON) -m venv --clear .venv
	@# The lock is what all platforms have in common. What its packages need besides on this one pip adds, as torch's for CUDA.
	@$(INSTALL) --requirement requirements.lock
	@# On all cores, where pip would take one, without what nothing here imports; some files are no Python 3.
	@$(BIN)/python -m compileall -qq -j 0 -x '/(tests|testing|_inductor|mypyc?|lexers|docutils|asyncssh|nvidia|triton)/' .venv/lib || true
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@$(PIP) check
	@$(BIN)/python $(VERSION) > $@

data: setup
	$(SNAKEMAKE) data
	@cat results/data.md

# Snakemake's own report of all exhibits, and of how long jobs took.
report: results
	$(BIN)/snakemake --quiet --report results/report.html $(ARGS)

# What a scale will run and how long it takes, before it does: make plan SCALE=reference.
plan: setup
	@$(BIN)/python -m cutlayer.plan.cost $(wordlist 2,20,$(CONFIG))

# After a run: what its jobs took, into the table that `make plan` reads. `make publish` does so, too.
seconds: setup
	@$(BIN)/python -m cutlayer.reference.seconds

# A setup as it runs, and where each value comes from: make show SETUP=criteo SCALE=reference.
show: setup
	@$(BIN)/python -m cutlayer.plan.show $(call quoted,SETUP) $(if $(SCALE),$(call quoted,SCALE))

TRIED = DEFENSE ATTACK DATASET SETUPS SETTINGS LIKE TRANSCRIPTS
# A method of your own, from a file outside the tree: make try DEFENSE=path/to/mine.py (or ATTACK=, DATASET=; SETUPS=, SETTINGS=, LIKE=).
# ATTACK=path/to/mine.py TRANSCRIPTS=folder: on what a release packed, without any run.
try: setup
	@$(BIN)/python -m launch.trying $(foreach key,$(TRIED),$(key)=$(call quoted,$(key))) -- $(SNAKEMAKE)

# Put what is finished at a scale that judges all numbers into reference/, to be committed, beside what is there already.
publish: setup
	@$(BIN)/python -m cutlayer.reference.publish $(if $(SCALE),$(call quoted,SCALE))
	@$(BIN)/python -m cutlayer.reference.appendix

# After a change of a rule: the reference's verdicts and exhibits again, from its cells, and which verdicts change.
judge: setup
	@$(BIN)/python -m cutlayer.reference.judged_again
	@$(BIN)/python -m cutlayer.reference.appendix

# Which rows of your run differ from the reference by more than their intervals.
compare: setup
	@$(BIN)/python -m cutlayer.reference.compare

# Read every file that has a checksum.
verify: setup
	$(BIN)/python -m cutlayer.data.verify

# A basic test in minutes: one paper on data that scikit-learn bundles, beside the reference; ends with `agrees` or `differs`.
kick: SCALE = quick
kick: PAPERS = chebyshev
kick: SETUPS = wine,breast_cancer,digits
kick: setup
	$(SNAKEMAKE) results/claims.csv $(CONFIG)
	@$(BIN)/python -m cutlayer.reference.kick

# What the documents show: pictures and tables of findings of the reference run; what it lacks, of the last run.
# Reasons that were found after the reference run come into it first.
SHOWN = $(firstword $(wildcard reference/$(1)) results/$(1))
docs: setup
	$(BIN)/python -m cutlayer.reference.reasons
	cp $(call SHOWN,exhibits/chebyshev/figure4.png) docs/
	cp $(call SHOWN,exhibits/marvell/figure3c.png) docs/figure3c.png
	cp $(call SHOWN,exhibits/tcpo/figure4_tabular.png) docs/figure4_tabular.png
	cp $(call SHOWN,exhibits/tappfl/stale_attacker.png) docs/stale_attacker.png
	cp $(foreach name,bounds before_after spectrum,$(call SHOWN,exhibits/arena/$(name).png)) docs/
	$(BIN)/python -m cutlayer.reference.findings
	$(BIN)/python -m cutlayer.reference.appendix
	$(BIN)/python -m cutlayer.reference.history

# dvc.yaml calls snakemake by name: the one of the environment.
DVC = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/dvc

# What `dvc repro` made, and the original files that are here, which DVC has no copies of before.
HERE = $(filter $(addsuffix .dvc,$(wildcard data/raw/*/*)),$(wildcard data/raw/*/*.dvc))
push: setup
	$(if $(HERE),$(DVC) commit $(HERE))
	$(DVC) push

# After `dvc pull` or `dvc checkout`, whose files are new to Snakemake. Only if they are what dvc.lock says this very code
# makes, have it record all that is here as made by this code and these params (--forceall: also those whose times look right).
settle: setup
	@$(DVC) status --quiet dvc.yaml; case $$? in 0) ;; \
		1) echo "settle: the results are not what dvc.lock says of this code: see dvc status; dvc repro makes them" >&2; exit 1 ;; \
		*) $(DVC) status dvc.yaml; exit 1 ;; esac # quiet, it keeps its reason to itself
	$(BIN)/snakemake --quiet all --touch --forceall --cores $(CORES) $(ARGS)

# Whether tree, version and changelog agree; then dist/ has site, library, crate, transcripts, their truth apart.
release: setup
	@$(BIN)/python -m release

# After a change of what pyproject.toml needs: `pip install --editable .[test]` in a fresh environment, then write down what came, but for one platform's own.
lock: setup
	$(PIP) freeze --all --exclude pip --exclude cutlayer | sed 's/+cpu//' | grep -vE '^(nvidia|cuda|triton)' > requirements.lock

# Before every commit: format, lint, types, and all tests that run no workflow.
check: setup
	$(BIN)/python -m pytest --numprocesses 2 $(filter-out tests/dvc tests/slurm tests/workflow,$(patsubst %/,%,$(wildcard tests/[a-z]*/))) $(ARGS)

# Everything.
test: setup
	$(BIN)/python -m pytest --numprocesses 2 $(ARGS)

lint: setup
	$(BIN)/python -m pytest tests/style $(ARGS)

clean: # but not data; results may be a link to another disk
	rm -rf logs .snakemake
	test ! -d results || find results/ -mindepth 1 ! -path results/.gitignore -delete
