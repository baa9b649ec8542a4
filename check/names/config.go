package names

import (
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// WarnUnread warns of keys of the stack's configuration that nothing reads, where the program declares one that is
// nearly the same and that the stack does not set.
func (s *Scope) WarnUnread() {
	var declared []string
	for _, n := range s.all {
		if n.Kind == program.ConfigNode && n.Config.Decl != nil {
			if text, set := s.settings.Config[n.Config.Key]; !set || text.Project {
				declared = append(declared, n.Config.Key)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.settings.Config)) {
		text := s.settings.Config[key]
		namespace, _, _ := strings.Cut(key, ":")
		if text.Project || text.Key.IsZero() || namespace != s.settings.Project || s.byKey[key] != nil {
			continue
		}
		if meant := diag.Meant(key, diag.Suggest(key, declared)); meant != "" {
			d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownKey, Subject: text.Key,
				Detail: findings.DidYouMean([]string{meant}), Summary: "nothing reads the configuration " + key}
			if text.Key.Text() == key {
				d.Fixes = findings.RenameTo(text.Key, key, meant)
			}
			s.report.Add(d)
		}
	}
}
