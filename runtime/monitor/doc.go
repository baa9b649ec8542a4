// Package monitor is the contract between a running program and the engine that carries it out (rules E2).
//
// A program asks a Monitor for resources, reads and function calls, and sees nothing else of the engine. Three things
// implement it: the engine in process, a gRPC client, and a recorder for tests; a gRPC server offers any Monitor to
// other processes.
package monitor
