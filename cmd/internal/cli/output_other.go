//go:build !windows

package cli

import "github.com/yamlhost/yamlhost/cmd/internal/console"

// beginOutput does nothing: terminals of this system understand sequences without being told.
func beginOutput(*console.Streams) {}
