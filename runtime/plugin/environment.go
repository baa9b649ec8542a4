package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/environ"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// inherited returns the part of our environment that processes inherit.
func (o *Options) inherited() []string { return environ.List(o.Env).ForChildren(o.Pass...) }

// environment returns the inherited and the added variables of a plugin (E3.2, F2.3). Mappings also see variables that
// are not inherited, since they name them.
func (o *Options) environment(p provider.Package) ([]string, error) {
	env := o.inherited()
	set := func(name, text string) { env = append(env, name+"="+text) } // the last of equal names wins
	if o.Project != "" {
		set("PULUMI_PROJECT", o.Project)
		if p.Name == "pulumi-nodejs" { // it resolves keys without a namespace with it
			set("PULUMI_NODEJS_PROJECT", o.Project)
		}
	}
	config := p.Config
	if config == nil {
		config = map[string]string{}
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("start plugin %s: encode its configuration: %w", p.Name, err)
	}
	set("PULUMI_CONFIG", string(text))
	for _, name := range slices.Sorted(maps.Keys(o.RuntimeOptions)) {
		set("PULUMI_RUNTIME_"+strings.ToUpper(name), o.RuntimeOptions[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.EnvVarMappings)) {
		if text, ok := environ.List(o.Env).Lookup(name); ok {
			set(p.EnvVarMappings[name], text)
		}
	}
	return env, nil
}
