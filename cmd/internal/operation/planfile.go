package operation

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// SavePlanFlag adds --save-plan.
func SavePlanFlag(cmd *cobra.Command, o *PlanOptions) {
	cmd.Flags().StringVar(&o.savePlan, "save-plan", "", "write the plan to this file, for --plan of up and run")
}

// PlanFlag adds --plan.
func PlanFlag(cmd *cobra.Command, o *ConfigOptions) {
	cmd.Flags().StringVar(&o.plan, "plan", "",
		"apply exactly this plan, which preview --save-plan wrote, or do nothing")
}

// planFile is the file of `preview --save-plan` (F7.11). Secrets are sealed as in the state.
type planFile struct {
	Manifest struct {
		Time    time.Time `json:"time"`
		Magic   string    `json:"magic"`
		Version string    `json:"version"`
	} `json:"manifest"`
	Config        map[string]json.RawMessage `json:"config,omitempty"`
	ResourcePlans map[urn.URN]planEntry      `json:"resourcePlans,omitempty"`
	Binding       *planBinding               `json:"yamlhost,omitempty"` // ours; others ignore it
}

type planEntry struct {
	Goal  *planGoal                  `json:"goal,omitempty"`
	Steps []engine.Op                `json:"steps,omitempty"`
	State map[string]json.RawMessage `json:"state"`
	Seed  []byte                     `json:"seed,omitempty"`
}

type planGoal struct {
	Type                    string               `json:"type"`
	Name                    string               `json:"name"`
	Custom                  bool                 `json:"custom"`
	InputDiff               planDiff             `json:"inputDiff"`
	OutputDiff              planDiff             `json:"outputDiff"`
	Parent                  urn.URN              `json:"parent,omitempty"`
	Protect                 bool                 `json:"protect"`
	Dependencies            []urn.URN            `json:"dependencies,omitempty"`
	Provider                string               `json:"provider,omitempty"`
	PropertyDependencies    map[string][]urn.URN `json:"propertyDependencies,omitempty"`
	DeleteBeforeReplace     *bool                `json:"deleteBeforeReplace,omitempty"`
	IgnoreChanges           []string             `json:"ignoreChanges,omitempty"`
	AdditionalSecretOutputs []string             `json:"additionalSecretOutputs,omitempty"`
	Aliases                 []urn.URN            `json:"aliases,omitempty"`
	ID                      string               `json:"id,omitempty"`
	CustomTimeouts          state.Timeouts       `json:"customTimeouts"`
}

type planDiff struct {
	Adds    map[string]json.RawMessage `json:"adds,omitempty"`
	Deletes []string                   `json:"deletes,omitempty"`
	Updates map[string]json.RawMessage `json:"updates,omitempty"`
}

// newPlanFile returns the file of a plan, with secrets sealed by m.
func newPlanFile(plan *engine.UpdatePlan, m state.Manifest, config map[string]json.RawMessage, binding *planBinding,
	sealer secrets.Manager) (*planFile, error) {
	f := &planFile{Binding: binding, Config: config, ResourcePlans: map[urn.URN]planEntry{}}
	f.Manifest.Time, f.Manifest.Magic, f.Manifest.Version = m.Time, m.Magic, m.Version
	c := planCodec{sealer}
	for u, r := range plan.Resources {
		e := planEntry{Steps: r.Steps, Seed: r.Seed, State: map[string]json.RawMessage{}}
		if g := r.Goal; g != nil {
			e.Goal = &planGoal{Type: g.Type, Name: g.Name, Custom: g.Custom, Parent: g.Parent, Protect: g.Protect,
				Dependencies: g.Dependencies,
				Provider:     g.Provider, PropertyDependencies: g.PropertyDependencies,
				DeleteBeforeReplace: g.DeleteBeforeReplace,
				IgnoreChanges:       g.IgnoreChanges, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
				Aliases:        g.Aliases,
				ID:             g.ImportID,
				CustomTimeouts: g.CustomTimeouts}
			var err error
			if e.Goal.InputDiff, err = c.encodeDiff(g.Inputs); err == nil {
				e.Goal.OutputDiff, err = c.encodeDiff(g.Outputs)
			}
			if err != nil {
				return nil, fmt.Errorf("write the plan of %s: %w", u, err)
			}
		}
		f.ResourcePlans[u] = e
	}
	return f, nil
}

// write writes the file.
func (f *planFile) write(path string) error {
	text, err := json.MarshalIndent(f, "", "    ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// readPlanFile reads a plan; name is its path as users see it.
func readPlanFile(path, name string) (*planFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w\nA plan is written by: yamlhost preview --save-plan FILE", err)
	}
	var f planFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s is not a plan: %w", name, JsonFault(err))
	}
	if f.Manifest.Time.IsZero() && f.ResourcePlans == nil {
		return nil, fmt.Errorf("%s is not a plan: it has neither a manifest nor resources", name)
	}
	if b := f.Binding; b != nil && b.Format > planFormat {
		return nil, refusedPlan("%s was written by a newer version of yamlhost: its format is %d, and this program knows %d",
			name, b.Format, planFormat)
	}
	return &f, nil
}

