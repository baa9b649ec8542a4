package schema

import (
	"regexp"
	"strings"
	"sync"
)

// htmlTags are what descriptions and notes have for the documentation's own pages. Elements are named, so that
// placeholders such as <project> and links such as <https://example.com> stay.
var htmlTags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)</?(?:a|b|br|code|dd|details|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|` +
			`summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>`)
})

// Plain is a description or a note on deprecation without HTML and carriage returns; its Markdown stays.
func Plain(text string) string {
	return htmlTags().ReplaceAllString(strings.ReplaceAll(text, "\r", ""), "")
}
