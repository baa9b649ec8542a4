package rpc

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// NewServer returns the server without a network.
func NewServer(m monitor.Monitor) pulumirpc.ResourceMonitorServer { return &server{monitor: m} }
