//go:build tools

// Package plugins holds programs for tests. This file pins in go.mod the programs that the tests build: the Pulumi CLI,
// and Pulumi's own language host for YAML, with which ours is compared.
package plugins

import (
	_ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
)
