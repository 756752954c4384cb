# make without a target lists the targets.

GO          ?= go
GOVULNCHECK  = golang.org/x/vuln/cmd/govulncheck@v1.2.0
GREMLINS     = github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
VALE         = github.com/vale-cli/vale/v3/cmd/vale@v3.21.0
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
NODE        := $(shell command -v node 2>/dev/null)
# Command for go test -exec. It runs a test binary in Node and starts the server for the tests of the transports.
WASM_EXEC    = LISTWATCH_SERVE=$(CURDIR)/bin/stage node $(CURDIR)/wasm/exec.mjs
COMPILER    := $(shell command -v $$($(GO) env CC) 2>/dev/null)
# Programs that the browser tests need. NO_NPM and NO_BROWSER list the missing programs. If programs are missing, the test
# targets skip the tests that need them, so that contributors need only Go. In CI, where .ci/run sets LISTWATCH_CI, they fail.
CHROME      ?= $(firstword $(shell which chromium chromium-browser google-chrome 2>/dev/null))
FIREFOX     ?= $(firstword $(shell which firefox-esr firefox 2>/dev/null))
NO_NPM       = $(strip $(if $(NODE),,Node) $(if $(shell command -v npm 2>/dev/null),,npm))
NO_BROWSER   = $(strip $(NO_NPM) $(if $(CHROME),,Chromium) $(if $(FIREFOX),,Firefox))
# Packages in the WASM module. Their tests also run as WebAssembly.
WASM_PACKAGES = ./lw ./lw/internal/... ./cache ./transport/... ./wasm/...
# Size limit in kB after brotli of the npm package's WASM module, which make size checks.
SIZE_BUDGET = 610
# Size limits in bytes of stripped linux/amd64 programs. make size checks lwcat and a program with one informer.
LWCAT_BUDGET    = 8500000
INFORMER_BUDGET = 7000000

# lwcat's releases do not inline the functions of these packages, which saves 0.8 MB, and they do not align functions, which
# saves 0.2 MB. lwcat spends little time on most of them. 4 is the length of an instruction on arm64.
LWCAT_COLD  = runtime internal/runtime/... bytes bufio strconv maps slices container/... net/... crypto/... vendor/... \
	github.com/spf13/... go.yaml.in/... github.com/gorilla/... math/big mime/... os/... \
	regexp/... log/... text/... encoding/... strings time fmt reflect flag syscall sort path/... io/... context sync/... errors \
	unicode/... unique ./transport/... ./cache/catalog ./lw/discovery ./internal/... ./cmd/lwcat/...
LWCAT_FLAGS = -ldflags='-s -w -buildid= -funcalign 4' $(foreach package,$(LWCAT_COLD),-gcflags=$(package)=-l)

# Installs a folder's npm packages if its lock file has changed.
%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	@touch $@

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Many users export KUBECONFIG, so only a KUBECONFIG in make's arguments selects a cluster for the demo.
OWN_CLUSTER = $(if $(SERVER),-server '$(SERVER)') $(if $(CONTEXT),-context '$(CONTEXT)') \
	$(if $(filter command,$(origin KUBECONFIG)),-kubeconfig '$(KUBECONFIG)')

.PHONY: demo
demo: bin/lwcat wasm ## run an embedded cluster with the dashboard and lwcat; DURATION=10s limits the run, SERVER=https://…, CONTEXT=name or KUBECONFIG=file shows your own cluster
	@$(GO) run ./examples/demo $(if $(DURATION),-duration $(DURATION)) $(OWN_CLUSTER)

# This target is phony, because only the go command knows whether the program is up to date.
.PHONY: bin/lwcat
bin/lwcat:
	@$(GO) build -trimpath -o $@ ./cmd/lwcat

.PHONY: test
test: test-native test-wasm ## run the tests that need only Go, and Node for the WebAssembly tests

# The race detector makes these packages and these tests of other packages five times slower. They mostly compute in one
# goroutine, so they run without it.
SIMULATIONS = /internal/(testkit/sim|hostile)$$
COMPUTING   = ^(TestRetained|TestDocumentSizeLimit|TestMillionEventsNeedLittleMemory|TestHostileBodies|TestSecretsAreNotPrinted)$$
COMPUTING_PACKAGES = ./lw ./cache/compact ./cmd/lwcat ./lw/discovery

