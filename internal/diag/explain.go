package diag

import (
	"cmp"
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

//go:embed explain/*.md
var explanations embed.FS

// controlCharacters matches the notation <U+XXXX>, by which the examples of a page represent control characters.
var controlCharacters = lazyregexp.New(`<U\+[0-9A-F]{4}>`)

// Page is the explanation of a code: what is wrong, why it matters and what to do, with a wrong and a right example.
type Page struct {
	Code  Code
	Title string
	// Command is the yamlhost command, such as "check" or "run", that reports the code for the wrong example but not
	// for the right one. It runs in the example's directory.
	Command string
	Text    string // the whole page, in Markdown
	Wrong   []Example
	Right   []Example
}

// Example is one file of an example.
type Example struct{ Name, Text string }

// Codes returns all codes that have a page, in ascending order.
func Codes() []Code {
	entries, _ := explanations.ReadDir("explain") // an embedded directory can always be read
	codes := make([]Code, 0, len(entries))
	for _, e := range entries {
		codes = append(codes, Code(strings.TrimSuffix(e.Name(), ".md")))
	}
	slices.Sort(codes)
	return codes
}

// Explain returns the page of a code; ok is false if there is none.
//
// A page is Markdown. It has a heading with the title, text, the line "Found by `yamlhost COMMAND`.", and fenced blocks
// under the headings Wrong and Right. The info string of a block may name its file after the language; the default is
// Pulumi.yaml.
func Explain(code Code) (page Page, ok bool) {
	text, err := explanations.ReadFile("explain/" + string(code) + ".md")
	if err != nil {
		return Page{}, false
	}
	page = Page{Code: code, Text: strings.TrimRight(string(text), "\n") + "\n"}
	var examples *[]Example
	var block *strings.Builder
	name := ""
	for line := range strings.SplitSeq(page.Text, "\n") {
		switch {
		case block != nil && line == "```":
			if examples != nil {
				*examples = append(*examples, Example{name, block.String()})
			}
			block = nil
		case block != nil:
			block.WriteString(controlCharacters().ReplaceAllStringFunc(line, func(shown string) string {
				number, _ := strconv.ParseUint(shown[3:7], 16, 16) // the pattern only matches hexadecimal digits
				return string(rune(number))
			}) + "\n")
		case strings.HasPrefix(line, "```"):
			block = &strings.Builder{}
			_, file, _ := strings.Cut(line, " ")
			name = cmp.Or(file, "Pulumi.yaml")
		case strings.HasPrefix(line, "# "):
			_, page.Title, _ = strings.Cut(line, ": ")
		case line == "## Wrong":
			examples = &page.Wrong
		case line == "## Right":
			examples = &page.Right
		case strings.HasPrefix(line, "Found by `yamlhost "):
			page.Command = strings.TrimSuffix(strings.TrimPrefix(line, "Found by `yamlhost "), "`.")
		}
	}
	return page, true
}

// Summary returns the page's first paragraph, on one line.
func (p Page) Summary() string {
	_, rest, _ := strings.Cut(p.Text, "\n\n")
	first, _, _ := strings.Cut(rest, "\n\n")
	return strings.ReplaceAll(first, "\n", " ")
}