// decoded returns the plan in the engine's form.
func (f *planFile) decoded(m secrets.Manager) (*engine.UpdatePlan, error) {
	plan := &engine.UpdatePlan{Resources: make(map[urn.URN]*engine.ResourcePlan, len(f.ResourcePlans))}
	c := planCodec{m}
	for u, e := range f.ResourcePlans {
		r := &engine.ResourcePlan{Steps: e.Steps, Seed: e.Seed}
		if g := e.Goal; g != nil {
			r.Goal = &engine.PlannedGoal{Type: g.Type, Name: g.Name, Custom: g.Custom, Parent: g.Parent,
				Protect:      g.Protect,
				Dependencies: g.Dependencies, Provider: g.Provider, PropertyDependencies: g.PropertyDependencies,
				DeleteBeforeReplace: g.DeleteBeforeReplace, IgnoreChanges: g.IgnoreChanges,
				AdditionalSecretOutputs: g.AdditionalSecretOutputs,
				Aliases:                 g.Aliases, ImportID: g.ID, CustomTimeouts: g.CustomTimeouts}
			var err error
			if r.Goal.Inputs, err = c.decodeDiff(g.InputDiff); err == nil {
				r.Goal.Outputs, err = c.decodeDiff(g.OutputDiff)
			}
			if err != nil {
				return nil, fmt.Errorf("read the plan of %s: %w", u, err)
			}
		}
		plan.Resources[u] = r
	}
	return plan, nil
}

// planCodec encodes values as in states; unknown values are texts that represent them (E1.11).
type planCodec struct{ secrets secrets.Manager }

func (c planCodec) encodeDiff(d engine.PlanDiff) (out planDiff, err error) {
	out.Deletes = d.Deletes
	if out.Adds, err = c.encode(d.Adds); err == nil {
		out.Updates, err = c.encode(d.Updates)
	}
	return out, err
}

func (c planCodec) encode(values map[string]value.Value) (map[string]json.RawMessage, error) {
	return mapValues(values, func(v value.Value) (json.RawMessage, error) {
		return state.AppendValue(nil, v.Transform(func(x value.Value) value.Value {
			if !x.IsKnown() {
				return value.String(engine.UnknownID)
			}
			return x
		}), state.Sealed(c.secrets))
	})
}

// mapValues returns a map with the converted values. It returns the first error of convert.
func mapValues[A, B any](values map[string]A, convert func(A) (B, error)) (map[string]B, error) {
	out := make(map[string]B, len(values))
	for key, v := range values {
		converted, err := convert(v)
		if err != nil {
			return nil, err
		}
		out[key] = converted
	}
	return out, nil
}

func (c planCodec) decodeDiff(d planDiff) (out engine.PlanDiff, err error) {
	out.Deletes = d.Deletes
	if out.Adds, err = c.decode(d.Adds); err == nil {
		out.Updates, err = c.decode(d.Updates)
	}
	return out, err
}

func (c planCodec) decode(raw map[string]json.RawMessage) (map[string]value.Value, error) {
	return mapValues(raw, func(text json.RawMessage) (value.Value, error) {
		v, err := state.DecodeValue(text, c.secrets)
		return v.Transform(func(x value.Value) value.Value {
			if text, ok := x.AsString(); ok && text == engine.UnknownID {
				return value.Unknown(value.KindAny)
			}
			return x
		}), err
	})
}

// configure replaces the present configuration by that of the plan (E7.65). name is the plan's path in messages;
// namespace is for keys without one.
func (f *planFile) configure(c *configuration, name, namespace string) error {
	for text, raw := range f.Config {
		key, err := project.ParseKey(text, namespace)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		data, err := configData(raw)
		if err != nil {
			return fmt.Errorf("%s: configuration %s: %w", name, text, err)
		}
		if plain, ok := data.(string); ok && c.values[key].FromProject && c.values[key].Text == plain {
			continue
		}
		c.settings.Set(key, data)
	}
	for _, e := range c.settings.Entries() {
		if _, planned := f.Config[e.Key.String()]; !planned {
			c.settings.Remove(e.Key)
		}
	}
	return nil
}

// configData returns a configuration value in the form of settings.
func configData(raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, JsonFault(err)
	}
	var data func(v any) any
	data = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = data(v[i])
			}
		case map[string]any:
			if text, ok := v["secure"].(string); ok && len(v) == 1 {
				return project.Secure(text)
			}
			for key := range v {
				v[key] = data(v[key])
			}
		}
		return v
	}
	return data(v), nil
}
