package config

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// newList makes `config ls`; `config` alone does the same.
func newList(a *console.Console, o *target) *cobra.Command {
	l := &listing{target: o}
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "Show all values", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), a, l) },
	}
	l.flags(cmd)
	return cmd
}

// listing holds the options of `config ls`.
type listing struct {
	*target
	showSecrets bool
	json        bool
}

func (l *listing) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&l.showSecrets, "show-secrets", false, "show the plain text of secrets")
	cmd.Flags().BoolVarP(&l.json, "json", "j", false, "write JSON")
}

// list shows all values of a stack and those that the project file gives.
func list(ctx context.Context, a *console.Console, o *listing) error {
	c, err := open(ctx, a, o.target)
	if err != nil {
		return err
	}
	if err := a.Report(a.Inherit(c.project, c.settings, c.name)); err != nil {
		return err
	}
	var opener project.Opener
	if o.showSecrets {
		if opener, err = c.secrets.Manager(c.settings, c.stack); err != nil {
			return err
		}
	}
	texts, records := map[string]string{}, map[string]console.ConfigRecord{}
	for _, e := range c.settings.Entries() {
		text, record, err := shown(e, opener)
		if err != nil {
			return console.ExplainSecret(err, c.stack)
		}
		texts[e.Key.String()], records[e.Key.String()] = text, record
	}
	for key, v := range c.settings.Inherited() {
		if c.settings.Entry(key) == nil {
			texts[key.String()], records[key.String()] = inherited(v)
		}
	}
	for _, d := range c.project.Config {
		key := d.Key.String()
		if _, found := records[key]; found {
			continue
		}
		for _, data := range []*project.Data{d.Value, d.Default} {
			if data != nil {
				texts[key], records[key] = data.Text, console.ConfigRecord{Value: &data.Text}
				break
			}
		}
	}
	return a.Show(o.json, records, func(table io.Writer) {
		fmt.Fprintln(table, "KEY\tVALUE")
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			fmt.Fprintf(table, "%s\t%s\n", strings.TrimPrefix(key, c.project.Name.Text+":"), texts[key])
		}
	})
}

// shown is an entry as people and programs see it: its text and JSON record, with secrets hidden unless open is given.
func shown(e *project.Entry, open project.Opener) (string, console.ConfigRecord, error) {
	record := console.ConfigRecord{Secret: e.IsSecret()}
	text, data, err := e.Open(console.OpenerOrMask(open))
	if err != nil {
		return "", record, err
	}
	if !record.Secret || open != nil {
		record.Value = &text
	}
	if e.IsObject() {
		record.ObjectValue = data
	}
	return text, record, nil
}

// inherited is a value of an environment as people and programs see it. Nothing is opened for it: what is not in the
// document in plain text is not known.
func inherited(v value.Value) (string, console.ConfigRecord) {
	if v.ContainsSecret() || v.ContainsUnknown() {
		return unopened, console.ConfigRecord{Secret: true}
	}
	data := project.PlainData(v)
	text := project.TextOf(data)
	record := console.ConfigRecord{Value: &text}
	switch data.(type) {
	case []any, map[string]any:
		record.ObjectValue = data
	}
	return text, record
}

// unopened stands for a value that an environment has only when it is opened.
const unopened = "[from environment]"
