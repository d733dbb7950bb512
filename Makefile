# SPDX-License-Identifier: Apache-2.0 OR MIT
# What a checkout can do. `make` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# A fresh rustup installs here, and a shell that was open before does not know.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
KNEE := target/release/knee
OUT ?= out
# Every source file by name: `cargo fmt` does not see a module that a macro declares.
FORMAT = find crates -name '*.rs' -not -path '*/target/*' -print0 | xargs -0 rustfmt --edition 2024 --config skip_children=true

.PHONY: help run build install test check fmt reproduce bench validate fuzz wasm docs clean cargo

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build and compare four schemes; prints where the report is
	$(KNEE) compare --out $(OUT)/compare

build: cargo ## build the release binary, target/release/knee
	$(CARGO) build --release --locked -p kneepoint-cli

install: cargo ## install knee into ~/.cargo/bin
	$(CARGO) install --locked --path crates/kneepoint-cli

test: cargo ## every test, the lints and the formatting: what must pass before a commit
	$(FORMAT) --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --locked
	@echo "make test: everything passed"

check: cargo ## type-check only, for while you edit
	$(CARGO) check --workspace --all-targets --locked

fmt: cargo ## format the sources
	$(FORMAT)

reproduce: build ## every published figure and table at full length, and docs/reproduction.md (ARGS="pert.fig6" for some)
	$(KNEE) reproduce $(or $(ARGS),pert adaptive-pert) --out $(OUT)/reproduce
	@test -n "$(ARGS)" || { mkdir -p docs/figures && cp $(OUT)/reproduce/figures/*.svg docs/figures/ \
	  && cp $(OUT)/reproduce/reproduction.md docs/ && cp $(OUT)/reproduce/manifest.json docs/reproduction.json; }

bench: cargo ## nanoseconds and instructions per packet, beside ns-2 where it is installed
	$(CARGO) run --release --locked -p xtask -- bench $(ARGS)

validate: cargo ## our scenarios beside ns-2's results, live too where it is installed; writes docs/validation.md
	$(CARGO) run --release --locked -p xtask -- validate --live $(ARGS)

fuzz: cargo ## a million mutated scenarios, thousands of command lines and networks (CASES=1000000)
	KNEE_FUZZ_CASES=$(or $(CASES),1000000) $(CARGO) test --release --locked -p kneepoint --test scenario_fuzz
	KNEE_FUZZ_CASES=$(or $(CASES),3000) $(CARGO) test --release --locked -p kneepoint-cli --test knee fuzz
	KNEE_FUZZ_CASES=$(or $(CASES),20000) $(CARGO) test --release --locked -p kneepoint --test transfers

wasm: cargo ## compile the laboratory to wasm32, and the controllers for a machine without an operating system
	scripts/check-wasm.sh

docs: cargo ## docs/algorithms.md, response functions, the schema and the example, from the registries; the library's pages in target/doc
	$(CARGO) run --locked -p xtask -- docs
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "open target/doc/kneepoint/index.html"

clean: cargo ## remove what was built; results in out/ stay
	$(CARGO) clean

# Installs Rust where there is none, and says what else is missing and how to get it.
cargo:
	@command -v $(CARGO) > /dev/null || { \
	  echo "Building needs Rust, and cargo was not found: installing it with rustup, into your home"; \
	  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --no-modify-path \
	    && command -v $(CARGO) > /dev/null; \
	} || { \
	  echo "That failed. Install Rust as https://rustup.rs says and run make again;"; \
	  echo "the version that rust-toolchain.toml names then installs itself."; \
	  exit 1; } >&2
	@command -v cc > /dev/null || { \
	  echo "Building needs a linker, and cc was not found. Install it with"; \
	  echo; \
	  echo "    apt-get install -y gcc libc6-dev     (Debian, Ubuntu)"; \
	  echo "    dnf install -y gcc                   (Fedora)"; \
	  echo "    xcode-select --install               (macOS)"; \
	  exit 1; } >&2
