package operation

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Converter starts the converter plugin of another tool. The caller closes it.
func (p *Providers) Converter(ctx context.Context, tool string) (*plugin.Converter, error) {
	return p.finder.Host.LoadConverter(ctx, tool, p.converterServices(tool))
}

// GenerateProject has the host of a language write a project from PCL; see plugin.Host.
func (p *Providers) GenerateProject(ctx context.Context, language, from, to, project string) ([]plugin.ConverterFinding,
	error) {
	return p.finder.Host.GenerateProject(ctx, language, from, to, project, p.converterServices("terraform"))
}

func (p *Providers) converterServices(tool string) plugin.ConverterServices {
	return plugin.ConverterServices{
		Schema: p.FetchSchema,
		Mapping: func(ctx context.Context, name, pkg string) ([]byte, error) {
			wanted := provider.Package{Name: cmp.Or(pkg, name)}
			if _, err := p.Whereabouts(wanted); err != nil {
				return nil, nil // the converter tells what it cannot translate
			}
			_, data, err := p.Mapping(ctx, wanted, tool, name)
			return data, err
		},
	}
}

// SayConverted shows the findings of a converter. It returns the warnings among them, or an error if one of them is an
// error. dir is the folder of the input.
func SayConverted(a *console.Console, dir string, found []plugin.ConverterFinding) (warnings []string, err error) {
	failed := 0
	for _, f := range found {
		place, kind := "", "warning"
		if f.File != "" {
			path := f.File
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			place = fmt.Sprintf("%s:%d: ", a.Short(path), f.Line)
		}
		if f.Error {
			failed++
			kind = "error"
		}
		text := fmt.Sprintf("%s%s: %s", place, kind, f.Summary)
		if f.Detail != "" && f.Detail != f.Summary {
			text += "\n  " + f.Detail
		}
		fmt.Fprintln(a.Streams.Err, text)
		if !f.Error {
			warnings = append(warnings, text)
		}
	}
	if failed > 0 {
		return nil, console.WithCode(console.CodeProgram, "the converter reports %s; nothing was written", diag.Count(failed, "error"))
	}
	return warnings, nil
}
