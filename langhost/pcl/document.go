package pcl

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/literal"
)

// The tree of a YAML document. A scalar is already quoted for the file.
type (
	node interface{ isNode() }

	scalar string

	mapping struct{ entries []entry }

	sequence struct{ items []node }

	entry struct {
		comment []string // lines above the entry, without the comment mark
		key     string   // already quoted for the file
		value   node
	}
)

func (scalar) isNode()    {}
func (*mapping) isNode()  {}
func (*sequence) isNode() {}

func (m *mapping) add(key string, value node, comment ...string) {
	m.entries = append(m.entries, entry{comment, literal.Scalar(key), value})
}

// addFilled adds a mapping unless it is empty.
func (m *mapping) addFilled(key string, value *mapping) {
	if len(value.entries) > 0 {
		m.add(key, value)
	}
}

// write writes a node after the start of its line: a key with its colon, or the dash of an item.
func write(b *strings.Builder, n node, indent int) {
	margin := strings.Repeat(" ", indent)
	switch n := n.(type) {
	case scalar:
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(string(n), "\n", "\n"+margin))
		b.WriteByte('\n')
	case *mapping:
		if len(n.entries) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		writeEntries(b, n, indent)
	case *sequence:
		if len(n.items) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		writeItems(b, n, indent)
	}
}

func writeEntries(b *strings.Builder, m *mapping, indent int) {
	margin := strings.Repeat(" ", indent)
	for i, e := range m.entries {
		writeComments(b, e.comment, margin)
		b.WriteString(margin)
		writeEntry(b, m.entries[i], indent)
	}
}

func writeComments(b *strings.Builder, lines []string, margin string) {
	for _, line := range lines {
		b.WriteString(strings.TrimRight(margin+"# "+line, " ") + "\n")
	}
}

func writeEntry(b *strings.Builder, e entry, indent int) {
	// yaml.v3 writes keys of more than 128 characters after a question mark; YAML needs it beyond 1024
	const longest = 120
	if len(e.key) > longest {
		b.WriteString("? " + e.key + "\n" + strings.Repeat(" ", indent) + ":")
	} else {
		b.WriteString(e.key + ":")
	}
	write(b, e.value, indent+2)
}

func writeItems(b *strings.Builder, s *sequence, indent int) {
	margin := strings.Repeat(" ", indent)
	for _, item := range s.items {
		b.WriteString(margin + "-")
		switch item := item.(type) {
		case *mapping:
			if len(item.entries) > 0 { // the first entry follows the dash on its line
				b.WriteByte(' ')
				writeEntry(b, item.entries[0], indent+2)
				writeEntries(b, &mapping{item.entries[1:]}, indent+2)
				continue
			}
		case *sequence:
			if len(item.items) > 0 {
				b.WriteByte('\n')
				writeItems(b, item, indent+2)
				continue
			}
		}
		write(b, item, indent+2)
	}
}
