package schema

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// htmlTags matches the HTML tags in descriptions and notes. It lists the elements by name, so that placeholders such
// as <project> and links such as <https://example.com> stay.
var htmlTags = lazyregexp.New(
	`(?i)</?(?:a|b|br|code|dd|details|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|` +
		`summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>`)

// Plain returns a description or a note on deprecation without HTML, carriage returns, and examples in other languages
// than YAML; the rest of its Markdown stays.
func Plain(text string) string {
	return htmlTags().ReplaceAllString(withoutForeignCode(strings.ReplaceAll(text, "\r", "")), "")
}

// FirstParagraph returns the first paragraph of Plain(text), on one line.
func FirstParagraph(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(Plain(text)), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// foreign are the languages of examples that are useless for YAML programs.
var foreign = []string{"typescript", "ts", "javascript", "js", "python", "py", "csharp", "cs", "fsharp", "go", "java",
	"hcl", "vb", "visualbasic"}

// withoutForeignCode takes code in other languages out, with the marks around choices of languages, and the headings
// under which nothing is left.
func withoutForeignCode(text string) string {
	if !strings.Contains(text, "```") {
		return text
	}
	var kept []string
	fence := "" // that closes the code
	var headings []int
	bare := func(level int) { // ends the sections at this level
		for len(headings) > 0 && len(strings.TrimSpace(strings.Join(kept[headings[len(headings)-1]+1:], ""))) == 0 &&
			headingLevel(kept[headings[len(headings)-1]]) >= level {
			kept, headings = kept[:headings[len(headings)-1]], headings[:len(headings)-1]
		}
	}
	drop := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if !drop {
				kept = append(kept, line)
			}
			if trimmed == fence {
				fence, drop = "", false
			}
			continue
		case strings.HasPrefix(trimmed, "```"):
			language := strings.ToLower(strings.TrimLeft(trimmed, "`"))
			fence = trimmed[:len(trimmed)-len(language)]
			if drop = slices.Contains(foreign, language); drop {
				continue
			}
		case strings.HasPrefix(trimmed, "<!--") && strings.Contains(trimmed, "PulumiCodeChooser"),
			strings.HasPrefix(trimmed, "{{%") && strings.HasSuffix(trimmed, "%}}"):
			continue
		case headingLevel(line) > 0:
			bare(headingLevel(line))
			headings = append(headings, len(kept))
		}
		kept = append(kept, line)
	}
	bare(1)
	return blankLines().ReplaceAllString(strings.Join(kept, ""), "\n\n")
}

var blankLines = lazyregexp.New(`\n{3,}`)

// headingLevel returns the number of signs # that a heading begins with; 0 for another line.
func headingLevel(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || !strings.HasPrefix(line[level:], " ") {
		return 0
	}
	return level
}
