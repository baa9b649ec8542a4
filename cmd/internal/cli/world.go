package cli

import "github.com/yamlhost/yamlhost/cmd/internal/console"

// What Run takes of the machine.
type (
	// Streams are what a command reads and writes.
	Streams = console.Streams
	// World is what a command may know of the machine.
	World = console.World
	// EmbeddedProviders are providers that live in this process.
	EmbeddedProviders = console.EmbeddedProviders
)
