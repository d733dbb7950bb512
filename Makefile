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

.PHONY: help run build install test check fmt bench validate fuzz wasm docs clean cargo

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
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --locked
	@echo "make test: everything passed"

check: cargo ## type-check only, for while you edit
	$(CARGO) check --workspace --all-targets --locked

fmt: cargo ## format the sources
	$(CARGO) fmt --all

bench: build ## nanoseconds per packet; against ns-2 too where it is installed
	$(CARGO) bench --workspace --locked

validate: cargo ## the long tests: laws and published numbers at full length
	$(CARGO) test --release --workspace --locked -- --include-ignored

fuzz: cargo ## every test with many more random cases (CASES=20000)
	KNEE_FUZZ_CASES=$(or $(CASES),20000) PROPTEST_CASES=$(or $(CASES),20000) $(CARGO) test --release --workspace --locked

wasm: cargo ## compile the laboratory to wasm32
	scripts/check-wasm.sh

docs: cargo ## the documentation of the library, in target/doc
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "open target/doc/kneepoint/index.html"

clean: cargo ## remove what was built; results in out/ stay
	$(CARGO) clean

# Says what is missing and how to get it, instead of "command not found".
cargo:
	@command -v $(CARGO) > /dev/null || { \
	  echo "Building needs Rust, and cargo was not found. Install it with"; \
	  echo; \
	  echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal"; \
	  echo; \
	  echo "and run make again; the version that rust-toolchain.toml names installs itself."; \
	  exit 1; } >&2
	@command -v cc > /dev/null || { \
	  echo "Building needs a linker, and cc was not found. Install it with"; \
	  echo; \
	  echo "    apt-get install -y gcc libc6-dev     (Debian, Ubuntu)"; \
	  echo "    dnf install -y gcc                   (Fedora)"; \
	  echo "    xcode-select --install               (macOS)"; \
	  exit 1; } >&2
