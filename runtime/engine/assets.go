package engine

import (
	"context"
	"io"

	"github.com/yamlhost/yamlhost/internal/value"
)

// withHashes fills in the hashes of assets and archives that have none (E2.15). Relative paths count from the program
// directory.
func (o *Options) withHashes(ctx context.Context, v value.Value) (value.Value, error) {
	opener := value.DirOpener{Dir: o.ProgramDir, Allow: o.AllowFile}
	if o.Open != nil {
		opener.Fetch = func(uri string) (io.ReadCloser, error) { return o.Open(ctx, uri) }
	}
	return value.WithDigests(v, opener)
}
