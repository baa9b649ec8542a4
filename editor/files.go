package editor

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// Moved returns the edits of open texts that name a file or folder which gets another absolute path, by the path of
// each text. Patterns that stand for several files stay.
func Moved(ctx context.Context, s *Snapshot, from, to string) (map[string][]diag.Edit, error) {
	edits := map[string][]diag.Edit{}
	for _, path := range s.Paths() {
		links, err := Links(ctx, s, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // of a project that cannot be read
		}
		for _, link := range links {
			rel, err := filepath.Rel(from, link.Target)
			if err != nil || rel != "." && !filepath.IsLocal(rel) {
				continue
			}
			if text, ok := renamedPath(link, filepath.Join(to, rel)); ok {
				edits[path] = append(edits[path], diag.Edit{Range: link.At, Text: text})
			}
		}
	}
	return edits, nil
}

// renamedPath returns the text of a link whose target has another path. The rest after the path, such as the name of an
// export, stays.
func renamedPath(link Link, target string) (string, bool) {
	behind, ok := strings.CutPrefix(link.At.Text(), link.written)
	if !ok {
		return "", false // it is written with escapes
	}
	if filepath.IsAbs(filepath.FromSlash(link.written)) {
		return filepath.ToSlash(target) + behind, true
	}
	rel, err := filepath.Rel(link.dir, target)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if strings.HasPrefix(link.written, "./") && !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	return rel + behind, true
}
