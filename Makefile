# Everything here is a script or a Go command with a name; `make help` lists them. The local cluster needs Linux and
# root. Caches and running state: $HADOOPBENCH_CACHE, default ~/.cache/hadoop-bench-operator.

SHELL := bash
.DEFAULT_GOAL := help

# Tools are pinned in a module of their own, so that their dependencies stay out of the operator's.
TOOL := go tool -modfile=hack/tools/go.mod

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Try it
.PHONY: demo demo-down
demo: ## local Kubernetes and HDFS, the operator, one DFSIORun and its report
	hack/demo.sh up
demo-down: ## stop all of that
	hack/demo.sh down

##@ Test
.PHONY: test test-long test-unit test-chart test-controlplane test-servers test-e2e
test: ## all tests, as CI runs them, with a cluster of their own
	hack/test.sh
test-long: ## the tests with real servers at full size; the cluster stays up
	HADOOPBENCH_LONG=1 hack/test.sh deps build cluster servers e2e
test-unit: ## Go tests that need neither root nor servers
	go test ./...
test-chart: ## the Helm chart
	hack/test.sh build chart
test-controlplane: ## controllers against a real API server and controller manager
	hack/test.sh build controlplane
test-servers: ## the runner against real servers; they stay up
	hack/test.sh deps build cluster servers
test-e2e: ## the operator in the local cluster, which stays up
	hack/test.sh deps build cluster e2e

ifneq ($(wildcard hack/bench/run.sh),)
.PHONY: bench
bench: ## the runner against the original tools, on the same servers
	hack/bench/run.sh
endif

##@ Change it
.PHONY: build images manifests generate fmt lint verify
build: ## the binaries, into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/ ./cmd/...
images: ## images of manager and runner as OCI archives, into bin/images/
	hack/image/build.sh -o bin/images manager runner
manifests: ## CRDs, roles, deep copies and the chart's copies of them
	go run ./hack/manifests
generate: manifests ## everything that is generated
	go -C hack/protos run .
fmt: ## format all Go files
	$(TOOL) gofumpt -w .
lint: ## static analysis
	go vet ./...
	$(TOOL) staticcheck ./...
verify: ## formatting, static analysis, generated files up to date
	hack/test.sh verify

##@ Local cluster
.PHONY: cluster cluster-down
cluster: ## start Kubernetes and HDFS (hack/cluster/kubectl, hack/hadoop/hdfs)
	hack/cluster/deps.sh
	hack/cluster/up.sh
	hack/hadoop/up.sh
cluster-down: ## stop them
	hack/cluster/down.sh
