package check_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
)

func TestPathsOfFiles(t *testing.T) { // L6.50, L6.52
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "site"), 0o755))
	for _, name := range []string{"a.txt", "b.zip", "site/c.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	const program = `name: p
config: {where: {type: string, default: x}}
variables:
  gone: gone.txt
  a1: {fn::fileAsset: ./a.txt}
  a2: {fn::fileAsset: gone.txt}              #! Y306 the file "gone.txt" does not exist
  a3: {fn::fileAsset: '${gone}'}             #! Y306 the file "gone.txt" does not exist
  a4: {fn::fileAsset: '${where}/gone.txt'}
  a5: {fn::fileAsset: site}                  #! Y306 use fn::fileArchive for a directory
  b1: {fn::fileArchive: site}
  b2: {fn::fileArchive: b.zip}
  b3: {fn::fileArchive: a.txt}               #! Y306 "a.txt" is not an archive
  b4: {fn::assetArchive: {x: {fn::fileAsset: nowhere}}}   #! Y306 the file "nowhere" does not exist
  b5: [{fn::fileAsset: late.txt}, '${made.id}']           #! Y306 the file "late.txt" does not exist
  c1: {fn::readFile: a.txt}
  c4: {fn::readFile: 'site\c.txt'}           #! Y306 site/c.txt
  c5: {fn::readFile: 'site\gone.txt'}        #! Y306 does not exist
  c2: {fn::readFile: b.txt}                  #! Y306 the file "b.txt" does not exist
  c3: {fn::remoteAsset: 'https://example.com/gone'}
resources:
  made: {type: 'random:RandomPet'}
`
	inDir := func(o *check.Options) {
		o.ProgramDir, o.Stat = dir, func(path string) (fs.FileInfo, error) { return os.Stat(path) }
	}
	_, diags := checkText(t, "Main.yaml", program, inDir)
	expectFaults(t, program, diags)
	for _, d := range diags { // a resource may create the file
		missing := (strings.Contains(d.Summary, "does not exist") || strings.Contains(d.Summary, "backslashes")) && !strings.Contains(d.Summary, "late.txt")
		require.Equal(t, missing, d.Severity == diag.Error, d.Summary)
	}
	_, diags = checkText(t, "Main.yaml", program)
	for _, d := range diags {
		require.NotEqual(t, "Y306", string(d.Code))
	}
}
