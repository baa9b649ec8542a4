package explain

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/contract"
	"github.com/yamlhost/yamlhost/internal/diag"
)

type explainOptions struct {
	code string
	json bool
}

// NewExplain makes the command explain.
func NewExplain(a *console.Console) *cobra.Command {
	o := &explainOptions{}
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a finding, with a wrong and a right example",
		Long: "explain shows the page of a code such as Y210, which is in the brackets of a finding. Without a code it " +
			"lists all codes.",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var codes []string
			for _, code := range diag.Codes() {
				codes = append(codes, string(code))
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: console.RunWith(a, explain, o, &o.code),
	}
	cmd.Flags().BoolVarP(&o.json, "json", "j", false, "write JSON")
	return cmd
}

// PageRecord is a page in JSON.
type PageRecord struct {
	Code  diag.Code       `json:"code"`
	Title string          `json:"title"`
	Found string          `json:"found"` // by this command
	Text  string          `json:"text"`  // in Markdown
	Wrong []exampleRecord `json:"wrong"`
	Right []exampleRecord `json:"right"`
}

type exampleRecord struct {
	File string `json:"file"`
	Text string `json:"text"`
}

func pageRecordOf(p diag.Page) PageRecord {
	examples := func(list []diag.Example) []exampleRecord {
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
		return listCodes(a, o.json)
	}
	name := strings.ToUpper(strings.Trim(o.code, "[]"))
	page, ok := diag.Explain(diag.Code(name))
	if !ok {
		text := fmt.Sprintf("there is no code %q", o.code)
		var codes []string
		for _, code := range diag.Codes() {
			codes = append(codes, string(code))
		}
		if near := diag.Suggest(name, codes); len(near) > 0 {
			text += "; near are " + strings.Join(near, ", ")
		}
		return fmt.Errorf("%s", text)
	}
	if o.json {
		return a.WriteJSON(pageRecordOf(page))
	}
	_, err := io.WriteString(a.Streams.Out, page.Text)
	return err
}

func listCodes(a *console.Console, asJSON bool) error {
	records := []PageRecord{}
	tw := tabwriter.NewWriter(a.Streams.Out, 0, 0, 2, ' ', 0)
	for _, code := range diag.Codes() {
		page, _ := diag.Explain(code)
		records = append(records, pageRecordOf(page))
		fmt.Fprintf(tw, "%s\t%s\n", code, page.Title)
	}
	if asJSON {
		return a.WriteJSON(records)
	}
	return tw.Flush()
}

// Contracts are the JSON forms that this package writes.
var Contracts = []contract.Contract{
	contract.Of[PageRecord]("code", "what a finding means", "`explain CODE --json`"),
	contract.Of[[]PageRecord]("codes", "all codes of findings", "`explain --json`"),
}
