# make shows what there is to do.

GO          ?= go
GOVULNCHECK  = golang.org/x/vuln/cmd/govulncheck@v1.2.0
GREMLINS     = github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
VALE         = github.com/vale-cli/vale/v3/cmd/vale@v3.21.0
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
NODE        := $(shell command -v node 2>/dev/null)
# Runs a test binary in Node, with the server that the transports' tests ask beside it.
WASM_EXEC    = LISTWATCH_SERVE=$(CURDIR)/bin/wire node $(CURDIR)/wasm/exec.mjs
COMPILER    := $(shell command -v $$($(GO) env CC) 2>/dev/null)
# What the tests in browsers need, and what of it is missing.
CHROME      ?= $(firstword $(shell which chromium chromium-browser google-chrome 2>/dev/null))
FIREFOX     ?= $(firstword $(shell which firefox-esr firefox 2>/dev/null))
NO_NPM       = $(strip $(if $(NODE),,Node) $(if $(shell command -v npm 2>/dev/null),,npm))
NO_BROWSER   = $(strip $(NO_NPM) $(if $(CHROME),,Chromium) $(if $(FIREFOX),,Firefox))
# The packages whose tests run as wasm too: those of the browser's bundle.
WASM_PACKAGES = ./lw ./lw/internal/... ./cache ./transport/... ./wasm
# The budgets of make size. The npm package's WASM module and a custom module without transports, in kB after brotli:
SIZE_BUDGET   = 560
BUNDLE_BUDGET = 560
# Stripped programs for linux/amd64, in bytes: lwcat, and a program with one informer.
LWCAT_BUDGET    = 9800000
INFORMER_BUDGET = 7000000

# Installs a folder's npm packages if its lock file has changed since the last time.
%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	@touch $@

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: bin/lwcat wasm ## a living cluster, its dashboard, and lwcat printing; DURATION=10s ends it, SERVER=https://… shows yours
	@$(GO) run ./examples/demo $(if $(DURATION),-duration $(DURATION)) $(if $(SERVER),-server $(SERVER))

.PHONY: bin/lwcat
bin/lwcat:
	@$(GO) build -trimpath -o $@ ./cmd/lwcat

.PHONY: man
man: bin/lwcat ## lwcat's manual page, into bin/lwcat.1
	@bin/lwcat man > bin/lwcat.1 && echo "man -l bin/lwcat.1"

.PHONY: test
test: test-native test-wasm ## all tests that need nothing but Go (and Node for the wasm part)

SIMULATIONS = /testkit/(sim|hostile/servers)$$

.PHONY: test-native
test-native:
ifeq ($(COMPILER),)
	@echo "There is no C compiler, so the tests run without the race detector."
	$(GO) test -timeout 5m ./...
else
	@# Each process with the race detector sleeps for a second when it ends, and lwcat's tests run hundreds.
	@# Tests that run in parallel mostly wait, so more of them than cores run at a time.
	GORACE=atexit_sleep_ms=0 $(GO) test -timeout 5m -parallel 8 -race $$($(GO) list ./... | grep -v -E '$(SIMULATIONS)')
	@# With the race detector, the simulations take five times as long.
	$(GO) test -timeout 5m $$($(GO) list ./... | grep -E '$(SIMULATIONS)')
endif
	@# With this build tag, internal/lock counts.
	$(GO) test -timeout 5m -tags countlocks -run TestLockOperationsPerEvent ./cache

