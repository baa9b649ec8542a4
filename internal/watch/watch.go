package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Interval is the time between two looks at the files.
const Interval = 80 * time.Millisecond

// skipped lists folders that programs do not read.
var skipped = []string{".git", ".pulumi", "node_modules", "venv", ".venv", "__pycache__"}

// most is the maximum number of watched files; files beyond it are ignored.
const most = 50_000

// A version identifies the content of a file at one time.
type version struct {
	size    int64
	changed int64 // nanoseconds since 1970
}

// Versions maps paths to the versions of files. It is immutable once made.
type Versions map[string]version

// Take returns the versions of the given files and of all files below the given folders. Unreadable files count as
// absent.
func Take(roots []string) Versions {
	found := Versions{}
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || len(found) >= most:
				return nil
			case d.IsDir() && path != root && slices.Contains(skipped, d.Name()):
				return fs.SkipDir
			case d.IsDir():
				return nil
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				found[path] = version{info.Size(), info.ModTime().UnixNano()}
			}
			return nil
		})
	}
	return found
}

// Changes returns the sorted paths of files that were added, removed or changed.
func (v Versions) Changes(later Versions) []string {
	var paths []string
	for path, was := range v {
		if now, there := later[path]; !there || now != was {
			paths = append(paths, path)
		}
	}
	for path := range later {
		if _, there := v[path]; !there {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Wait returns once files differ from seen and have then stayed the same for an interval, so that no file is read while
// it is being written. It returns ctx's error if ctx ends first.
func Wait(ctx context.Context, roots []string, seen Versions) (changed []string, now Versions, err error) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	last := seen
	for {
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-tick.C:
		}
		now = Take(roots)
		if len(last.Changes(now)) == 0 {
			if changed = seen.Changes(now); len(changed) > 0 {
				return changed, now, nil
			}
		}
		last = now
	}
}
