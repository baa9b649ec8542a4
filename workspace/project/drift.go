package project

import (
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// DriftRule describes which differences between what exists and what the state or the program says do not count.
// Patterns are globs: * stands for anything without a colon or a dot, ** for anything. An empty pattern matches
// everything.
type DriftRule struct {
	Type, URN, Property string
	Reason              string // which reports show
}

// readDrift reads options.drift.ignore.
func (p *Project) readDrift(d *document, n *yaml.Node) {
	list := d.fields("options.drift", n, "ignore").node("ignore")
	for place, item := range d.items("options.drift.ignore", list) {
		r := d.fields(place, item, "type", "urn", "property", "reason")
		rule := DriftRule{Type: r.text("type"), URN: r.text("urn"), Property: r.text("property"), Reason: r.text("reason")}
		switch {
		case rule.Reason == "":
			d.add(diag.WrongKind, d.at(item), place+" has no reason",
				"add the reason why the difference does not matter: `reason: …`")
		case rule.Type == "" && rule.URN == "" && rule.Property == "":
			d.add(diag.WrongKind, d.at(item), place+" ignores everything",
				"name what to ignore with `type`, `urn` or `property`")
		default:
			p.DriftRules = append(p.DriftRules, rule)
		}
	}
}
