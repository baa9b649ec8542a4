package phrasebook

import (
	"strings"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// phrase is a sign or word that has no meaning in an expression, with the advice for people who expect one.
type phrase struct {
	foreign string
	// word reports whether foreign is a word of its own, not a part of one.
	word   bool
	advice string
}

// operators are the operators of JavaScript, Python and shells. The first that occurs in a text outside of double
// quotes decides, so longer signs precede their parts.
var operators = []phrase{
	{"'", false, "inside of `${…}`, a string needs double quotes"},
	{"`", false, "inside of `${…}`, a string needs double quotes"},
	{"=~", false, "a pattern is matched by `regex(\"pattern\", text)`"},
	{"!Ref", false, "`!Ref name` is written `${name}`"},
	{"!Sub", false, "a string needs no function: write `${name}` in it to insert a value"},
	{"!GetAtt", false, "`!GetAtt name.property` is written `${name.property}`"},
	{"===", false, "`===` is written `==`"},
	{"!==", false, "`!==` is written `!=`"},
	{"??", false, "`a ?? b` is written `coalesce(a, b)`"},
	{":-", false, "`${a:-b}` is written `${coalesce(a, \"b\")}`; configuration has its default in its declaration"},
	{"||=", false, "a variable has one value and is declared under variables"},
	{":=", false, "a variable has one value and is declared under variables"},
	{"${", false, "inside of `${…}`, a name is written without `${`"},
	{"=>", false, "a function over a list is written `[for item in list : value]`"},
	{"and", true, "`and` is written `&&`"},
	{"or", true, "`or` is written `||`"},
	{"not", true, "`not` is written `!`"},
	{"is", true, "`a is b` is written `a == b`"},
	{"in", true, "`a in list` is written `contains(list, a)`"},
	{"else", true, "a choice is written `condition ? one : other`"},
	{"//", false, "`a // b` is written `floor(a / b)`"},
	{"lambda", true, "a function over a list is written `[for item in list : value]`"},
	{"typeof", true, "types are known when the program is checked; `try(value, other)` takes the first value that can be computed"},
	{"**", false, "`a ** b` is written `pow(a, b)`"},
	{"<>", false, "`<>` is written `!=`"},
	{"++", false, "`a++` is written `a + 1`"},
	{"|", false, "`a | f` is written `f(a)`"},
	{"=", false, "`=` alone compares nothing: equality is `==`"},
}

// Operator returns the advice on the first operator of another language that an expression contains; empty if it
// contains none.
func Operator(expression string) string {
	plain := unquoted(expression)
	if words := strings.Fields(plain); len(words) == 2 && words[0] == "not" {
		return "`not` is written `!`: `!" + words[1] + "`"
	}
	if strings.HasPrefix(plain, "{") && !strings.Contains(plain, "=") && !strings.Contains(plain, " : ") {
		return "`${{ … }}` is of GitHub Actions: here it is `${…}`; a map is written `{key = value}`"
	}
	if strings.HasPrefix(plain, ".Values") {
		return advice(root, "Values")
	}
	loop := phrase{foreign: "for", word: true}.in(plain)
	if loop && strings.HasPrefix(plain, "[") && !strings.HasPrefix(strings.TrimSpace(plain[1:]), "for ") {
		return "a list from a list is written `[for item in list : value]`"
	}
	if fText().MatchString(expression) {
		return "a text with values is written `\"hello ${name}\"`"
	}
	for _, p := range operators {
		if loop && (p.foreign == "in" || p.foreign == "=>") {
			continue // they belong to it
		}
		if p.in(plain) {
			return p.advice
		}
	}
	return method(expression, plain)
}

// fText matches the beginning of a text with values in Python.
var fText = lazyregexp.New(`(^|[^\w"])[fF]"`)

// called matches the call of a method, with what owns it.
var called = lazyregexp.New(`([\w-]+(?:\??\.[\w-]+|\[[^\]]*\])*)\??\.([A-Za-z]\w*)\(`)

// method returns the advice on the first call of a method.
func method(expression, plain string) string {
	m := called().FindStringSubmatchIndex(plain)
	if m == nil {
		return ""
	}
	owner, name := expression[m[2]:m[3]], expression[m[4]:m[5]]
	if w, of := find(root, owner, func(word) bool { return true }); of == "JavaScript" && w.foreign == owner {
		return said(of, owner, w.advice) // Math.max(…)
	}
	if advice := Member(name, owner); advice != "" {
		return advice
	}
	return "a function is called by its name: `" + name + "(" + owner + ")`; a method of a resource with `call(" + owner +
		", \"" + name + "\", {})`"
}

// in reports whether a text contains the phrase.
func (p phrase) in(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], p.foreign)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(p.foreign)
		switch {
		case p.word:
			if !(start > 0 && wordByte(text[start-1])) && !(end < len(text) && wordByte(text[end])) {
				return true
			}
		case p.foreign == "=":
			if !(start > 0 && strings.IndexByte("=!<>", text[start-1]) >= 0) && !(end < len(text) && text[end] == '=') {
				return true
			}
		case p.foreign == "|":
			if !(start > 0 && text[start-1] == '|') && !(end < len(text) && text[end] == '|') {
				return true
			}
		default:
			return true
		}
		from = end
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// unquoted returns an expression with spaces in place of what stands in double quotes. An expression in quotes, `${…}`,
// stays without its own sign. A directive, `%{…}`, does not: its words are those of templates.
func unquoted(text string) string {
	plain := []byte(text)
	var open []byte // what is open: quotes, the braces of expressions in them, and directives as percent signs
	directives := 0
	for i := 0; i < len(text); i++ {
		start, quoted := i, len(open) > 0 && open[len(open)-1] == '"'
		blank := quoted || directives > 0
		begins := func(prefix string) bool { return strings.HasPrefix(text[i:], prefix) }
		switch {
		case quoted && text[i] == '\\':
			i++
		case quoted && (begins("$${") || begins("%%{")):
			i += 2
		case quoted && begins("${"):
			open = append(open, '{')
			i++
		case quoted && begins("%{"):
			open = append(open, '%')
			directives++
			i++
		case text[i] == '"' && quoted:
			open = open[:len(open)-1]
			blank = directives > 0
		case text[i] == '"':
			open = append(open, '"')
		case !quoted && text[i] == '{' && len(open) > 0:
			open = append(open, 'b')
		case !quoted && text[i] == '}' && len(open) > 0:
			blank = blank || open[len(open)-1] != 'b'
			if open[len(open)-1] == '%' {
				directives--
			}
			open = open[:len(open)-1]
		}
		for ; blank && start <= min(i, len(text)-1); start++ {
			plain[start] = ' '
		}
	}
	return string(plain)
}
