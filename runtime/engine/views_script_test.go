package engine

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// tellViews reports views as the test provider does: a resource with an input views=a,b has the views a and b. The step
// of a view with ! in its name, such as a!, fails, and the deletion of a view with ~ is not reported.
func (p *process) tellViews(v *provider.Views, inputs value.Value) {
	if v == nil {
		return
	}
	input, _ := inputs.Lookup("views")
	text, _ := input.AsString()
	var names []string
	if text != "" {
		names = strings.Split(text, ",")
	}
	had := map[string]*provider.View{}
	var order []string
	for i := range v.Old {
		had[v.Old[i].Name] = &v.Old[i]
		order = append(order, v.Old[i].Name)
	}
	if len(order) > 0 {
		p.cloud.log("  had views %s", strings.Join(order, " "))
	}
	level, _ := inputs.Lookup("level")
	var steps []provider.ViewStep
	for _, name := range names {
		now := &provider.View{Type: "test:index:View", Name: strings.Trim(name, "!"),
			Inputs:  value.EmptyMap().With("level", level),
			Outputs: value.EmptyMap().With("name", value.String(name))}
		step := provider.ViewStep{Op: "create", New: now}
		if old := had[now.Name]; old != nil {
			step.Old, step.Op = old, "same"
			if before, _ := old.Inputs.Lookup("level"); !value.SameContent(before, level) {
				step.Op, step.Diffs = "update", []string{"level"}
			}
			delete(had, now.Name)
		}
		if strings.HasSuffix(name, "!") {
			step.Error = "trouble with the view " + now.Name
		}
		steps = append(steps, step)
	}
	for _, name := range order {
		if old := had[name]; old != nil && !strings.HasSuffix(name, "~") {
			steps = append(steps, provider.ViewStep{Op: "delete", Old: old})
		}
	}
	for _, step := range steps { // one at a time, as providers do while they work
		if err := v.Publish(context.Background(), []provider.ViewStep{step}); err != nil {
			p.cloud.log("  refused: %s", err)
		}
	}
}
