package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Interval is how often files are looked at.
const Interval = 80 * time.Millisecond

// skipped are folders whose content no program reads.
var skipped = []string{".git", ".pulumi", "node_modules", "venv", ".venv", "__pycache__"}

// most bounds the number of files: behind it, further ones are not watched.
const most = 50_000

// version identifies a content that a file has had.
type version struct {
	size    int64
	changed int64 // nanoseconds since 1970
}

// Versions are the versions of files by their paths. A Versions is not changed once it is made.
type Versions map[string]version

// Take returns the versions of files, and of all files below folders. What cannot be read counts as absent.
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

// Changes returns the paths of files that are new, gone or different, in order.
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

// Wait returns once files differ from seen and have stayed the same for an interval, so that a file is not read while
// it is written. It returns the error of ctx when that ends.
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
