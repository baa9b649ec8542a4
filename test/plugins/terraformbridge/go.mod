module github.com/yamlhost/yamlhost/test/plugins/terraformbridge

go 1.26

require (
	github.com/hashicorp/terraform-provider-time v0.13.1
	github.com/pulumi/pulumi-terraform-bridge/v3 v3.137.0
	github.com/terraform-providers/terraform-provider-random v1.3.2-0.20260513075824-f8d869dc98d9
)

replace github.com/hashicorp/terraform-plugin-sdk/v2 => github.com/pulumi/terraform-plugin-sdk/v2 v2.0.0-20260318212141-5525259d096b
