package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Limits of a conversion, all texts together. Literal data is limited by the size of the texts alone.
const (
	maxExpanded  = 100_000 // nodes that are read through aliases
	maxAliasText = 8 << 20 // bytes of text in these
	maxValues    = 10_000  // configuration values that replace what a program cannot compute
	maxDepth     = 500
)

// budget is what a conversion may still use. All texts of a conversion share it. It exists because a few lines with
// aliases can stand for more than memory holds.
type budget struct{ expanded, text, values int }

// newBudget returns the budget of one conversion.
func newBudget() *budget { return &budget{maxExpanded, maxAliasText, maxValues} }

// expand counts a node that is read through an alias. It reports whether the budget allows that.
func (b *budget) expand(n *yamlnode.Node) bool {
	b.expanded--
	if n.Kind == yamlnode.Scalar {
		b.text -= len(n.Value)
	}
	return b.expanded >= 0 && b.text >= 0
}

// limitError is the error of a node at which a document exceeds a limit.
type limitError struct {
	node            *yamlnode.Node
	summary, advice string
}

func (e *limitError) Error() string { return e.summary }

// input is a YAML or JSON text that was read.
type input struct {
	documents []*yamlnode.Node
	comments  []string         // those of a text that has nothing else
	repeated  []*yamlnode.Node // maps with one entry each, which a later entry of the same key replaces
}

// documents reads all documents of a YAML or JSON text, with aliases and merge keys expanded. Values of repeated keys
// are reported with the text, unless a Secret may be among them.
func documents(src *diag.Source, b *budget) (*input, diag.Diagnostics) {
	content, isJSON := src.Text(), false
	if trimmed := bytes.TrimLeft(content, "\xef\xbb\xbf \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		// JSON is read by the YAML parser, which has places for all nodes; the text is made such that both agree on it.
		if isJSON = json.Valid(content); isJSON {
			content = readable(content)
		} else { // YAML in brackets, or broken JSON, whose tabs are not the fault to report
			content = bytes.ReplaceAll(content, []byte("\t"), []byte(" "))
		}
	}
	const advice = "is the file whole, and is it not a template of another tool?"
	read := diag.NewSource(src.Name(), content) // it has the lines of src
	roots, d := yamlnode.Documents(read)
	if d != nil {
		return nil, fault(src, d.Subject.StartPosition().Line, cmp.Or(d.Detail, advice), "the text is not YAML or JSON: %s",
			d.Summary)
	}
	in := &input{}
	if isJSON { // it has no comments, and its characters may have moved
		for _, root := range roots {
			place(root, read, src)
		}
	} else {
		// annotate attaches comments to the nodes, and plain then copies both.
		in.comments = annotate(read.Text(), roots)
	}
	for _, root := range roots {
		// plain appends to in.repeated; before divides the entries of this document from those of earlier ones.
		before := len(in.repeated)
		node, err := in.plain(root, b, 0, nil)
		if limit, over := errors.AsType[*limitError](err); over {
			return nil, fault(src, lineOf(src, limit.node), limit.advice, "%s", limit.summary)
		}
		in.documents = append(in.documents, node)
		// The values are quoted in comments later, where nothing would tell that they are of a Secret.
		if repeated := in.repeated[before:]; len(repeated) > 0 && holdsSecret(root) {
			for _, entry := range repeated {
				entry.Content[1] = text(hidden)
			}
		}
	}
	return in, nil
}

// holdsSecret reports whether a tree has a Kubernetes Secret.
func holdsSecret(n *yamlnode.Node) bool {
	return yamlnode.TextAt(n, "kind") == "Secret" || slices.ContainsFunc(n.Content, holdsSecret)
}

// place moves the nodes of a tree from one text to another with the same lines: each to the start of its line, which is
// all that messages name. To count the characters before each would take time with the square of a line's length.
func place(n *yamlnode.Node, from, to *diag.Source) {
	n.Start = to.Offset(diag.Position{Line: from.LineOf(n.Start), Column: 1})
	for _, child := range n.Content {
		place(child, from, to)
	}
}

// readable returns a JSON text with the same lines that YAML reads alike. What YAML takes for a line break in a string,
// or refuses there, becomes an escape, and a surrogate pair its character; JSON allows tabs between tokens only.
func readable(text []byte) []byte {
	var b bytes.Buffer
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch high, low := surrogate(text[i:]), rune(0); {
		case high != 0:
			// Half a pair is no character, and stays the escape that it is.
			if low = surrogate(text[i+6:]); utf16.DecodeRune(high, low) == unicode.ReplacementChar {
				b.Write(text[i : i+6])
				size = 6
				break
			}
			b.WriteRune(utf16.DecodeRune(high, low))
			size = 12
		// The character behind it belongs to the escape.
		case r == '\\':
			size = 2
			b.Write(text[i : i+size])
		case r == '\t':
			b.WriteByte(' ')
		case r == 0x7f, r >= 0x80 && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.Write(text[i : i+size])
		}
		i += size
	}
	return b.Bytes()
}

// surrogate returns half of a surrogate pair that is escaped at the beginning of a JSON text; 0 if there is none.
func surrogate(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil || !utf16.IsSurrogate(rune(n)) {
		return 0
	}
	return rune(n)
}

