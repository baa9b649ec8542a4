//go:build tools

// Package testplugins holds programs for tests. This file keeps the Pulumi CLI, which the tests build, in go.mod.
package testplugins

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
