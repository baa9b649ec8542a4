// Package controlplane holds tests of yamlhost on a real control plane of Kubernetes: etcd, kube-apiserver and
// kube-controller-manager on the loopback, and Pulumi's own provider. The servers are built from their module, whose
// parts go.mod replaces by their published versions (`./servers VERSION` writes them), the provider from the module in
// the folder provider. The tests assert the responses of the API server.
package controlplane
