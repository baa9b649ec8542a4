//go:build tools

// Package terraformbridge pins the programs that the tests of bridged providers build: Pulumi's bridge to Terraform
// providers, and two such providers. It is a module of its own because the bridge needs a replaced library.
package terraformbridge

import (
	_ "github.com/hashicorp/terraform-provider-time"
	_ "github.com/pulumi/pulumi-terraform-bridge/v3/dynamic"
	_ "github.com/terraform-providers/terraform-provider-random"
)
