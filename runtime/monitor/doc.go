// Package monitor is the contract between a running program and the engine that executes it (rules E2).
//
// A program asks a Monitor for resources, reads and function calls, and sees nothing else of the engine. There are
// three implementations: the engine in the same process, a gRPC client, and a recorder for tests. A gRPC server offers
// any Monitor to other processes.
package monitor