.PHONY: test-native
test-native:
ifeq ($(COMPILER),)
	@echo "A C compiler is missing, so the tests run without the race detector."
	$(GO) test -timeout 15m ./...
else
	@# By default a process with the race detector sleeps for a second at exit, and lwcat's tests start hundreds of processes.
	@# Parallel tests mostly wait, so -parallel exceeds the number of cores.
	GORACE=atexit_sleep_ms=0 $(GO) test -timeout 15m -parallel 8 -race -skip '$(COMPUTING)' $$($(GO) list ./... | grep -v -E '$(SIMULATIONS)')
	$(GO) test -timeout 15m $$($(GO) list ./... | grep -E '$(SIMULATIONS)')
	$(GO) test -timeout 15m -parallel 8 -run '$(COMPUTING)' $(COMPUTING_PACKAGES)
endif

.PHONY: test-wasm
test-wasm: ## run the tests of the WASM module's packages in Node, with the compiler flags of internal/tools/wasmbuild
ifeq ($(NODE),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "Node is missing"; exit 1; fi
	@echo "Node is missing, so the WebAssembly tests are skipped; install Node 20 or later and run make test-wasm"
else
	@$(GO) build -o bin/stage ./internal/testkit/stage
	@# The results depend on glue.js, which go test does not track, so they must not be cached.
	GOOS=js GOARCH=wasm $(GO) test -timeout 15m -count 1 -gcflags=runtime=-l -exec="env $(WASM_EXEC)" $(WASM_PACKAGES)
endif

.PHONY: test-browser
test-browser: ## run the Go tests of ./transport and ./wasm in Chromium, and the tests of the npm package in Chromium and Firefox
ifneq ($(NO_BROWSER),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "missing: $(NO_BROWSER)"; exit 1; fi
	@echo "Missing: $(NO_BROWSER), so the browser tests are skipped; on Debian: apt install nodejs npm chromium firefox-esr"
else
	@# The other packages do not depend on the browser, so their tests run only in Node. Examples are skipped because they
	@# write files, which a page cannot do. The results depend on glue.js, which go test does not track, so they must not be cached.
	CHROME=$(CHROME) GOOS=js GOARCH=wasm $(GO) test -timeout 15m -count 1 -run '^(Test|Fuzz)' \
		-exec="env LISTWATCH_SERVE=$(CURDIR)/bin/stage node $(CURDIR)/e2e/browser/gotest.mjs" ./transport/... ./wasm
	CHROME=$(CHROME) FIREFOX=$(FIREFOX) node --test --test-reporter=spec e2e/browser/
	@# These tests cover the code that compares benchmark results with their limits.
	node --test bench/browser/*.test.mjs
endif

.PHONY: screenshots
screenshots: bin/lwcat wasm e2e/browser/node_modules/.package-lock.json ## write the README's images of the dashboard and of lwcat to docs/images/ (needs Node, npm and Chromium)
	@$(GO) build -o bin/demo ./examples/demo
	CHROME=$(CHROME) $(NODE) e2e/browser/picture.mjs
	CHROME=$(CHROME) $(NODE) e2e/browser/terminal.mjs

.PHONY: test-next
test-next: browsers ## run the tests of the npm package in an application of Next.js
	CHROME=$(CHROME) FIREFOX=$(FIREFOX) LISTWATCH_NEXT=1 node --test --test-reporter=spec e2e/browser/bundlers.test.mjs

# If a program is missing, these targets skip the browser tests, so they do not need the files.
ifeq ($(NO_BROWSER),)
test-browser e2e: browsers
endif

.PHONY: browsers wasm worker
# In the stages of make ci, these files are already built, and another stage may be reading them.
ifdef BUILT
browsers wasm worker: ;
else
# Builds the files that the browser tests use.
browsers: worker e2e/browser/node_modules/.package-lock.json
	@$(GO) build -o bin/stage ./internal/testkit/stage

wasm: ## build the WASM module and the files derived from Go's wasm_exec.js, in wasm/
	@$(GO) run ./internal/tools/wasmbuild wasm

worker: wasm wasm/node_modules/.package-lock.json ## build the npm package's worker in one file and its CommonJS modules, in wasm/ (needs Node and npm)
	@cd wasm && npm run --silent worker && npm run --silent commonjs
endif

.PHONY: test-js
test-js: ## run the tests of the npm package and of the dashboard in Node (needs Node and npm)
ifeq ($(NODE),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "Node is missing"; exit 1; fi
	@echo "Node is missing, so the npm package is not tested; install Node 20.16 or later and npm and run make test-js"
else
	@$(MAKE) --no-print-directory worker
	@$(GO) build -o bin/stage ./internal/testkit/stage
	@# The tests mostly wait. By default, Node runs one file at a time on two cores. The timeout applies to each file, and
	@# package.test.mjs, which runs the type checker and other tools, needs minutes on a busy machine.
	cd wasm && $(NODE) --test --test-concurrency=4 --test-timeout=300000 --test-reporter=spec test/*.test.mjs
	@# The dashboard's tests use happy-dom, a development dependency of the npm package.
	$(NODE) --test --test-concurrency=4 --test-timeout=300000 --test-reporter=spec examples/browser/test/*.test.js
endif

.PHONY: declarations
declarations: wasm/node_modules/.package-lock.json ## generate the type declarations in wasm/ from the sources (needs Node and npm)
	cd wasm && node declarations.mjs

.PHONY: test-metrics
test-metrics: ## run the tests of the Prometheus and OpenTelemetry adapters
	@# The tests read documents outside the module, which go test does not track, so the results must not be cached.
	cd examples/metrics && $(GO) test -count 1 $(if $(COMPILER),-race) -timeout 15m ./...

.PHONY: test-adapters
test-adapters: ## run the tests of the client-go and controller-runtime adapters
	@# The tests read documents outside the module, which go test does not track, so the results must not be cached.
	cd adapters && $(GO) test -count 1 $(if $(COMPILER),-race) -timeout 15m . ./clientgo ./controllerruntime

# The previous minor version of client-go, with a version of controller-runtime that does not require the newest one.
PREVIOUS = $(addsuffix @v0.36.6,k8s.io/client-go k8s.io/api k8s.io/apimachinery) sigs.k8s.io/controller-runtime@v0.24.1
# These tests check types and metrics that the previous version does not have.
NOT_PREVIOUS = ^(TestTypedFactoryCoversStableGroups|TestFindsBuiltInTypes|TestMetricsOfClientGo)$$

.PHONY: test-adapters-previous
test-adapters-previous: ## run the tests of the client-go adapter with the previous minor version of client-go
	@mkdir -p bin && cp adapters/go.mod bin/previous.mod && cp adapters/go.sum bin/previous.sum
	cd adapters && $(GO) get -modfile ../bin/previous.mod $(PREVIOUS)
	cd adapters && $(GO) test -modfile ../bin/previous.mod -mod mod -tags previous -count 1 -timeout 15m -skip '$(NOT_PREVIOUS)' ./clientgo

# Only CI builds the servers here. Elsewhere, the tests that need them are skipped until make e2e-server has run.
.PHONY: conformance-controller-runtime
conformance-controller-runtime: $(if $(LISTWATCH_CI),e2e-server) ## run controller-runtime's test suites with its own informers and with the adapters; run make e2e-server first
	cd adapters && $(GO) test -count 1 -timeout 30m ./conformance

# The trials mostly wait, so many of them run at the same time.
CONFORMANCE = bin/conformance -parallel 140 -clients conformance/clients.json

.PHONY: conformance-drivers
conformance-drivers: bin/lwcat
	$(GO) build -o bin/conformance ./conformance
	$(GO) build -o bin/conformance-informer ./conformance/drivers/informer
	$(GO) build -o bin/conformance-listandwatch ./conformance/drivers/listandwatch
	cd e2e/clients && $(GO) build -o ../../bin/conformance-clientgo ./conformance

.PHONY: conformance
conformance: conformance-drivers worker ## run the conformance suite with the clients of this project (5 minutes)
	$(CONFORMANCE) -ours

.PHONY: conformance-all
conformance-all: conformance-drivers worker conformance/drivers/clientnode/node_modules/.package-lock.json $(if $(LISTWATCH_CI),e2e-server) ## run the conformance suite with all clients; WRITE=1 updates docs/conformance.md
	KUBECTL="$$(e2e/build.sh --where)/kubectl" $(CONFORMANCE) -long $(if $(WRITE),-write docs/conformance.md)

# Go's FIPS module gathers entropy from clock jitter, which simulated time does not have. WebSocket needs SHA-1, which strict
# FIPS mode forbids.
NO_FIPS = TestDetectsDeadConnection|TestLimitsConcurrentDials|TestLimitsConnectionsThatServeNoRequest
NO_STRICT_FIPS = $(NO_FIPS)|TestKubeconfigProxies

.PHONY: test-fips
test-fips: ## run the connection tests in Go's FIPS 140-3 mode, and in its strict mode
	GOFIPS140=latest GODEBUG=fips140=on $(GO) test -timeout 15m -skip '$(NO_FIPS)' ./transport/http ./transport/kubeconfig ./transport/ws ./internal/testkit/canary
	GOFIPS140=latest GODEBUG=fips140=only $(GO) test -timeout 15m -skip '$(NO_STRICT_FIPS)' ./transport/http ./transport/kubeconfig ./internal/testkit/canary
	GOFIPS140=latest GODEBUG=fips140=only $(GO) test -timeout 15m -run 'TestSecretsAreNotPrinted$$' ./cmd/lwcat

.PHONY: test-386
test-386: ## run the tests of the library and of lwcat's internal packages with a 32-bit int (needs linux/amd64)
	GOARCH=386 $(GO) test -timeout 15m ./lw/... ./cache/... ./transport/... ./cmd/lwcat/internal/...

# The oldest and the newest supported Go release. The go command downloads them.
TOOLCHAINS = go1.26.0 go1.27.4
# Systems for which the code must compile, although make release builds no binary for them.
SYSTEMS    = linux/386 linux/arm linux/riscv64 linux/s390x freebsd/amd64 openbsd/amd64

.PHONY: portable
portable: test-386 ## run test-386, run the tests with the oldest and the newest supported Go, and build for more systems
	@set -e; for toolchain in $(TOOLCHAINS); do echo "$$toolchain test ./..."; GOTOOLCHAIN=$$toolchain $(GO) test -timeout 15m ./...; done
	@set -e; for system in $(SYSTEMS); do echo "build for $$system"; GOOS=$${system%/*} GOARCH=$${system#*/} $(GO) build ./...; done

.PHONY: e2e-server
e2e-server: ## build a real kube-apiserver, etcd and kubectl into a cache folder (8 minutes the first time)
	@e2e/build.sh > /dev/null

.PHONY: e2e
e2e: e2e-server ## run the test scenarios against a real kube-apiserver, and a real kubectl against the embedded server; KUBE=1.32.3 selects an older version
	cd e2e && CHROME=$(CHROME) FIREFOX=$(FIREFOX) $(GO) test -timeout 40m -parallel 8 ./...

# Releases of Kubernetes with different defaults, in addition to the newest one in e2e/go.mod. Some other patch releases lack
# published modules.
KUBES = 1.30.0 1.32.3 1.34.4 1.36.3

.PHONY: e2e-versions $(addprefix e2e-,$(KUBES))
e2e-versions: ## run make e2e with older versions of Kubernetes
	@internal/tools/stages/stages.sh '$(addprefix e2e-,$(KUBES))'
$(addprefix e2e-,$(KUBES)): e2e-%:
	@$(MAKE) --no-print-directory e2e KUBE=$*

.PHONY: soak
soak: e2e-server ## break connections and kill a loaded kube-apiserver for SOAK (default 10m); SEED repeats the random choices
	cd e2e && SOAK=$(or $(SOAK),10m) $(GO) test ./soak -run TestSoak -v -count 1 -timeout 0

.PHONY: soak-lwcat
soak-lwcat: e2e-server ## run the soak test with lwcat for ROUNDS rounds of 30 seconds (default 10) and compare its output with the server's list
	cd e2e && ROUNDS=$(or $(ROUNDS),10) $(GO) test . -run TestLwcatSoak -v -count 1 -timeout 0

.PHONY: e2e-clients
e2e-clients: ## run the informers of client-go and of the JavaScript client against the embedded server (the latter needs Node and npm)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory e2e/clients/node/node_modules/.package-lock.json; \
	elif [ -n "$$LISTWATCH_CI" ]; then echo "npm is missing"; exit 1; fi
	@# The tests read documents outside the module, which go test does not track, so the results must not be cached.
	cd e2e/clients && $(GO) test -count 1 -timeout 10m ./...
	cd examples/clientgo && $(GO) test -count 1 -timeout 15m ./...

.PHONY: lint
lint: lint-js prose ## check the Go code, the module files, known vulnerabilities, the JavaScript code and the prose
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet $(WASM_PACKAGES) ./internal/jsx
	@# All code and its tests must compile for other systems and with a 32-bit int.
	GOOS=windows GOARCH=386 $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	@# go vet also compiles tests, and a library of lwcat's tests does not compile for wasip1.
	GOOS=wasip1 GOARCH=wasm $(GO) build ./lw/... ./cache/... ./transport/... ./cmd/...
	cd e2e && $(GO) vet ./... && $(GO) mod tidy -diff
	cd e2e/clients && $(GO) vet ./... && $(GO) mod tidy -diff
	cd bench && $(GO) vet ./... && GOOS=js GOARCH=wasm $(GO) vet ./wasm/program && $(GO) mod tidy -diff
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
	@# vulncheck is last, so that its notice about an unreachable database ends the output of this stage.
	@$(MAKE) --no-print-directory vulncheck

.PHONY: lint-js
lint-js: ## check the npm package and the dashboard with ESLint, and the dashboard with tsc (needs Node and npm)
ifneq ($(NO_NPM),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "missing: $(NO_NPM)"; exit 1; fi
	@echo "Missing: $(NO_NPM), so the JavaScript code is not checked; install Node 20.16 or later and npm and run make lint-js"
else
	@$(MAKE) --no-print-directory wasm/node_modules/.package-lock.json
	wasm/node_modules/.bin/tsc -p examples/browser
	wasm/node_modules/.bin/eslint --config wasm/eslint.config.mjs wasm examples/browser
endif

# Files that make prose checks. Add the code of a package once its comments follow the rules. The name of Vale's binary
# contains the version, so that another version is installed when VALE changes.
PROSE = '*.md' 'examples/scheduler/*.go' 'internal/jsx/*.go' 'internal/labels/*.go' 'internal/nearest/*.go' 'internal/revlog/*.go'

.PHONY: prose
prose: ## check the language of documents and comments with Vale; FILES='lw/*.go' checks other files
ifeq ($(COMPILER),)
	@if [ -n "$$LISTWATCH_CI" ]; then echo "a C compiler is missing"; exit 1; fi
	@echo "Vale needs a C compiler, so the language is not checked; on Debian: apt install gcc libc6-dev"
else
	@test -x bin/vale-$(lastword $(subst @, ,$(VALE))) || { GOBIN=$(CURDIR)/bin $(GO) install $(VALE) && \
		mv bin/vale bin/vale-$(lastword $(subst @, ,$(VALE))); }
	@bin/vale-$(lastword $(subst @, ,$(VALE))) --config internal/tools/prose/vale.ini --output line \
		$(or $(FILES),$$(git ls-files --deduplicate -- $(PROSE))) && echo "the language follows the rules of internal/tools/prose/styles"
endif

# Programs in bench/ that make bench runs one after another. With -short, they do little work and only show that they run.
BENCHES = decode list dropin binary store watches wasm

# govulncheck exits with 1 if it fails, and with 3 if the code reaches a vulnerability.
.PHONY: vulncheck
vulncheck: ## check whether the code reaches a known vulnerability; if the database is unreachable, prints a notice, or fails with VULNDB=required
	@GOBIN=$(CURDIR)/bin $(GO) install $(GOVULNCHECK)
	@said=$$(bin/govulncheck ./... 2>&1); code=$$?; echo "$$said"; case "$$code $$said" in \
		"1 "*"fetching vulnerabilities:"*) test "$(VULNDB)" != required && \
			echo "NOT CHECKED for known vulnerabilities, because the vulnerability database is unreachable";; \
		*) exit $$code;; esac

