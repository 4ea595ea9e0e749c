# Run "make" for the list of targets.

GO      ?= go
BIN     ?= bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  = -s -w -X main.version=$(VERSION)
# Tools that cannot share the main module's dependencies have a module file of their own.
TOOL     = $(GO) tool -modfile=scripts/tools.mod

# The race detector needs a C compiler. "make test" works without one and says so;
# RACE=required fails instead.
CC_FOUND := $(shell command -v "$$($(GO) env CC 2>/dev/null)" >/dev/null 2>&1 && echo yes)
ifeq ($(CC_FOUND),yes)
TEST_FLAGS = -race
RACE_NOTE  = with the race detector
TEST_ENV   = CGO_ENABLED=1
else
TEST_FLAGS =
RACE_NOTE  = WITHOUT the race detector: it needs a C compiler, and $(shell $(GO) env CC) was not found
TEST_ENV   = CGO_ENABLED=0
endif

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: demo
demo: build ## Run the main job on the built-in platforms and watch it (ARGS=--once leaves when done)
	@$(BIN)/liaison demo $(ARGS)

.PHONY: test
test: ## Run the tests (with the race detector where there is a C compiler)
ifeq ($(RACE)$(CC_FOUND),required)
	@echo "make test: RACE=required, but there is no C compiler" >&2; exit 1
endif
	@command -v $(GO) >/dev/null || { echo "$(GO) was not found; Go 1.26 or newer is needed: https://go.dev/dl/" >&2; exit 1; }
	@echo "running the tests $(RACE_NOTE)"
	@$(TEST_ENV) $(GO) test $(TEST_FLAGS) -timeout 30m ./...

.PHONY: build
build: ## Build bin/liaison and bin/liaison-bridge, static and stamped with the version
	@command -v $(GO) >/dev/null || { echo "$(GO) was not found; Go 1.26 or newer is needed: https://go.dev/dl/" >&2; exit 1; }
	@mkdir -p $(BIN)
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/ ./cmd/liaison ./cmd/liaison-bridge

.PHONY: generate
generate: ## Write gen/ anew from proto/ and handlers/api/openapi.yaml (the first run builds buf, which takes minutes)
	@$(TOOL) buf lint
	@$(TOOL) buf generate
	@$(TOOL) oapi-codegen -config gen/api/oapi-codegen.yaml handlers/api/openapi.yaml

.PHONY: lint
lint: ## Check formatting, vet and lint, the arrows between folders included
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	@$(GO) vet ./...
	@$(TOOL) golangci-lint run ./...

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities that the code can reach
	@GO="$(GO)" scripts/vulncheck

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME (default 10s) each
	@GO="$(GO)" FUZZTIME="$(or $(FUZZTIME),10s)" scripts/fuzz

.PHONY: contract
contract: ## Hold the simulated GitHub to GitHub's own description of its API (needs npm)
	@GO="$(GO)" scripts/contract

.PHONY: conformance
conformance: ## Run the checklist of the bridge contract, also against CURSOR_SDK_BRIDGE_BIN if set
	@$(GO) test -count=1 -v ./bridge/conformance

.PHONY: bench
bench: ## Measure the built service under load, then run the Go benchmarks (BENCH="-quick" for a look)
	@$(GO) run ./internal/bench $(BENCH)
	@$(MAKE) --no-print-directory microbench

.PHONY: microbench
microbench: ## Run the Go benchmarks of the packages
	@$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: soak
soak: ## Run what takes long: hundreds of kills, thousands of seeds, every damaged webhook, longer fuzzing (needs npm)
	@$(TEST_ENV) $(GO) test $(TEST_FLAGS) -count=1 -timeout 1h ./sessions -run TestSimulation -seeds 5000
	@LIAISON_SOAK=1 $(TEST_ENV) $(GO) test $(TEST_FLAGS) -count=1 -timeout 3h ./state/... ./bridge/... ./cmd/...
	@LIAISON_SOAK=1 GO="$(GO)" scripts/contract -timeout 2h -run 'Webhooks'
	@$(MAKE) fuzz FUZZTIME=2m

.PHONY: tidy
tidy: ## Tidy go.mod
	@$(GO) mod tidy

.PHONY: clean
clean: ## Remove what was built
	@rm -rf $(BIN)
