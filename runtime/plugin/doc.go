// Package plugin runs resource providers as processes and calls them over gRPC (rules E3, F2).
//
// A Host finds, starts and ends plugins and is a provider.Loader; the loaded providers implement provider.Provider over
// the plugin's connection. NewServer does the reverse: it serves any provider.Provider as a plugin. Package wire
// encodes the values; encoding.go defines what each call may carry.
//
// The package knows nothing of states, steps or programs. All external inputs, also the environment, are in Options.
package plugin