.PHONY: bench
bench: ## run the benchmarks of docs/performance.md; WRITE=1 updates the documents; to run one: cd bench && go run ./store
	$(GO) test ./lw -run '^$$' -bench . -count 5
	@set -e; for program in $(BENCHES); do echo "bench/$$program"; (cd bench && $(GO) run ./$$program $(if $(WRITE),-write)); done

.PHONY: bench-smoke
bench-smoke: ## run every benchmark briefly; fails if one is broken, not if the machine is slow
	$(GO) test ./lw -run '^$$' -bench . -benchtime 1x
	cd bench && $(GO) test ./...
	cd bench/operator && $(GO) vet . && $(GO) mod tidy -diff
	cd bench/catalog && $(GO) vet . && $(GO) mod tidy -diff && $(GO) run . -short
	@set -e; for program in $(BENCHES); do echo "bench/$$program"; (cd bench && $(GO) run ./$$program -short); done

.PHONY: bench-operator
bench-operator: e2e-server ## run cert-manager's cainjector on a real kube-apiserver with controller-runtime's cache and with the adapter
	cd bench/operator && $(GO) run .

.PHONY: bench-catalog
bench-catalog: ## compare the catalog with Argo CD's cluster cache, with 300 types and 100,000 objects
	cd bench/catalog && $(GO) run .

