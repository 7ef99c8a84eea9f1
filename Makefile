# Each target does its own set-up. SWIFT_FLAGS goes to every build; PREFIX, RUNS, DIR, KILLS and FUZZ are explained below.

PREFIX ?= /usr/local
SWIFT_FLAGS ?=
KILLS ?= 1000
FUZZ ?= 5000
SOURCES = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Examples/Package.swift Examples/Sources Examples/Server scripts/apple-stand-ins
INSTALL_SCRATCH = .build-install
# With stores on servers where libpq's header is there. What is installed should not need the toolchain any more; on macOS
# the system has Swift's libraries.
ifeq ($(shell uname),Linux)
LIBPQ = $(wildcard /usr/include/libpq-fe.h /usr/include/postgresql/libpq-fe.h)
# The program starts a fifth faster where no symbol is exported and its addresses are packed, which glibc reads since 2.36.
RELR = $(shell getconf GNU_LIBC_VERSION 2>/dev/null | awk '$$2 >= 2.36 { print "-Xlinker -z -Xlinker pack-relative-relocs" }')
INSTALL_FLAGS = --static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker -s -Xlinker --icf=safe -Xlinker --no-export-dynamic $(RELR)
else
LIBPQ = $(shell pkg-config --exists libpq 2>/dev/null && echo libpq)
endif
INSTALL_TRAITS = Shell$(if $(LIBPQ),$(comma)Postgres)
comma := ,

.PHONY: help setup demo demo-fleet test test-busy test-tsan soak bench format format-check docs install install-built uninstall

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: ## Install what this needs (as root or with sudo), or say how
	@scripts/setup

demo: ## Downloads on a screen: their worker is killed, none is lost
	@scripts/setup build
	@scripts/build-demo
	@.build-demo/debug/durable-demo

# One of them is killed, then the server.
demo-fleet: setup ## Two workers on a PostgreSQL server: kills, and nothing lost
	@scripts/demo-fleet

test: ## All tests, every trait; once built, in TEST_LIMIT=1800 seconds at most
	@scripts/setup test
	@echo "Two builds and the tests: the first time 10 to 15 minutes on two cores, then two or three; and the tests, as long again. More if they are busy."
	scripts/run-tests --enable-all-traits $(SWIFT_FLAGS)
	scripts/run-examples
	@echo "All tests passed, a package that uses this one builds and runs, and the examples go on after a kill."

test-busy: ## All tests beside a load that takes every core
	@scripts/setup test
	SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests --enable-all-traits $(SWIFT_FLAGS)
	TEST_LIMIT=$${TEST_LIMIT:-3600} scripts/beside-load scripts/run-tests --enable-all-traits $(SWIFT_FLAGS)

test-tsan: ## All tests under Thread Sanitizer
	@scripts/setup test
	TSAN_OPTIONS="suppressions=$(CURDIR)/scripts/tsan-suppressions" \
	  scripts/run-tests --enable-all-traits --scratch-path .build-tsan --sanitize=thread $(SWIFT_FLAGS)

# Instead of thirty kills and 200 damaged stores; with a job of 100,000 children, and a crowd of 1,000,000.
soak: setup ## KILLS=1000 kills, FUZZ=5000 damaged stores, big crowds: hours
	TEST_LIMIT=$${TEST_LIMIT:-86400} DURABLE_KILLS=$(KILLS) DURABLE_FUZZ=$(FUZZ) DURABLE_MASS=100000 DURABLE_CROWD=1000000 \
	  scripts/run-tests --enable-all-traits $(SWIFT_FLAGS) -- --filter 'Kill|Fuzz|Mass|Flatness'

# Servers only where libpq is there.
bench: setup ## Files, downloads, servers: RUNS= pairs a row, DIR= a folder
	Benchmarks/scripts/run-table && table=0 || table=$$?; \
	  Benchmarks/scripts/run-downloads && \
	  if pkg-config --exists libpq; then Benchmarks/scripts/run-postgres; fi && exit $$table

format: ## Format the sources
	swift format -i -r -p $(SOURCES)

format-check: ## Fail where the sources are not formatted
	swift format lint --strict -r -p $(SOURCES)

docs: setup ## Compile the snippets of README and docs; build the reference
	scripts/extract-snippets
	SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests --enable-all-traits $(SWIFT_FLAGS)
	scripts/build-reference --enable-all-traits $(SWIFT_FLAGS)

SHARE = $(DESTDIR)$(PREFIX)/share
MANUAL = $(SHARE)/man/man1/durable.1
COMPLETIONS = bash-completion/completions/durable zsh/site-functions/_durable fish/vendor_completions.d/durable.fish

BUILT = $(INSTALL_SCRATCH)/release/durable
FOLDERS = $(DESTDIR)$(PREFIX)/bin $(dir $(MANUAL) $(addprefix $(SHARE)/,$(COMPLETIONS)))

# Who may not write there hears it before anything is built.
install: ## Build `durable` for release, and put it into PREFIX/bin
	@scripts/setup build
	@umask 022; mkdir -p $(FOLDERS) 2>/dev/null && for folder in $(FOLDERS); do test -w $$folder || exit 1; done || { \
	  echo "$(DESTDIR)$(PREFIX) can't be written. 'make install PREFIX=~/.local' puts it elsewhere, or become root." >&2; \
	  exit 2; }
	@echo "Building durable, with$(if $(LIBPQ),,out) stores on PostgreSQL$(if $(LIBPQ),, (libpq-dev is not here))."
	@test -e $(BUILT) || echo "The first time that compiles some 1,800 files, which took six minutes on two cores."
	swift build -c release --scratch-path $(INSTALL_SCRATCH) --traits $(INSTALL_TRAITS) --product durable $(INSTALL_FLAGS) $(SWIFT_FLAGS)
	@$(MAKE) --no-print-directory install-built

# What BUILT is, for .ci/run one that was built for the tests.
install-built:
	umask 022; mkdir -p $(FOLDERS)
	install -m 755 $(BUILT) $(DESTDIR)$(PREFIX)/bin/durable
	umask 022; $(BUILT) manual > $(MANUAL)
	umask 022; for file in $(COMPLETIONS); do \
	  $(BUILT) --generate-completion-script $${file%%[-/]*} > $(SHARE)/$$file || exit 1; \
	done

uninstall: ## Remove it again; jobs and logs stay
	rm -f $(DESTDIR)$(PREFIX)/bin/durable $(MANUAL) $(addprefix $(SHARE)/,$(COMPLETIONS))