.PHONY: test-wasm
test-wasm: ## the tests of the browser's packages, as wasm in Node, with a runtime compiled as internal/tools/wasmbuild does
ifeq ($(NODE),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "Node is missing"; exit 1; fi
	@echo "There is no Node, so the wasm tests are skipped; with Node 20 or later: make test-wasm"
else
	@$(GO) build -o bin/wire ./internal/testkit/wire/serve
	@# What ran is no proof for another glue.js, of which go test knows nothing, so nothing is cached.
	GOOS=js GOARCH=wasm $(GO) test -timeout 5m -count 1 -gcflags=runtime=-l -exec="env $(WASM_EXEC)" $(WASM_PACKAGES)
endif

.PHONY: test-browser
test-browser: ## the Go tests of the transports and of ./wasm in a page of Chromium, and the package in Chromium and Firefox
ifneq ($(NO_BROWSER),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "missing: $(NO_BROWSER)"; exit 1; fi
	@echo "Missing: $(NO_BROWSER), so the tests in browsers are skipped; on Debian: apt install nodejs npm chromium firefox-esr"
else
	@# The other packages do not depend on the browser, so their tests run only in Node. Examples write files, which a page
	@# does not have. The result depends on glue.js, which go test does not know, so nothing is cached.
	CHROME=$(CHROME) GOOS=js GOARCH=wasm $(GO) test -timeout 5m -count 1 -run '^(Test|Fuzz)' \
		-exec="env LISTWATCH_SERVE=$(CURDIR)/bin/wire node $(CURDIR)/e2e/browser/gotest.mjs" ./transport/... ./wasm
	CHROME=$(CHROME) FIREFOX=$(FIREFOX) node --test --test-reporter=spec e2e/browser/
	@# What holds the benchmark's figures against budgets.
	node --test bench/browser/*.test.mjs
endif

.PHONY: screenshots
screenshots: bin/lwcat wasm e2e/browser/node_modules/.package-lock.json ## the README's pictures of the dashboard and of lwcat, into docs/images/ (Node, npm and Chromium)
	@$(GO) build -o bin/demo ./examples/demo
	CHROME=$(CHROME) $(NODE) e2e/browser/picture.mjs
	CHROME=$(CHROME) $(NODE) e2e/browser/terminal.mjs

# What the tests in browsers are made of.
.PHONY: browsers
browsers: wasm e2e/browser/node_modules/.package-lock.json
	@$(GO) build -o bin/wire ./internal/testkit/wire/serve
	@$(GO) build -o bin/stage ./internal/testkit/stage
ifeq ($(NO_BROWSER),)
test-browser e2e: browsers
endif

.PHONY: wasm
wasm: ## the browser's program, and what is made of Go's wasm_exec.js, into wasm/
	@$(GO) run ./internal/tools/wasmbuild wasm

.PHONY: test-js
test-js: ## the JavaScript package and the dashboard in Node (Node and npm)
ifeq ($(NODE),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "Node is missing"; exit 1; fi
	@echo "There is no Node, so the JavaScript package is not tested; with Node 20.16 or later and npm: make test-js"
else
	@$(MAKE) --no-print-directory wasm wasm/node_modules/.package-lock.json
	@$(GO) build -o bin/stage ./internal/testkit/stage
	cd wasm && $(NODE) --test --test-timeout=120000 --test-reporter=spec test/*.test.mjs
	@# The tests of the dashboard use happy-dom, which is a development dependency of the package.
	$(NODE) --test --test-timeout=120000 --test-reporter=spec examples/browser/test/*.test.js
endif

.PHONY: declarations
declarations: wasm/node_modules/.package-lock.json ## generate wasm/index.d.ts, react.d.ts and glue.d.ts from the sources (Node and npm)
	cd wasm && node declarations.mjs

.PHONY: test-metrics
test-metrics: ## the adapters to Prometheus and OpenTelemetry
	@# What ran is no proof for other documentation, which lies outside of the module, so nothing is cached.
	cd examples/metrics && $(GO) test -count 1 $(if $(COMPILER),-race) -timeout 5m ./...

.PHONY: test-adapters
test-adapters: ## the adapters for client-go and controller-runtime
	@# Documents are outside of the module, so Go cannot cache the results.
	cd adapters && $(GO) test -count 1 $(if $(COMPILER),-race) -timeout 5m . ./clientgo ./controllerruntime

.PHONY: conformance
conformance: $(if $(LISTWATCH_CI),e2e-server) ## the test suites of controller-runtime, with its own informers and with the adapters; needs make e2e-server
	cd adapters && $(GO) test -count 1 -timeout 30m ./conformance

# In simulated time the module finds no entropy, which it takes from the jitter of clocks; and WebSocket takes SHA-1.
NO_FIPS = TestDetectsDeadConnection|TestLimitsConcurrentDials
NO_STRICT_FIPS = $(NO_FIPS)|TestKubeconfigProxies

.PHONY: test-fips
test-fips: ## the connections with Go's FIPS 140-3 module, and with nothing but what it approves of
	GOFIPS140=latest GODEBUG=fips140=on $(GO) test -timeout 5m -skip '$(NO_FIPS)' ./transport/http ./transport/kubeconfig ./transport/ws ./internal/testkit/canary
	GOFIPS140=latest GODEBUG=fips140=only $(GO) test -timeout 5m -skip '$(NO_STRICT_FIPS)' ./transport/http ./transport/kubeconfig ./internal/testkit/canary
	GOFIPS140=latest GODEBUG=fips140=only $(GO) test -timeout 5m -run 'TestSecretsAreNotPrinted$$' ./cmd/lwcat

.PHONY: test-386
test-386: ## the tests of the library and of lwcat's internals with an int of 32 bits, where the machine can run them (linux/amd64)
	GOARCH=386 $(GO) test -timeout 5m ./lw/... ./cache/... ./transport/... ./cmd/lwcat/internal/...

# The oldest Go that is supported is the release before the newest; both are fetched.
TOOLCHAINS = go1.26.0 go1.27.4
# Beside those that make release builds for.
SYSTEMS    = linux/386 linux/arm linux/riscv64 linux/s390x freebsd/amd64 openbsd/amd64

.PHONY: portable
portable: test-386 ## that, the tests with the oldest and the newest Go, and builds for more systems
	@set -e; for toolchain in $(TOOLCHAINS); do echo "$$toolchain test ./..."; GOTOOLCHAIN=$$toolchain $(GO) test -timeout 5m ./...; done
	@set -e; for system in $(SYSTEMS); do echo "build for $$system"; GOOS=$${system%/*} GOARCH=$${system#*/} $(GO) build ./...; done

.PHONY: e2e-server
e2e-server: ## build a real kube-apiserver, etcd and kubectl into a cache folder (8 minutes the first time)
	@e2e/build.sh > /dev/null

.PHONY: e2e
e2e: e2e-server ## the same scenarios against a real kube-apiserver, and a real kubectl against the embedded server
	cd e2e && CHROME=$(CHROME) FIREFOX=$(FIREFOX) $(GO) test -timeout 20m -parallel 8 ./...

.PHONY: soak
soak: e2e-server ## broken connections and a dying kube-apiserver under load for SOAK (default 10m); SEED repeats the choices
	cd e2e && SOAK=$(or $(SOAK),10m) $(GO) test ./soak -run TestSoak -v -count 1 -timeout 0

.PHONY: soak-lwcat
soak-lwcat: e2e-server ## the same for lwcat, ROUNDS times half a minute (default 10): its lines, folded, are the server's list
	cd e2e && ROUNDS=$(or $(ROUNDS),10) $(GO) test . -run TestLwcatSoak -v -count 1 -timeout 0

.PHONY: e2e-clients
e2e-clients: ## client-go's and the JavaScript client's informers against the embedded server (Node and npm for the latter)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory e2e/clients/node/node_modules/.package-lock.json; \
	elif [ -n "$$LISTWATCH_CI" ]; then echo "npm is missing"; exit 1; fi
	@# What ran is no proof for other documentation, which lies outside of the module, so nothing is cached.
	cd e2e/clients && $(GO) test -count 1 -timeout 10m ./...
	cd examples/clientgo && $(GO) test -count 1 -timeout 5m ./...

.PHONY: lint
lint: vulncheck lint-js prose ## gofmt, vet, staticcheck, module files; native and as wasm; the JavaScript, if there are Node and npm; and make prose
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet $(WASM_PACKAGES) ./internal/jsx ./internal/tools/bundle
	@# All code and its tests must compile for other systems, and with an int of 32 bits.
	GOOS=windows GOARCH=386 $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	@# A library of lwcat's tests does not compile for wasip1, and all else does.
	GOOS=wasip1 GOARCH=wasm $(GO) build ./lw/... ./cache/... ./transport/... ./cmd/...
	cd e2e && $(GO) vet ./... && $(GO) mod tidy -diff
	cd e2e/clients && $(GO) vet ./... && $(GO) mod tidy -diff
	cd bench && $(GO) vet ./... && GOOS=js GOARCH=wasm $(GO) vet ./browser/clientgo ./wasm/program && $(GO) mod tidy -diff
	cd examples/metrics && $(GO) vet ./... && $(GO) mod tidy -diff
	cd examples/clientgo && $(GO) vet ./... && $(GO) mod tidy -diff
	cd adapters && $(GO) vet ./... && $(GO) mod tidy -diff
	$(GO) run $(STATICCHECK) ./...
	cd e2e && $(GO) run $(STATICCHECK) . ./kube ./faults ./soak
	cd e2e/clients && $(GO) run $(STATICCHECK) ./...
	cd examples/metrics && $(GO) run $(STATICCHECK) ./...
	cd examples/clientgo && $(GO) run $(STATICCHECK) ./...
	cd adapters && $(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy -diff
	$(GO) mod verify

.PHONY: lint-js
lint-js: ## ESLint over the package and the dashboard, and tsc over the dashboard (Node and npm)
ifneq ($(NO_NPM),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "missing: $(NO_NPM)"; exit 1; fi
	@echo "Missing: $(NO_NPM), so the JavaScript is not linted; with Node 20.16 or later and npm: make lint-js"
else
	@$(MAKE) --no-print-directory wasm/node_modules/.package-lock.json
	wasm/node_modules/.bin/tsc -p examples/browser
	wasm/node_modules/.bin/eslint --config wasm/eslint.config.mjs wasm examples/browser
endif

.PHONY: prose
prose: ## check the language of documentation, comments and messages with Vale; FILES='lw/*.go' checks other files
ifeq ($(COMPILER),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "a C compiler is missing"; exit 1; fi
	@echo "Vale needs a C compiler, so the language is not checked; on Debian: apt install gcc libc6-dev"
else
	@test -x bin/vale-$(lastword $(subst @, ,$(VALE))) || { GOBIN=$(CURDIR)/bin $(GO) install $(VALE) && \
		mv bin/vale bin/vale-$(lastword $(subst @, ,$(VALE))); }
	@files=$$($(GO) run ./internal/tools/prose $(FILES)) && \
		bin/vale-$(lastword $(subst @, ,$(VALE))) --config internal/tools/prose/vale.ini --output line $$files && \
		echo "$$(echo "$$files" | wc -l) files follow the rules of internal/tools/prose/styles"
endif

# The programs in bench/ that make bench runs one by one. With -short they do little work and only show that they run.
BENCHES = decode list retained dropin binary store million watches storm flap wasm

.PHONY: vulncheck
vulncheck: ## whether a known vulnerability can be reached from our code; says so where the database cannot be asked
	@GOBIN=$(CURDIR)/bin $(GO) install $(GOVULNCHECK)
	@said=$$(bin/govulncheck ./... 2>&1) && echo "$$said" || case "$$said" in \
		*"fetching vulnerabilities"*) echo "NOT CHECKED for vulnerabilities, as their database cannot be reached:"; echo "$$said";; \
		*) echo "$$said"; exit 1;; esac

.PHONY: bench
bench: ## all that docs/performance.md shows, beside client-go; one of it: cd bench && go run ./store
	$(GO) test ./lw -run '^$$' -bench . -count 5
	@set -e; for program in $(BENCHES); do echo "bench/$$program"; (cd bench && $(GO) run ./$$program); done

.PHONY: bench-smoke
bench-smoke: ## the same with little work: fails if a benchmark is broken, not if a machine is slow
	$(GO) test ./lw -run '^$$' -bench . -benchtime 1x
	cd bench && $(GO) test ./...
	cd bench/operator && $(GO) vet . && $(GO) mod tidy -diff
	@set -e; for program in $(BENCHES); do echo "bench/$$program"; (cd bench && $(GO) run ./$$program -short); done

.PHONY: bench-operator
bench-operator: e2e-server ## cert-manager's cainjector on a real kube-apiserver, with controller-runtime's cache and with the adapter
	cd bench/operator && $(GO) run .

.PHONY: bench-browser
bench-browser: wasm e2e/browser/node_modules/.package-lock.json $(if $(CHECK),,e2e/clients/node/node_modules/.package-lock.json) ## the package beside plain JavaScript and others in Chromium, Firefox and Node; CHECK=1 holds it to its budgets, and no more
	@cd bench && $(GO) build -o ../bin/bench-browser ./browser
ifndef CHECK
	@mkdir -p bin/clientgo && cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin/clientgo/
	@cd bench && GOOS=js GOARCH=wasm $(GO) build -trimpath -ldflags='-s -w -buildid=' -o ../bin/clientgo/clientgo.wasm ./browser/clientgo
endif
	@CHROME=$(CHROME) FIREFOX=$(FIREFOX) $(NODE) bench/browser/run.mjs bin/bench-browser bin/clientgo/clientgo.wasm

.PHONY: api
api: ## note the public API as it is now in api/, which a test compares
	$(GO) test ./internal/testkit/rules -run PublicAPI -update

.PHONY: sim
sim: ## play SEEDS seeds of the simulation (default 100000), beginning with FIRST
	SEEDS=$(or $(SEEDS),100000) $(GO) test ./internal/testkit/sim -run TestSimulation -v -timeout 0

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (default 1m), and the calls into JavaScript; ONLY=lw/FuzzValue runs one
	@internal/tools/fuzz.sh '$(or $(FUZZTIME),1m)' '$(ONLY)'
ifeq ($(NODE),)
	@echo "There is no Node, so the JavaScript package is not fuzzed"
else ifndef ONLY
	@$(MAKE) --no-print-directory wasm
	@set -e; for tests in fuzz saved; do FUZZTIME=$(or $(FUZZTIME),1m) $(NODE) wasm/test/$$tests.test.mjs; done
endif

# Mutates the files of one package, without those of the packages below it.
.PHONY: mutants
mutants: ## small mistakes in PACKAGE (default ./lw) that its tests miss; FILE=skip takes only the files with names that match
	@cd $(or $(PACKAGE),./lw) && skip=$$(ls *.go | grep -v -e '$(or $(FILE),.)' | sed 's/.*/-E ^&$$/'); cd $(CURDIR) && \
		$(GO) run $(GREMLINS) unleash $(or $(PACKAGE),./lw) --invert-logical --invert-bitwise -E / $$skip

# Builds a stripped program for linux/amd64. Fails if it is larger than its budget.
#   $(call stripped,NAME,MODULE,PACKAGE,BUDGET)
define stripped
	@cd $(2) && CGO_ENABLED=0 GOOS=linux GOARCH=amd64 $(GO) build -trimpath -ldflags='-s -w' -o $(CURDIR)/bin/$(1)-linux-amd64 $(3)
	@size=$$(wc -c < bin/$(1)-linux-amd64); echo "$(1), linux/amd64, stripped: $$size bytes"; \
		test $$size -le $(4) || { echo "$(1) exceeds its budget of $(4) bytes"; exit 1; }
endef

.PHONY: size-lwcat
size-lwcat:
	$(call stripped,lwcat,.,./cmd/lwcat,$(LWCAT_BUDGET))

.PHONY: size-informer
size-informer:
	$(call stripped,informer,bench,./binary/listwatch,$(INFORMER_BUDGET))

.PHONY: size
size: wasm size-lwcat size-informer ## the sizes of the WASM modules, of lwcat and of a program with an informer; fails above their budgets
ifeq ($(NODE),)
	@echo "make size needs Node 20 or later, for its brotli"; exit 1
else
	@mkdir -p bin && $(GO) run ./internal/tools/wasmbuild internal/tools/bundle bin/bundle.wasm
	@$(NODE) internal/tools/bundle/size.mjs wasm/listwatch.wasm $(SIZE_BUDGET)
	@$(NODE) internal/tools/bundle/size.mjs bin/bundle.wasm $(BUNDLE_BUDGET)
endif

# The platforms that make release builds lwcat for.
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: release
release: wasm ## into dist/: lwcat for six platforms, the npm tarball, a bill of materials, checksums
	@rm -rf dist && mkdir dist
	@set -e; for platform in $(PLATFORMS); do \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; echo "lwcat for $$platform"; \
		$(GO) build -trimpath -ldflags='-s -w -buildid=' -o dist/lwcat-$$GOOS-$$GOARCH$$($(GO) env GOEXE) ./cmd/lwcat; done
	@$(GO) run ./internal/tools/release dist
	@cat dist/SHA256SUMS

.PHONY: reproducible
reproducible: ## build a release of the last commit in two folders, once with an empty cache: are they the same bytes?
	@place=$$(mktemp -d) && trap 'rm -rf "$$place"' EXIT && cd "$$place" && git clone -q $(CURDIR) one && git clone -q $(CURDIR) a-longer-name && \
		$(MAKE) --no-print-directory -C one release PLATFORMS=linux/amd64 && \
		GOCACHE=$$place/cache $(MAKE) --no-print-directory -C a-longer-name release PLATFORMS=linux/amd64 && \
		cmp one/dist/SHA256SUMS a-longer-name/dist/SHA256SUMS

# The stages of ci. Those in the first lane mostly compute, and those in the second lane mostly wait. Stages that build the
# WASM module are in one lane. make npm runs before them, because gofmt and ESLint must not see packages that are being installed.
BUSY    = test lint test-386 test-fips test-metrics e2e-clients
WAITING = e2e test-adapters test-browser test-js demo size
# The additional stages of ci-full.
LONG    = reproducible bench-smoke portable conformance fuzz soak soak-lwcat

.PHONY: ci
ci: ## what continuous integration runs, with the time of each stage
	@$(MAKE) --no-print-directory -j3 npm
	@DURATION=5s internal/tools/stages/stages.sh '$(BUSY)' '$(WAITING)'

.PHONY: ci-full
ci-full: ci ## that, and what takes too long for each change: portability, short fuzzing and soaks
	@FUZZTIME=20s SOAK=5m ROUNDS=5 internal/tools/stages/stages.sh '$(LONG)'

# Installs all npm packages that the stages need.
.PHONY: npm
npm: $(if $(NO_NPM),,$(addsuffix /node_modules/.package-lock.json,wasm e2e/browser e2e/clients/node))