.PHONY: bench-browser
bench-browser: worker e2e/browser/node_modules/.package-lock.json $(if $(CHECK),,e2e/clients/node/node_modules/.package-lock.json) ## compare the npm package with other clients in Chromium, Firefox and Node; CHECK=1 checks only its limits, WRITE=1 updates the documents
	@cd bench && $(GO) build -o ../bin/bench-browser ./browser
	@CHROME=$(CHROME) FIREFOX=$(FIREFOX) $(NODE) bench/browser/run.mjs bin/bench-browser

.PHONY: api
api: ## update the record of the public API in api/
	$(GO) test ./internal/testkit/rules -run PublicAPI -update

.PHONY: sim
sim: ## run the simulation with SEEDS seeds (default 100000), starting at FIRST
	SEEDS=$(or $(SEEDS),100000) $(GO) test ./internal/testkit/sim -run TestSimulation -v -timeout 0

.PHONY: fuzz
fuzz: ## run each Go and JavaScript fuzz target for FUZZTIME (default 1m); ONLY=lw/FuzzValue runs one Go target
	@internal/tools/fuzz.sh '$(or $(FUZZTIME),1m)' '$(ONLY)'
ifeq ($(NODE),)
	@echo "Node is missing, so the npm package is not fuzzed"
else ifndef ONLY
	@$(MAKE) --no-print-directory wasm
	@set -e; for tests in fuzz saved; do FUZZTIME=$(or $(FUZZTIME),1m) $(NODE) wasm/test/$$tests.test.mjs; done
