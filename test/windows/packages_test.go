//go:build linux

package windows

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
)

// Reasons why tests of packages are left out.
const (
	links    = "Wine shows a symbolic link as what it leads to"
	modes    = "Windows has no modes of files"
	slashes  = "the test names files with slashes"
	removing = "Wine lacks the call with which Go removes files"
	open     = "the test keeps the files of a run open that it calls killed, and Wine renames no open file"
	letters  = "no two names differ in letter case only"
	pipes    = "pipes of Windows can be synced"
)

// packages are those whose tests run on Windows, because they touch files, with the tests that are left out.
var packages = map[string]map[string]string{
	"internal/confine":     {"TestPath": links},
	"internal/environ":     {},
	"internal/filelock":    {"TestWaiting": links},
	"internal/fileurl":     {},
	"internal/osfile":      {},
	"runtime/journal":      {},
	"runtime/backend/disk": {"TestSyncAgain": pipes},
	"runtime/backend": {"TestLinkedState": links, "TestSelection": modes, "TestPrevious": slashes,
		"TestUpgradeCutOff":   slashes,
		"TestNewestSoundCopy": removing, "TestRecordsInATornEnd": open, "TestDestroyedRecordsInAJournal": open,
		"TestFlippedBitInAJournal": open, "TestUnreadableStateIsNotWritten": open,
		"TestRecovery/replayed,_with_a_torn_tail": open, "TestRecovery/no_journal_at_all": open},
	"workspace/project": {"TestLocalDir": slashes, "TestSave": modes, "TestLookalikes": letters, "TestFoundPackagesFollowFiles": removing},
}

// wines matches lines of a failed test that are Wine's fault alone, or none: it lacks the call with which package
// testing removes the folder of a test that has passed.
var wines = regexp.MustCompile(`TempDir RemoveAll cleanup: .*Invalid function\.$|\[rapid\] OK, passed|^\s*$|^(FAIL|PASS)$`)

// The tests of packages that touch files pass on Windows, but for those that are listed above.
func TestPackages(t *testing.T) {
	m := newMachine(t)
	for name, left := range packages {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(*built, "tests", filepath.Base(name)+".test.exe")
			var skip []string
			for test := range left {
				skip = append(skip, "^"+strings.ReplaceAll(test, "/", "$/^")+"$")
			}
			slices.Sort(skip)
			p := &project{machine: m, t: t, dir: filepath.Join("../..", filepath.FromSlash(name))}
			cmd := p.command(t, *wine, program, "-test.timeout", "5m", "-test.skip", strings.Join(append(skip, "^$"), "|"))
			cmd.Dir = p.dir
			f, err := os.Create(m.path("output"))
			require.NoError(t, err)
			cmd.Stdout, cmd.Stderr = f, f
			_ = cmd.Run() // fails for a folder that is not removed, too
			require.NoError(t, f.Close())
			out := testfile.Bytes(t, f.Name())
			passed := false
			var faults []string
			for block := range strings.SplitSeq(strings.ReplaceAll(string(out), "\r\n", "\n"), "--- FAIL: ") {
				_, about, _ := strings.Cut(block, "\n")
				if !strings.HasPrefix(block, "Test") {
					about = block
				}
				lines := strings.Split(about, "\n")
				passed = passed || slices.Contains(lines, "PASS") || slices.Contains(lines, "FAIL")
				if lines = slices.DeleteFunc(lines, wines.MatchString); len(lines) > 0 {
					faults = append(faults, block)
				}
			}
			require.Empty(t, faults)
			require.True(t, passed, "the tests end: %s", out)
		})
	}
}
