package embedded

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// matchFiles returns the names of the files below dir that the patterns select, in lexical order and with slashes. The
// last pattern that matches a name decides; a pattern that begins with "!" excludes the file.
func matchFiles(dir string, patterns []string) ([]string, error) {
	type rule struct {
		match   *regexp.Regexp
		exclude bool
	}
	rules := make([]rule, len(patterns))
	for i, pattern := range patterns {
		text, exclude := strings.CutPrefix(pattern, "!")
		match, err := compileGlob(text)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q is malformed: %w", pattern, err)
		}
		rules[i] = rule{match, exclude}
	}
	var found []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		chosen := false
		for _, r := range rules {
			if r.match.MatchString(name) {
				chosen = !r.exclude
			}
		}
		if !chosen {
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			if info, err := fs.Stat(os.DirFS(dir), name); err == nil && info.IsDir() {
				return nil
			}
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for files in %s: %w", dir, err)
	}
	return found, nil
}

// compileGlob converts a pattern to a regular expression: * matches any text without /, ** any text, ? one character
// other than /, [a-z] and [!a-z] sets, {a,b} alternatives, which nest; \ escapes the next character.
func compileGlob(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			if strings.HasPrefix(pattern[i:], "**") {
				for i+1 < len(pattern) && pattern[i+1] == '*' {
					i++
				}
				b.WriteString(".*")
			} else {
				b.WriteString("[^/]*")
			}
		case '?':
			b.WriteString("[^/]")
		case '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 1 {
				return nil, fmt.Errorf("a set lacks its closing bracket")
			}
			set := pattern[i+1 : i+1+end]
			negated, set := strings.HasPrefix(set, "!"), strings.TrimPrefix(set, "!")
			if set == "" {
				return nil, fmt.Errorf("a set is empty")
			}
			b.WriteByte('[')
			if negated {
				b.WriteByte('^')
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`).Replace(set))
			b.WriteByte(']')
			i += end + 1
		case '{':
			depth++
			b.WriteString("(?:")
		case '}':
			if depth == 0 {
				return nil, fmt.Errorf("a closing brace has no opening one")
			}
			depth--
			b.WriteByte(')')
		case ',':
			if depth > 0 {
				b.WriteByte('|')
			} else {
				b.WriteByte(',')
			}
		case '\\':
			if i++; i == len(pattern) {
				return nil, fmt.Errorf("it ends in a backslash")
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("an opening brace has no closing one")
	}
	b.WriteString(`\z`)
	return regexp.Compile(b.String())
}
