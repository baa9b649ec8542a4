// Package host is a server for tests: it keeps stacks in a folder and answers in the protocol of Pulumi Cloud, so that
// the Pulumi CLI can log in and live stacks on it. Host is the http.Handler; Behaviour says what it does wrong.
//
// It knows nothing of yamlhost: it reads and writes Pulumi's JSON. Everything that it has acknowledged is in the
// folder, so that another Host can continue after it was killed.
package host