endif

# Mutates the files of one package, but no packages in its subfolders.
.PHONY: mutants
mutants: ## list mutations of PACKAGE (default ./lw) that its tests do not detect; FILE=skip mutates only files with matching names
	@cd $(or $(PACKAGE),./lw) && skip=$$(ls *.go | grep -v -e '$(or $(FILE),.)' | sed 's/.*/-E ^&$$/'); cd $(CURDIR) && \
		$(GO) run $(GREMLINS) unleash $(or $(PACKAGE),./lw) --invert-logical --invert-bitwise -E / $$skip

# Builds a stripped program for linux/amd64. Fails if the program is larger than its budget in bytes. MODULE is the folder
# of the Go module, and FLAGS are additional flags of go build.
#   $(call stripped,NAME,MODULE,PACKAGE,BUDGET,FLAGS)
define stripped
	@cd $(2) && CGO_ENABLED=0 GOOS=linux GOARCH=amd64 $(GO) build -trimpath $(5) -o $(CURDIR)/bin/$(1)-linux-amd64 $(3)
	@size=$$(wc -c < bin/$(1)-linux-amd64); echo "$(1), linux/amd64, stripped: $$size bytes"; \
		test $$size -le $(4) || { echo "$(1) exceeds its budget of $(4) bytes"; exit 1; }
