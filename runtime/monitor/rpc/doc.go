// Package rpc carries monitor.Monitor over gRPC, both sides of it (rules E2, pulumirpc.ResourceMonitor).
//
// NewServer offers any Monitor to programs and components in other processes, whatever language they are in; Client is
// a Monitor whose engine is in another process, ours or another. Between a Client and a server of ours nothing is lost:
// each recognises the other by the request header exact, and what the protocol has no room for travels in trailers. A
// program behind such a pair cannot tell it from a direct call.
package rpc
