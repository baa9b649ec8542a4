//go:build !lean

package bucket

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/objectstest"
)

// contract tests a store with the bucket pail and without the bucket bowl.
func contract(t *testing.T, scheme, parameters string) {
	t.Helper()
	o, err := Open(t.Context(), scheme+"://pail/some/prefix"+parameters, os.LookupEnv)
	require.NoError(t, err)
	objectstest.Contract(t, o)
	whole(t, scheme+"://pail/other"+parameters)
	o, err = Open(t.Context(), scheme+"://bowl"+parameters, os.LookupEnv)
	require.NoError(t, err)
	missingBucket(t, o)
}

func whole(t *testing.T, url string) {
	t.Helper()
	objectstest.Whole(t, url, func(rawURL string) (backend.Objects, error) {
		return Open(context.Background(), rawURL, os.LookupEnv)
	})
}

// TestAFaultIsNoMissingObject checks that a missing file on this machine is not taken for a missing object.
func TestAFaultIsNoMissingObject(t *testing.T) {
	t.Parallel()
	missing := &fs.PathError{Op: "open", Path: "/run/token", Err: fs.ErrNotExist}
	require.NotErrorIs(t, (&gsStore{}).explain(missing), fs.ErrNotExist)
	require.NotErrorIs(t, (&Store{native: &s3Store{}}).explain(missing), fs.ErrNotExist)
	require.NotErrorIs(t, (&Store{native: &azureStore{}}).explain(missing), fs.ErrNotExist)
}

func missingBucket(t *testing.T, o backend.Objects) {
	t.Helper()
	_, err := o.List(t.Context(), "a/")
	require.ErrorIs(t, err, backend.ErrRefused)
	_, err = o.Put(t.Context(), "a", nil, backend.Condition{Absent: true})
	require.ErrorIs(t, err, backend.ErrRefused)
	_, err = o.Put(t.Context(), "a", nil, backend.Condition{Version: "0"})
	require.ErrorIs(t, err, backend.ErrRefused)
}

// listed returns the answer of a store to a list request: the names of the objects that begin with prefix, and of the
// folders if there is a delimiter, both sorted.
func listed[T any](objects map[string]T, prefix, delimiter string) (names, folders []string) {
	folders = []string{}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if folder, _, deeper := strings.Cut(rest, "/"); deeper && delimiter != "" {
			folders = append(folders, prefix+folder+"/")
			continue
		}
		names = append(names, name)
	}
	return names, slices.Compact(folders)
}