endef

.PHONY: size-lwcat
size-lwcat:
	$(call stripped,lwcat,.,./cmd/lwcat,$(LWCAT_BUDGET),$(LWCAT_FLAGS))

.PHONY: size-informer
size-informer:
	$(call stripped,informer,bench,./binary/listwatch,$(INFORMER_BUDGET),-ldflags='-s -w')

.PHONY: size
size: wasm size-lwcat size-informer ## print the sizes of the WASM module, of lwcat and of a program with an informer; fails if one exceeds its limit; WRITE=1 updates the documents
ifeq ($(NODE),)
	@echo "make size needs Node 20 or later to compress with brotli"; exit 1
else
	@$(NODE) internal/tools/size/size.mjs wasm/listwatch.wasm $(SIZE_BUDGET)
endif

# Platforms for which make release builds lwcat.
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: release
release: worker ## write a release to dist/: lwcat for six platforms, the npm tarball, a bill of materials and checksums
	@rm -rf dist && mkdir dist
	@set -e; for platform in $(PLATFORMS); do \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; echo "lwcat for $$platform"; \
		$(GO) build -trimpath $(LWCAT_FLAGS) -o dist/lwcat-$$GOOS-$$GOARCH$$($(GO) env GOEXE) ./cmd/lwcat; done
	@# The prepack script would build the files again that the target worker has built.
	@cd wasm && npm pack --silent --ignore-scripts --pack-destination ../dist
	@$(NODE) internal/tools/bom/bom.mjs dist
	@cd dist && sha256sum * > SHA256SUMS
	@cat dist/SHA256SUMS

