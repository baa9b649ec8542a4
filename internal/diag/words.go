package diag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Advice returns one line about how to proceed: the number of findings that `check --fix` corrects, and the codes of
// errors for which `explain` has a page. It is empty if no finding is an error or has a fix.
func Advice(ds Diagnostics) string {
	var codes []string
	fixable := 0
	for _, d := range ds {
		if d.Certain() {
			fixable++
		}
		if d.Severity == Error && d.Code != "" && !slices.Contains(codes, string(d.Code)) {
			codes = append(codes, string(d.Code))
		}
	}
	var parts []string
	if fixable > 0 {
		parts = append(parts, fmt.Sprintf("%d fixable with --fix of `yamlhost check`", fixable))
	}
	switch len(codes) {
	case 0:
	case 1:
		parts = append(parts, fmt.Sprintf("`yamlhost explain %s` says more", codes[0]))
	default:
		const most = 5
		named := strings.Join(codes[:min(most, len(codes))], ", ")
		if len(codes) > most {
			named += ", …"
		}
		parts = append(parts, fmt.Sprintf("`yamlhost explain CODE` says more, of %s", named))
	}
	return strings.Join(parts, "; ")
}

// WithArticle returns a noun with its article.
func WithArticle(noun string) string {
	if noun != "" && strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Count returns a number with its noun, such as "1 item" or "2 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Shorten truncates a text to at most most characters; a truncated text ends with an additional "…".
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Excerpt makes a text of a program fit into one line of a message.
func Excerpt(text string) string {
	const most = 40
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text[:min(len(text), 4*most+4)])
	return Shorten(text, most)
}

// LosesDigits returns the warning about an integer whose digits the number that it becomes does not keep. The text of
// the integer is empty if it must not be shown.
func LosesDigits(at Range, integer string, number float64) Diagnostic {
	d := Diagnostic{Severity: Warning, Code: BadNumber, Subject: at,
		Detail:  "numbers have 53 bits; put it in quotes if it may be a string",
		Summary: "an integer loses digits: it has more of them than a number can hold"}
	if integer != "" {
		d.Summary = fmt.Sprintf("the number %s loses digits: it becomes %s", Excerpt(integer),
			Excerpt(strconv.FormatFloat(number, 'f', -1, 64)))
	}
	return d
}
