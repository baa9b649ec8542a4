// Package kill holds nothing but the crash test of the whole program: it kills yamlhost and its plugin at random
// instants and at every moment that has a name, runs it again, and compares the state with what really exists (decision
// D9).
package kill
