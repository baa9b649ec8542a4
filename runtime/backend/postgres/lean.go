//go:build lean

package postgres

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// Known returns the schemes that this build can open.
func Known() []string { return nil }

// Open returns an error that names the edition which can open the URL.
func Open(_ context.Context, rawURL string, _ Lookup) (backend.Objects, error) {
	return nil, &backend.UnsupportedURLError{URL: rawURL,
		Way: "this is the lean edition, which keeps state in folders only. " +
			"Install the default edition, which has PostgreSQL: its archives are named without \"lean\", " +
			"and `make build` builds it"}
}
