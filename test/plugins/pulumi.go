//go:build tools

// Package plugins holds programs for tests. This file keeps in go.mod what the tests build: the Pulumi CLI, and
// Pulumi's own language host for YAML, to which ours is compared.
package plugins

import (
	_ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
)
