// Package stores pins the versions of real servers for tests: its go.mod names versitygw, an S3 server over a folder,
// which make store-test builds from here. It is a module of its own so that the dependencies of servers never reach the
// program.
package stores
