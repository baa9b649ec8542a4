package environments_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/workspace/environments"
)

// The file of an environment has a name on every system, and each name has its own file.
func TestFilesHaveNamesOnAllSystems(t *testing.T) {
	t.Parallel()
	o := environments.Options{Dir: t.TempDir()}
	part := rapid.OneOf(rapid.SampledFrom([]string{"con", "NUL", "com1", "aux.x", "a.", "a", "..", "a:b", "lpt9", "com10"}),
		rapid.StringMatching(`[A-Za-z0-9._-]{1,4}`))
	rapid.Check(t, func(rt *rapid.T) {
		name := strings.Join(rapid.SliceOfN(part, 1, 2).Draw(rt, "parts"), "/")
		file, err := o.File(name)
		if err != nil {
			require.Regexp(rt, "cannot be the name of an environment: |is no name of an environment", err)
			return
		}
		for _, element := range append(strings.Split(name, "/"), path.Base(name)+".yaml") {
			require.Empty(rt, osfile.Reserved(element))
		}
		again, known := o.NameOf(file)
		require.True(rt, known)
		require.Equal(rt, name, again)
	})
	_, err := o.File("shop/con")
	require.EqualError(t, err, `"con" cannot be the name of an environment: it is the name of a device on Windows`)
}
