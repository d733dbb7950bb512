# SPDX-License-Identifier: Apache-2.0 OR MIT
# Targets of the project. `make` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# A fresh rustup installs here, which shells already open do not know.
export PATH := $(HOME)/.cargo/bin:$(PATH)

CARGO ?= cargo
# A program that is there already is used as it is: `make run KNEE=knee`.
BUILD := $(if $(filter undefined,$(origin KNEE)),build)
KNEE ?= target/release/knee
OUT ?= out
# Every source file by name: `cargo fmt` does not see a module that a macro declares.
FORMAT = find crates examples -name '*.rs' -not -path '*/target/*' -print0 | xargs -0 rustfmt --edition 2024 --config skip_children=true

# Kernel programs are part of the build where their compiler and headers are. Looked for when a recipe runs, after they may have been
# installed.
MISSING = $(shell [ "$$(uname)" = Linux ] || echo Linux; command -v clang > /dev/null || echo clang; \
  pkg-config --exists libelf zlib 2> /dev/null || echo libelf-dev zlib1g-dev pkg-config)
BPF = $(if $(MISSING),,--features kneepoint-cli/bpf)

.PHONY: gate-quic gate-linux gate-repeat replay-wasm hunt precision book deny studio test-studio test-quic test-quic-clients quic-settings fuzz-quic wheel test-python test-notebooks test-pages help run build install test check fmt reproduce web characterize bench memory dist portable dist-check ratchet validate fuzz torture wasm docs clean cargo tools linux run-live run-live-all run-live-virtual run-live-video validate-linux validate-linux-virtual validate-uml validate-streams validate-nebby validate-captures validate-captures-virtual validate-qlogs readings stress-kernel test-kernels

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(BUILD) ## build and compare four schemes; prints the path of the report (KNEE=PROGRAM compares with that one)
	$(KNEE) compare --out $(OUT)/compare

build: cargo tools ## build the release binary, target/release/knee
	$(CARGO) build --release --locked -p kneepoint-cli $(BPF)

install: cargo ## install knee into ~/.cargo/bin
	$(CARGO) install --locked --path crates/kneepoint-cli $(if $(BPF),--features bpf)

test: cargo tools ## tests, lints, formatting, the studio and instruction counts; must pass before a commit
	$(FORMAT) --check
	$(CARGO) clippy --workspace --all-targets --locked $(BPF) -- -D warnings
	$(CARGO) test --workspace --locked $(BPF)
	@$(MAKE) --no-print-directory test-python
	@HASHES=$(or $(CARGO_TARGET_DIR),target)/debug/examples/hashes $(MAKE) --no-print-directory test-studio
	@$(MAKE) --no-print-directory deny
	@$(MAKE) --no-print-directory ratchet
	@echo "make test: everything passed"

check: cargo ## type-check only, for use while editing
	$(CARGO) check --workspace --all-targets --locked $(BPF)

fmt: cargo ## format the sources
	$(FORMAT)

# A comma inside of an argument of `call`.
, := ,

