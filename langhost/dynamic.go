package langhost

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/dynamic"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/workspace/sources"
)

// dynamic returns the dynamic types of a plugin without bundling their code.
func (p *componentPlugin) dynamic(ctx context.Context) []*check.Dynamic {
	program, _ := p.checkTypes(ctx, nil)
	return program.Dynamic
}

func (p *componentPlugin) checkTypes(ctx context.Context, bundle check.Bundler) (*check.Program, diag.Diagnostics) {
	types := &ast.File{Source: p.file.Source, Dynamic: p.file.Dynamic}
	return check.Check(ctx, &ast.File{Source: p.file.Source}, check.Options{Project: p.name, Bundle: bundle,
		Local: []check.LocalPackage{{Name: p.name, Dir: p.dir, File: types}}})
}

// typesOf returns the provider of a plugin's dynamic types; nil if it has none. It starts no process. environ comes
// from the engine and extends our environment; the code of a type gets the variables that the type lists.
func (h *Host) typesOf(ctx context.Context, p *componentPlugin, environ []string) (provider.Provider, error) {
	if len(p.file.Dynamic) == 0 {
		return nil, nil
	}
	files := &sources.Sources{}
	checked, diags := p.checkTypes(ctx, files.Bundle)
	fault := errorOf(diags) // not returned, so that code in a state can still delete resources
	var inputs []value.Value
	seen := map[string]bool{}
	for _, d := range checked.Dynamic {
		if key := fmt.Sprint(d.Replaces(), d.Path); d.Code != nil && !seen[key] {
			seen[key] = true
			inputs = append(inputs, program.DynamicInputs(checked.Dynamic, d))
		}
	}
	env := append(childEnv(h.options.Env), environ...)
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return nil, err
	}
	o := dynamic.Options{Dir: dir, Environ: env, Path: filepath.SplitList(env.Get("PATH")), Maps: files.Map,
		Supervisor: h.options.Supervisor,
		Log: func(line dynamic.LogLine) {
			m := eval.Message{Text: line.Text, URN: line.URN, Severity: diag.Info, Debug: line.Severity == "debug"}
			switch line.Severity {
			case "warning":
				m.Severity = diag.Warning
			case "error":
				m.Severity = diag.Error
			}
			h.engine.say(ctx, m)
		}}
	return dynamic.NewPackaged(p.name, inputs, fault, o), nil
}