.PHONY: reproducible
reproducible: ## build the last commit in two folders, once with an empty cache, and check that the releases are identical
	@place=$$(mktemp -d) && trap 'rm -rf "$$place"' EXIT && cd "$$place" && git clone -q $(CURDIR) one && git clone -q $(CURDIR) a-longer-name && \
		$(MAKE) --no-print-directory -C one release PLATFORMS=linux/amd64 && \
		GOCACHE=$$place/cache $(MAKE) --no-print-directory -C a-longer-name release PLATFORMS=linux/amd64 && \
		cmp one/dist/SHA256SUMS a-longer-name/dist/SHA256SUMS

# The stages of ci run in three lanes of similar duration. Stages in BUSY mostly compute. Stages in SERVERS and PAGES mostly
# wait, so they fit next to BUSY on two cores. Everything that several stages use is built first, because no stage may read a
# file while another stage writes it.
BUSY     = test lint test-386 test-fips test-metrics e2e-clients
SERVERS  = e2e test-adapters demo size
PAGES = test-browser test-js
# Stages that only ci-full and nightly run.
LONG    = reproducible bench-smoke portable test-adapters-previous conformance-controller-runtime conformance-all test-next fuzz soak soak-lwcat

.PHONY: ci
ci: ## run all checks of continuous integration and print the time of each stage
	@$(MAKE) --no-print-directory -j3 npm
	@$(MAKE) --no-print-directory $(if $(NO_NPM),wasm,browsers)
	@BUILT=1 DURATION=5s internal/tools/stages/stages.sh '$(BUSY)' '$(SERVERS)' '$(PAGES)'

.PHONY: ci-full
ci-full: ci ## run ci and the slow checks, such as portability, short fuzzing and soak tests
	@FUZZTIME=20s SOAK=5m ROUNDS=5 internal/tools/stages/stages.sh '$(LONG)'

.PHONY: nightly
nightly: npm ## run the slow checks of ci-full for hours; fails if the vulnerability database is unreachable
	@VULNDB=required FUZZTIME=2m SOAK=30m ROUNDS=20 internal/tools/stages/stages.sh '$(LONG) vulncheck'

# Installs all npm packages that the stages need.
.PHONY: npm
npm: $(if $(NO_NPM),,$(addsuffix /node_modules/.package-lock.json,wasm e2e/browser e2e/clients/node))