# $(call page,STUDY,PAGE,TITLE): a study at full length, its figures and its two pages.
define page
	$(KNEE) reproduce $(1) --out $(OUT)/$(2)
	@mkdir -p docs/figures && cp $(OUT)/$(2)/figures/*.svg docs/figures/ && scripts/page.py $(OUT)/$(2)/report.md docs/$(2).md "$(3)" \
	  && cp $(OUT)/$(2)/manifest.json docs/$(2).json
endef

wheel: cargo ## the Python package with the program inside: dist/kneepoint_lab-VERSION-….whl
	CARGO="$(CARGO)" scripts/python.sh wheel

test-python: cargo ## tests of the Python package, where python3 with venv and pip is present
	CARGO="$(CARGO)" FEATURES="$(BPF)" scripts/python.sh test

test-notebooks: cargo ## the notebooks of examples/notebooks and sweeps on Ray (five minutes)
	CARGO="$(CARGO)" FEATURES="$(BPF)" scripts/python.sh notebooks

test-quic: cargo ## controllers in the QUIC stacks quinn, noq and s2n-quic, quinn and noq as hosts of a scenario, servers and clients on loopback
	$(CARGO) test --locked -p kneepoint-quic --features quinn,s2n,virtual-time,wire
	$(CARGO) test --locked -p kneepoint-cli --features quic --test knee quic::
	$(CARGO) clippy --locked -p kneepoint-quic -p kneepoint-cli --all-targets --features kneepoint-quic/quinn,kneepoint-quic/s2n,kneepoint-cli/quic -- -D warnings

test-quic-clients: cargo ## curl, aioquic and quic-go fetch from every controller over an emulated link, and their table in docs/quic.md (root, half an hour)
	$(CARGO) build --release --locked -p kneepoint-cli --features quic
	scripts/quic.sh clients --page docs/quic.md $(ARGS)

quic-settings: cargo ## the settings of docs/linux.md between hosts of noq and quinn, and their table in docs/quic.md (ten minutes)
	$(CARGO) build --release --locked -p kneepoint-cli --features quic
	python3 scripts/quic/settings.py $(or $(CARGO_TARGET_DIR),target)/release/knee --page docs/quic.md $(ARGS)

gate-quic: cargo ## the BBR draft's cases for the controllers of noq and quinn, in docs/bbr-draft.md
	$(CARGO) build --release --locked -p kneepoint-cli --features quic
	mkdir -p $(OUT)/gate-quic
	for name in noq-bbr3 quinn-bbr; do target/release/knee gate run $$name --suite bbr-draft --json > $(OUT)/gate-quic/$$name.json || test $$? = 1; done
	$(CARGO) run --release --locked -p xtask -- gates --outcomes $(OUT)/gate-quic/noq-bbr3.json $(OUT)/gate-quic/quinn-bbr.json
	$(CARGO) run --release --locked -p xtask -- docs

gate-linux: $(BUILD) ## the gate for Linux's controllers in virtual time, and their table in docs/gate.md (an hour; needs `knee doctor --build-uml`)
	python3 scripts/gate-linux.py $(KNEE) --page docs/gate.md --out $(OUT)/gate-linux $(ARGS)

gate-repeat: $(BUILD) ## the quick gate of CUBIC a thousand times, with one to three threads: fails if a byte of its outcome differs (a quarter of an hour)
	@mkdir -p $(OUT)/gate-repeat && cd $(OUT)/gate-repeat && for n in $$(seq $(or $(TIMES),1000)); do \
	  { $(abspath $(KNEE)) gate run cubic --quick --fresh --json --jobs $$((n % 3 + 1)) 2> /dev/null || [ $$? = 1 ]; } | grep -v '"created"\|"command"' | sha256sum; \
	done | sort | uniq -c | awk '{ print } END { exit NR != 1 }'

fuzz-quic: cargo ## a million sequences of signals, ten thousand of hostile datagrams, and a million steps of replay (ten minutes)
	KNEE_SEQUENCES=1000000 $(CARGO) test --release --locked -p kneepoint-quic no_order_of_events -- --nocapture
	KNEE_STEPS=1000000 KNEE_DATAGRAMS=10000 $(CARGO) test --release --locked -p kneepoint-quic --features virtual-time,wire --test virtual_time --test wire -- \
	  same_effect hostile --nocapture

replay-wasm: cargo ## a million steps of senders in noq to eight controllers in WebAssembly and natively, where Node.js and npm are present (ten minutes)
	$(CARGO) build --release --locked -p kneepoint-cli --features quic
	CARGO="$(CARGO)" OUT=$(OUT) scripts/studio.sh replay $(or $(CARGO_TARGET_DIR),target)/release/knee

test-pages: $(BUILD) ## the reports of every verb in Chromium: at three widths, by day and by night, by keyboard, on paper (ARGS="--shots DIR")
	KNEE=$(KNEE) OUT=$(OUT) scripts/pages.sh $(ARGS)

studio: cargo ## the laboratory as one HTML file that simulates while sliders are dragged: out/studio/index.html
	CARGO="$(CARGO)" OUT=$(OUT) scripts/studio.sh build

test-studio: cargo ## the studio in Chromium, and its rows beside native ones, where Node.js, npm and Chromium are present
	CARGO="$(CARGO)" OUT=$(OUT) scripts/studio.sh test

reproduce: $(BUILD) ## the publications at full length, and their pages in docs/ (ARGS="pert.fig6" selects, and writes no page)
ifneq ($(ARGS),)
	$(KNEE) reproduce $(ARGS) --out $(OUT)/reproduce
else
	$(call page,pert adaptive-pert readings --readings --alternatives false,reproduction,PERT and adaptive PERT$(,) reproduced)
	$(call page,pisa,pisa,PISA and PIMC$(,) reproduced)
	$(call page,ratcp,ratcp,RATCP$(,) reproduced)
	$(call page,video beyond.video,streaming,Live video$(,) reproduced)
endif

characterize: $(BUILD) ## RFC 7928's scenarios and the ways to carry a rate at full length, docs/rfc7928.md and docs/feedback.md
	$(call page,rfc7928,rfc7928,RFC 7928)
	$(call page,feedback,feedback,Ways to send a rate to senders)

web: $(BUILD) ## which queue serves web objects best: runs the scenarios of docs/web.md and renews its tables
	KNEE=$(KNEE) OUT=$(OUT) scripts/web.sh

hunt: cargo ## what hunts find of every controller, known weaknesses found again, AdvNet's scores beside ours: docs/hunt.md (an hour)
	$(CARGO) run --release --locked -p xtask -- hunt advnet --write
	$(CARGO) run --release --locked -p xtask -- hunt rediscover --write
	$(CARGO) run --release --locked -p xtask -- hunt maps --profile wired --evaluations 640 --write

memory: $(BUILD) ## estimates of memory beside what runs take: renews the table of docs/memory.md
	KNEE=$(KNEE) scripts/memory.py

bench: $(BUILD) ## nanoseconds and instructions per packet, beside ns-2 if installed and beside dist/bench if `make dist` made it
	$(CARGO) run --profile dist --locked -p xtask -- bench --knee $(KNEE) $(if $(wildcard dist/bench),--guided dist/bench) $(ARGS)

dist: cargo tools ## a release: what `make portable` makes, and a program with profile guidance for this machine (half an hour)
	FEATURES="$(BPF)" scripts/dist.sh $(ARGS)
	CARGO="$(CARGO)" scripts/portable.sh

portable: cargo tools ## static programs for x86-64 and AArch64, Debian packages, the wheel, bills of materials and SHA256SUMS, in dist/
	CARGO="$(CARGO)" scripts/portable.sh

dist-check: cargo tools ## build dist/ again in another folder, and compare with dist/SHA256SUMS
	CARGO="$(CARGO)" scripts/portable.sh check

deny: cargo ## licences and sources of all dependencies, and known vulnerabilities where the network is there (deny.toml)
	@if $(CARGO) deny --version > /dev/null 2>&1; then \
	  $(CARGO) fetch --locked --quiet 2> /dev/null || true; \
	  $(CARGO) deny --offline -L error check licenses bans sources; \
	  if $(CARGO) deny fetch db > /dev/null 2>&1; then $(CARGO) deny --offline -L error check advisories; \
	  else echo "SKIPPED: known vulnerabilities are not checked, because RustSec's database was not reached"; fi; \
	else \
	  echo "SKIPPED: licences of dependencies are not checked, because cargo-deny was not found: cargo install --locked cargo-deny"; \
	fi

# mdBook, of one version, in a folder of ours.
MDBOOK := target/tools/bin/mdbook

$(MDBOOK):
	$(CARGO) install mdbook --version 0.5.4 --locked --root target/tools

book: cargo $(MDBOOK) ## the pages as a book with search: out/book/index.html; with the studio inside if `make studio` made it
	scripts/book.py stage target/book --studio $(OUT)/studio/index.html
	$(MDBOOK) build target/book --dest-dir $(abspath $(OUT))/book
	scripts/book.py check $(OUT)/book
	@echo "open $(OUT)/book/index.html"

ratchet: cargo ## instructions per packet and per acknowledgement against crates/xtask/record.toml (ARGS=--write to record)
	@if command -v valgrind > /dev/null; then \
	  $(CARGO) run --profile dist --locked -p xtask -- ratchet $(ARGS); \
	else \
	  echo "======================================================================"; \
	  echo "SKIPPED: instruction counts are not compared with crates/xtask/record.toml,"; \
	  echo "because valgrind, which counts them, was not found. Install it with"; \
	  echo; \
	  echo "    apt-get install -y valgrind          (Debian, Ubuntu)"; \
	  echo "    dnf install -y valgrind              (Fedora)"; \
	  echo "======================================================================"; \
	fi

validate: cargo ## compare with ns-2's results, also live if ns-2 is installed; writes docs/validation.md
	$(CARGO) run --release --locked -p xtask -- validate --live $(ARGS)
	python3 validation/ns2-adaptive/rows.py --page

validate-nebby: cargo ## identify the 340 labelled captures of NUS-SNL/Nebby (DIR=…/sensitivity); renews the tables of docs/identify.md
	$(CARGO) run --release --locked -p xtask -- nebby --write $(DIR)

validate-captures: cargo ## capture transfers of this machine's kernel into DIR=…, and identify them; renews the tables of docs/identify.md
	$(CARGO) run --release --locked -p xtask -- captures --record --write $(DIR)

validate-captures-virtual: cargo ## the same of every controller of Linux in virtual time (`knee doctor --build-uml`)
	$(CARGO) run --release --locked -p xtask -- captures --in-virtual-time --record --write $(DIR)

validate-qlogs: cargo ## qlog of noq's and quinn's own controllers into DIR=… (2 GB, in virtual time), and identify them; renews the table of docs/identify.md
	$(CARGO) run --release --locked -p kneepoint-quic --features virtual-time --example qlogs -- $(DIR)
	$(CARGO) run --release --locked -p xtask -- qlogs --write $(DIR)

validate-streams: $(BUILD) ## live streams of ours beside recorded rows of ns-2 (two minutes); renews the last section of docs/validation.md
	$(KNEE) reproduce validation/ns2-adaptive/rows.toml --alternatives false --out $(OUT)/streams
	python3 validation/ns2-adaptive/rows.py --ours $(OUT)/streams/data/*.csv > validation/ns2-adaptive/ours.csv
	python3 validation/ns2-adaptive/rows.py --page

precision: cargo ## intervals and warnings of 700 scenarios at random beside runs of fifty times the length, as in docs/precision.md
	$(CARGO) run --release --locked -p xtask -- precision $(ARGS)

readings: $(BUILD) ## every joint reading of the two publications on adaptive PERT, by shortened runs: renews the table of docs/adaptive-pert.md
	KNEE=$(KNEE) scripts/readings.py

fuzz: cargo ## a million mutated scenarios, thousands of command lines and networks (CASES=1000000)
	KNEE_FUZZ_CASES=$(or $(CASES),1000000) $(CARGO) test --release --locked -p kneepoint --test laboratory -- scenario_fuzz:: scenario_schema::
	KNEE_FUZZ_CASES=$(or $(CASES),3000) $(CARGO) test --release --locked -p kneepoint-cli --test knee fuzz::
	KNEE_FUZZ_CASES=$(or $(CASES),20000) $(CARGO) test --release --locked -p kneepoint --test laboratory transfers::

torture: cargo ## the bench of faults for an hour: fuzzed readers, flipped bits, kills, full disks (MINUTES=60 PART="fuzz disk" READERS=har JOBS=2)
	CARGO="$(CARGO)" PART="$(PART)" MINUTES="$(MINUTES)" READERS="$(READERS)" JOBS="$(JOBS)" scripts/torture.sh

wasm: cargo ## compile the laboratory to wasm32, and the controllers for a machine without an operating system
	scripts/check-wasm.sh

docs: cargo ## regenerate docs/algorithms.md, output.md, reference/, response functions, schema and example; API documentation in target/doc
	$(CARGO) run --locked -p xtask -- docs
	$(CARGO) run -q --locked -p kneepoint-cli -- man --markdown > target/command-line.md && mv target/command-line.md docs/reference/command-line.md
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@echo "open target/doc/kneepoint/index.html"

# What kernel programs are built with, on Debian and Ubuntu.
PACKAGES := clang libelf-dev zlib1g-dev pkg-config

linux: ## install what kernel programs and experiments on this machine need (Debian, Ubuntu; as root)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  apt-get update -q && apt-get install -y -q $(PACKAGES) iproute2 iperf3 nginx-light curl; \
	else \
	  echo "Run as root on Debian or Ubuntu; elsewhere install clang, the headers of libelf and zlib, pkg-config," >&2; \
	  echo "iproute2, iperf3, nginx and curl with the system's package manager." >&2; exit 1; \
	fi

run-live: $(BUILD) ## as root: PERT in this kernel beside Reno and CUBIC, and the simulator's prediction (REPETITIONS=10)
	@if [ -n "$(MISSING)" ]; then echo "SKIPPED: this build has no kernel programs; missing: $(MISSING)." >&2; exit 1; fi
	$(KNEE) kernel load pert --replace
	$(KNEE) live live.controllers --repetitions $(or $(REPETITIONS),10) --out $(OUT)/live; \
	  status=$$?; $(KNEE) kernel unload pert; exit $$status

LIVE := controllers mixes paths srtt cpu web

run-live-all: $(BUILD) ## as root: every live experiment; renews docs/live.md (two hours; REPETITIONS=10)
	@if [ -n "$(MISSING)" ]; then echo "SKIPPED: this build has no kernel programs; missing: $(MISSING)." >&2; exit 1; fi
	$(KNEE) kernel load pert --replace && $(KNEE) kernel load pert-adaptive --replace
	for name in $(LIVE); do \
	  $(KNEE) live live.$$name --repetitions $(or $(REPETITIONS),10) --out $(OUT)/live/$$name --json > $(OUT)/live-$$name.json || exit 1; \
	  mkdir -p $(OUT)/live/json && mv $(OUT)/live-$$name.json $(OUT)/live/json/$$name.json; \
	done; status=$$?; $(KNEE) kernel unload pert; $(KNEE) kernel unload pert-adaptive; exit $$status
	$(CARGO) run --locked -p xtask -- live $(LIVE:%=$(OUT)/live/json/%.json)

# Explicit rates and processor time need a machine; a hundred Mbit/s and seventy-five runs take an hour.
LIVE_VIRTUAL := paths srtt web

run-live-virtual: $(BUILD) ## the live experiments whose links are slow, by Linux in virtual time; renews docs/live.md (half an hour; needs `knee doctor --build-uml`)
	@mkdir -p $(OUT)/live-virtual/json
	for name in $(LIVE_VIRTUAL); do \
	  $(KNEE) live live.$$name --on uml --repetitions $(or $(REPETITIONS),10) --out $(OUT)/live-virtual/$$name --json > $(OUT)/live-virtual/json/$$name.json || exit 1; \
	done
	$(CARGO) run --locked -p xtask -- live $(LIVE_VIRTUAL:%=$(OUT)/live-virtual/json/%.json)

run-live-video: $(BUILD) ## as root: a film played over the emulated link; renews docs/video.md (ARGS="--length 60s --at-once 4"; ten hours at full length, one at once)
	@if [ -n "$(MISSING)" ]; then echo "SKIPPED: this build has no kernel programs; missing: $(MISSING)." >&2; exit 1; fi
	$(KNEE) kernel load pert-adaptive --replace
	$(KNEE) live video $(ARGS) --out $(OUT)/video; status=$$?; $(KNEE) kernel unload pert-adaptive; exit $$status
	cp $(OUT)/video/video.json validation/live/video.json
	@mkdir -p docs/figures && cp $(OUT)/video/figures/window-*.svg docs/figures/
	sed -e '/^```/,/^```/!s/^#/##/' $(OUT)/video/report.md > target/video.md
	$(call section,docs/video.md,playbacks,target/video.md)
	@if command -v mpv >/dev/null; then \
	  $(KNEE) live video scenarios/live/starved.toml --player pause,mpv --length 60s --repetitions 5 --at-once 5 --out $(OUT)/starved \
	  && sed -n '/^## Start-up and stalls/,/^## /p' $(OUT)/starved/report.md | sed -e '1d;$$d' > target/starved.md; \
	else echo "SKIPPED: no mpv, so nothing to compare our player with." >&2; : > target/starved.md; fi
	@if [ -s target/starved.md ]; then $(call section,docs/video.md,starved,target/starved.md); fi

validate-linux: cargo ## as root: the kernel's Reno, CUBIC and BBR beside the simulator's hosts; renews docs/linux.md (45 minutes)
	$(CARGO) run --release --locked -p xtask -- linux --record
	$(CARGO) run --release --locked -p xtask -- linux --write

validate-uml: $(BUILD) ## Linux's queues and controllers in virtual time beside the simulator: renews validation/uml (builds that Linux once; half an hour)
	@$(KNEE) doctor --build-uml > /dev/null
	@for name in $(or $(ONLY),$(basename $(notdir $(wildcard validation/uml/*.toml)))); do \
	  $(KNEE) live validation/uml/$$name.toml --on uml --cc-map hstcp=highspeed --repetitions $(or $(REPETITIONS),1) --at-once 2 --out $(OUT)/uml/$$name > /dev/null \
	  && cp $(OUT)/uml/$$name/live.csv validation/uml/$$name.csv || exit 1; \
	done

# $(call section,FILE,NAME,TABLE): the table in the place of that between the marks of a section.
define section
	sed -i -e "/^<!-- $(2) -->/,/^<!-- end of $(2) -->/{/^<!--/!d}" -e "/^<!-- $(2) -->/r $(3)" $(1)
endef

validate-linux-virtual: cargo ## every controller and queue of Linux, recorded in virtual time, beside the simulator's; renews docs/linux-queues.md (a minute)
	$(CARGO) run --release --locked -p xtask -- linux --virtual-time
	$(CARGO) run --release --locked -p xtask -- linux --virtual-time --write

stress-kernel: cargo ## as root: load, kill and clean up kernel programs and emulations; 500 flows; renews docs/kernel.md (CYCLES=10000)
	@mkdir -p target && printf '| tried | times | seconds since the start | left behind, or seen | when and where |\n|---|---:|---:|---|---|\n' > target/endurance
	KNEE_TABLE=$(CURDIR)/target/endurance KNEE_CYCLES=$(or $(CYCLES),10000) KNEE_FLOWS=500 $(CARGO) test --locked -p kneepoint-cli --features bpf --test endurance -- --test-threads 1 --nocapture
	$(call section,docs/kernel.md,endurance,target/endurance)

test-kernels: cargo ## kernel programs in Linux 6.1 and 6.12 in an emulated machine; renews docs/kernel.md
	scripts/test-kernels.sh --write

clean: cargo ## remove build products; results in out/ are kept
	$(CARGO) clean

# Installs what kernel programs need where that is possible; nothing else needs it.
tools:
	@if [ -n "$(MISSING)" ]; then \
	  if [ "$$(uname)" = Linux ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	      && { apt-get update -q && apt-get install -y -q --no-install-recommends $(PACKAGES); } > /dev/null; then \
	    echo "Installed clang and headers, with which kernel programs are built"; \
	  else \
	    echo "======================================================================"; \
	    echo "SKIPPED: kernel programs (knee kernel) are not built; missing: $(MISSING)."; \
	    echo "'sudo make linux' installs that on Debian and Ubuntu."; \
	    echo "======================================================================"; \
	  fi; \
	fi

# Installs Rust if missing, and explains how to install a linker.
cargo:
	@command -v $(CARGO) > /dev/null || { \
	  echo "Building needs Rust, and cargo was not found: installing it with rustup into your home directory"; \
	  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --no-modify-path \
	    && command -v $(CARGO) > /dev/null; \
	} || { \
	  echo "That failed. Install Rust from https://rustup.rs and run make again;"; \
	  echo "the version named in rust-toolchain.toml is then installed automatically."; \
	  exit 1; } >&2
	@command -v cc > /dev/null || { \
	  echo "Building needs a linker, and cc was not found. Install it with"; \
	  echo; \
	  echo "    apt-get install -y gcc libc6-dev     (Debian, Ubuntu)"; \
	  echo "    dnf install -y gcc                   (Fedora)"; \
	  echo "    xcode-select --install               (macOS)"; \
	  exit 1; } >&2