// fault returns a finding about a line of the input.
func fault(src *diag.Source, line int, detail, format string, args ...any) diag.Diagnostics {
	line = max(1, min(line, src.Lines()))
	start := src.Offset(diag.Position{Line: line, Column: 1})
	end := start + len(bytes.TrimRight(src.Line(line), "\r\n"))
	return diag.Diagnostics{{Code: diag.Syntax, Subject: diag.NewRange(src, start, end), Detail: detail,
		Summary: fmt.Sprintf(format, args...)}}
}

// plain copies a tree with aliases and merge keys expanded, and without anchors. alias is the outermost alias that node
// is read through; nil for none. Its errors are *limitError. Afterwards no node is shared, so that each may be changed.
// Own keys win over merged ones, wherever they stand.
func (in *input) plain(node *yamlnode.Node, b *budget, depth int, alias *yamlnode.Node) (*yamlnode.Node, error) {
	// A limit that an expansion exceeds is reported at the alias, which is what the user can change.
	at := cmp.Or(alias, node)
	if depth > maxDepth {
		return nil, &limitError{at, fmt.Sprintf("more than %d lists and maps inside each other", maxDepth),
			"simplify the structure; an anchor cannot contain its own alias"}
	}
	if alias != nil && !b.expand(node) {
		return nil, &limitError{at, fmt.Sprintf("aliases expand to more than %d values or %d MiB of text", maxExpanded,
			maxAliasText>>20), "write out what they stand for, or convert a part of the input at a time"}
	}
	// The comments of an alias replace those of what it stands for, which stay if it has none.
	if node.Kind == yamlnode.Alias {
		out, err := in.plain(node.Target(), b, depth+1, at)
		if own := node.Notes(); err == nil && own != (yamlnode.Comments{}) {
			out.SetNotes(own)
		}
		return out, err
	}
	out := *node
	out.Content = nil
	out.DropAnchor()
	seen := map[string]int{}
	for i := 0; i < len(node.Content); i++ {
		child, err := in.plain(node.Content[i], b, depth+1, alias)
		if err != nil {
			return nil, err
		}
		if node.Kind != yamlnode.Map {
			out.Content = append(out.Content, child)
			continue
		}
		value, err := in.plain(node.Content[i+1], b, depth+1, alias)
		if err != nil {
			return nil, err
		}
		i++
		// A merge key is not kept: it means something in YAML 1.1 only.
		if child.Tag == yamlnode.MergeTag {
			sources := []*yamlnode.Node{value}
			if value.Kind == yamlnode.List {
				sources = value.Content
			}
			for _, source := range sources {
				each(source, func(k, v *yamlnode.Node) {
					if _, has := seen[k.Value]; !has && yamlnode.Member(node, k.Value) == nil {
						seen[k.Value] = len(out.Content)
						out.Content = append(out.Content, k, v)
					}
				})
			}
			notes := out.Notes() // in place of the key
			notes.Head = joined(notes.Head, strings.Join(commentLines(child), "\n"))
			out.SetNotes(notes)
			continue
		}
		if pos, has := seen[child.Value]; has { // the last of equal keys wins
			in.repeated = append(in.repeated, entryOf(out.Content[pos], out.Content[pos+1]))
			out.Content[pos], out.Content[pos+1] = child, value
			continue
		}
		seen[child.Value] = len(out.Content)
		out.Content = append(out.Content, child, value)
	}
	return &out, nil
}

// data copies a tree as literal data of a program: interpolations are escaped and scalars keep their meaning. With
// words, the boolean words of YAML 1.1 become booleans. Kubernetes reads these words so.
func data(node *yamlnode.Node, words bool) *yamlnode.Node {
	out := *node
	out.Content = nil
	for i, child := range node.Content {
		copied := data(child, words)
		if node.Kind == yamlnode.Map && i%2 == 0 {
			// Keys are texts in a program, also those that look like numbers.
			copied.Tag, copied.Value = yamlnode.StringTag, literal.Key(child.Value)
			restyle(copied)
		}
		out.Content = append(out.Content, copied)
	}
	if node.Kind != yamlnode.Scalar {
		return &out
	}
	return scalar(&out, words)
}

// scalar converts a scalar of the input, in place, to one of a program. A whole number beyond 53 bits becomes a text,
// which the provider gets with all of its digits.
func scalar(n *yamlnode.Node, words bool) *yamlnode.Node {
	truth := yaml11[strings.ToLower(n.Value)]
	switch short := n.ShortTag(); {
	case short == yamlnode.IntTag:
		number, _ := n.Data()
		var v int64
		switch number := number.(type) {
		case int:
			v = int64(number)
			n.Value = strconv.FormatInt(v, 10)
		// It is larger than an int64. Only the comparison below matters, which makes it a text.
		case uint64:
			v = math.MaxInt64
		}
		// Beyond 53 bits a number of the language has not all digits.
		if n.Tag = short; v > 1<<53 || v < -1<<53 {
			n.Tag = yamlnode.StringTag
		}
	case short == yamlnode.FloatTag || short == yamlnode.BoolTag || short == yamlnode.NullTag:
		n.Tag = short
	// In quotes the word is a text in YAML 1.1, too.
	case words && n.Style == 0 && truth != "":
		n.Tag, n.Value = yamlnode.BoolTag, truth
	default:
		n.Tag, n.Value = yamlnode.StringTag, literal.Text(n.Value)
		restyle(n)
	}
	return n
}

// yaml11 holds the words that YAML 1.1 reads as booleans and YAML 1.2 as texts.
var yaml11 = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}
