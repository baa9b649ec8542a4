package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// fewFlags is the largest number of flags that a command's help lists under one heading.
const fewFlags = 14

// flagGroups are the headings for the flags of a command that has many of them. The first has those that are used every
// day, and then all that no group names. A test of the help fails for a name here that no command has.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"Flags", []string{"stack", "yes", "skip-preview", "preview-only", "message"}},
	{"Configuration", []string{"config", "config-from", "config-env", "config-file", "config-path", "secret", "plaintext"}},
	{"Selection of resources", []string{"target", "target-dependents", "exclude", "exclude-dependents",
		"exclude-protected", "replace", "target-replace", "run-program"}},
	{"Several projects", []string{"all", "filter", "affected-by", "jobs", "slots", "detach", "queue", "priority", "projects",
		"resume", "emit", "schedules", "source"}},
	{"Safety", []string{"expect-no-changes", "max-deletes", "strict", "ignore-protect", "continue-on-error", "timeout",
		"lock-timeout", "policy-pack", "policy-pack-config", "settle-pending", "clear-pending-creates",
		"skip-pending-creates", "import-pending-creates", "accept-loss", "untrusted", "accept-new-plugins", "allow-env",
		"allow-stack", "restrict-paths", "max-steps", "max-value", "exit-code"}},
	{"Output", []string{"diff", "why", "causes", "flat", "show-sames", "show-reads", "show-computed", "show-secrets",
		"suppress-outputs",
		"suppress-progress", "suppress-secret-output", "timestamps"}},
	{"CI and reports", []string{"ci", "out", "json", "event-log", "import-file", "write-aliases"}},
}

// flagGroup is a heading with flags.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// grouped sorts the visible flags of a set under headings. Few flags are under one. A flag that no group names is under
// the first heading, since home has no entry for it.
func grouped(set *pflag.FlagSet) []flagGroup {
	home, count := map[string]int{}, 0
	for i, g := range flagGroups {
		for _, name := range g.flags {
			home[name] = i
		}
	}
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			count++
		}
	})
	// A set for each heading lets pflag format it, with columns of its own.
	all := make([]*pflag.FlagSet, len(flagGroups))
	for i := range all {
		all[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
		// Many flags keep the order of the table, in which related ones stand together.
		all[i].SortFlags = count <= fewFlags
	}
	add := func(f *pflag.Flag) {
		i := home[f.Name]
		if count <= fewFlags {
			i = 0
		}
		// The second loop meets the flags of the table again.
		if !f.Hidden && all[i].Lookup(f.Name) == nil {
			all[i].AddFlag(f)
		}
	}
	for _, g := range flagGroups { // in the order of the table
		for _, name := range g.flags {
			if f := set.Lookup(name); f != nil {
				add(f)
			}
		}
	}
	set.VisitAll(add)
	var groups []flagGroup
	for i, flags := range all {
		if flags.HasFlags() {
			groups = append(groups, flagGroup{flagGroups[i].title, flags})
		}
	}
	return groups
}

// FlagUsages describes the visible flags of a command, under headings, in lines of at most width columns; empty without
// flags.
func FlagUsages(set *pflag.FlagSet, width int) string {
	var parts []string
	for _, g := range grouped(set) {
		parts = append(parts, g.title+":\n"+trimmed(g.flags, width))
	}
	return strings.Join(parts, "\n\n")
}

// trimmed describes flags without white space at the end.
func trimmed(set *pflag.FlagSet, width int) string {
	return strings.TrimRight(set.FlagUsagesWrapped(width), " \n")
}
