// Package rpc implements the client and the server of monitor.Monitor over gRPC (rules E2, pulumirpc.ResourceMonitor).
//
// Serve offers any Monitor to programs and components in other processes and languages; Client is a Monitor whose
// engine runs in another process, yamlhost or another. The connection between a Client and a yamlhost server is
// lossless: they recognise each other by the header exact, and data without a field in the protocol is sent in headers
// and trailers. A program cannot distinguish such a connection from a direct call.
package rpc
