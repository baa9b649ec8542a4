package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Resources returns a program of n resources, each with about nine nested properties and 700 bytes long.
func Resources(n int) []byte {
	var b strings.Builder
	b.WriteString(
		"name: generated\nconfig:\n  zone: {type: string, default: a}\nvariables:\n  prefix: \"p-${zone}\"\nresources:\n")
	for i := range n {
		before := "zone"
		if i > 0 {
			before = fmt.Sprintf("server%d.address", i-1)
		}
		fmt.Fprintf(&b, `  server%d:
    type: docs:index:Server
    properties:
      name: "${prefix}-server-%d"
      zone: ${zone}
      size: 4
      description: |
        The server with number %d,
        which talks to ${%s}.
      tags:
        owner: team-%d
        cost-center: "%d"
        generated: true
        nested: {a: 1, b: [x, 'y', "z ${prefix}"], c: {d: null}}
      disks:
        - {name: root, size: 40, type: fast}
        - name: data-%d
          size: 400
          labels: {backup: daily, tier: "gold"}
      network:
        interfaces:
          - address: 10.0.%d.%d
            public: false
            upstream: ${%s}
    options:
      protect: false
      ignoreChanges: [tags, "disks[0].size"]
`, i, i, i, before, i%7, i%100, i, i/250%250, i%250, before)
	}
	fmt.Fprintf(&b, "outputs:\n  last: ${server%d.id}\n", n-1)
	return []byte(b.String())
}

// Awkward holds texts that are awkward to scan.
var Awkward = []string{
	"", "\uFEFF", "\uFEFFa: 'b'\r\n", "a: b\rc: d\r", "a: \"x\\\n  y\"\n", "a: \"x\n\n  y ${z}\"\n",
	"a: 'it''s\n  ${x}'\n",
	"a: |2-\n    x\n   ${y}\n", "a: >+\n  x\n\n   y\n  z\n\n", "- |\n ${a}\n- >\n ${b}\n", "a: x\n  y\n\n  z ${b}\n",
	"a: x\u0085  y\n", "a: x\u2028 y\u2029z\n", "{a: [b, {c: d}], e: 'f', ? g : h, i}", "[a: b, c]",
	"a: &x !!str b\nc: *x\n",
	"a: &x\n  b: c\nd:\n  <<: *x\n", "a: &x [*x]\n", "? a\n: b\n", "a:\n- b\n- - c\n  - d\n",
	"a: \"\\u00e9\\x41\\t${b}\"\n",
	"a: ${b[0][\"c d\"].e} $$ $${x}\n", "a: '${b ? \"x\" : [1, 2]}'\n", "a: !!binary aGk=\nb: ! 12\nc: !t {d: e}\n",
	"--- a\n--- b\n",
	"a: \"\ttab\t \"\n", "a: b # c\n# d\ne: |  # f\n  g\n", "a: \"x \\\n\n  \\ y\"\n",
	"a:\n  - b: |\n      c\n    d: >-\n      e\n",
}

// Edit returns a random edit of a text, of a kind that people make: the bytes in [start, end) are replaced. end may be
// beyond the text.
func Edit(random *rand.Rand, text []byte) (start, end int, replacement string) {
	i := random.IntN(len(text) + 1)
	switch random.IntN(8) {
	case 0:
		return i, i, string(" :-#'\"{}[]$&*|>\n\tab"[random.IntN(19)])
	case 1:
		return i, i + 1, ""
	case 2:
		return i, i + random.IntN(40), ""
	case 3: // duplicates or removes a line
		start := bytes.LastIndexByte(text[:i], '\n') + 1
		end := start + bytes.IndexByte(text[start:], '\n') + 1
		if random.IntN(2) == 0 {
			return start, end, ""
		}
		return start, start, string(text[start:max(end, start)])
	case 4: // changes the indentation of a line
		start := bytes.LastIndexByte(text[:i], '\n') + 1
		if start < len(text) && text[start] == ' ' && random.IntN(2) == 0 {
			return start, start + 1, ""
		}
		return start, start, " "
	case 5: // inserts a copy of another part
		from := random.IntN(len(text) + 1)
		return i, i, string(text[from:min(from+random.IntN(80), len(text))])
	case 6:
		return i, i, "${"
	default:
		return i, i, fmt.Sprintf("  n%d: \n", random.IntN(10))
	}
}
