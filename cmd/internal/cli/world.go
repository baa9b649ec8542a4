package cli

import "github.com/yamlhost/yamlhost/cmd/internal/console"

// The arguments of Run that describe the machine.
type (
	// Streams are the input and output streams of a command.
	Streams = console.Streams
	// World is the part of the machine that a command can see.
	World = console.World
	// EmbeddedProviders are providers that live in this process.
	EmbeddedProviders = console.EmbeddedProviders
)
