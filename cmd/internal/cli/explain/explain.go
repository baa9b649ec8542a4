package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// explainOptions are the arguments and flags of explain.
type explainOptions struct {
	code string
	json bool
}

// NewExplain returns the command explain.
func NewExplain(a *console.Console) *cobra.Command {
	o := &explainOptions{}
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a finding, with a wrong and a right example",
		Long: "explain shows the page of a code such as Y210, which is in the brackets of a finding. Without a code it " +
			"lists all codes.",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: console.RunWith(a, explain, o, &o.code),
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// PageRecord is the JSON form of a page.
type PageRecord struct {
	Code  diag.Code       `json:"code"`
	Title string          `json:"title"`
	Found string          `json:"found"` // command that reports the code
	Text  string          `json:"text"`  // Markdown
	Wrong []exampleRecord `json:"wrong"`
	Right []exampleRecord `json:"right"`
}

// exampleRecord is a file of an example.
type exampleRecord struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// pageRecordOf converts a page to its JSON form.
func pageRecordOf(p diag.Page) PageRecord {
	examples := func(list []diag.Example) []exampleRecord {
		// Written as [] where a page has no example.
		records := []exampleRecord{}
		for _, e := range list {
			records = append(records, exampleRecord{e.Name, e.Text})
		}
		return records
	}
	return PageRecord{p.Code, p.Title, "yamlhost " + p.Command, p.Text, examples(p.Wrong), examples(p.Right)}
}

// explain shows the page of a code, or lists all codes.
func explain(_ context.Context, a *console.Console, o *explainOptions) error {
	if o.code == "" {
		return list(a, o.json)
	}
	// The code may be copied with the brackets that a finding has around it.
	name := strings.ToUpper(strings.Trim(o.code, "[]"))
	page, ok := diag.Explain(diag.Code(name))
	if !ok {
		text := fmt.Sprintf("there is no code %q", o.code)
		if near := diag.Suggest(name, codes()); len(near) > 0 {
			text += "; near are " + strings.Join(near, ", ")
		}
		return errors.New(text)
	}
	if o.json {
		return a.WriteJSON(pageRecordOf(page))
	}
	_, err := io.WriteString(a.Streams.Out, page.Text)
	return err
}

// codes returns all codes as strings.
func codes() (list []string) {
	for _, code := range diag.Codes() {
		list = append(list, string(code))
	}
	return list
}

// list lists all codes with the titles of their pages.
func list(a *console.Console, asJSON bool) error {
	records := []PageRecord{}
	for _, code := range diag.Codes() {
		page, _ := diag.Explain(code)
		records = append(records, pageRecordOf(page))
	}
	return a.Show(asJSON, records, func(table io.Writer) {
		for _, r := range records {
			fmt.Fprintf(table, "%s\t%s\n", r.Code, r.Title)
		}
	})
}

// Contracts lists the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[PageRecord]("code", "what a finding means", "`explain CODE --json`"),
	contract.Of[[]PageRecord]("codes", "all codes of findings", "`explain --json`"),
}
