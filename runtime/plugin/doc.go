// Package plugin runs resource providers as processes and speaks gRPC with them (rules E3, F2).
//
// A Host finds, starts and ends plugins and is a provider.Loader; what it loads implements provider.Provider over the
// plugin's connection. NewServer does the reverse: it offers any provider.Provider as a plugin. Values cross as package
// wire writes them; what each call may carry is written down here, once, in encoding.go.
//
// The package knows nothing of states, steps or programs. All that comes from outside, the environment too, comes in
// Options.
package plugin
