package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scribble returns a random picture with all kinds of boxes, nested groups, and arrows, with cycles if cyclic is set.
func scribble(seed uint64, nodes, groups, edges int, cyclic bool) *Picture {
	random := rand.New(rand.NewPCG(seed, 7))
	p := &Picture{Title: "a <picture> & more", Subtitle: "drawn at random"}
	groupOf := func(limit int) string {
		if limit == 0 || random.IntN(3) > 0 {
			return ""
		}
		return fmt.Sprintf("g%d", random.IntN(limit))
	}
	var ids []string
	for i := range groups {
		id := fmt.Sprintf("g%d", i)
		ids = append(ids, id)
		p.Groups = append(p.Groups, Group{ID: id, Label: "group " + id, Parent: groupOf(i)})
	}
	for i := range nodes {
		n := Node{ID: fmt.Sprintf("n%d", i), Kind: Kind(i % int(kinds)), Name: strings.Repeat("name", 1+random.IntN(12)),
			Group: groupOf(groups)}
		if random.IntN(3) > 0 {
			n.Detail = "some:module:" + strings.Repeat("Type", random.IntN(9))
		}
		ids = append(ids, n.ID)
		p.Nodes = append(p.Nodes, n)
	}
	for range edges {
		from, to := random.IntN(len(ids)), random.IntN(len(ids))
		if !cyclic && from > to {
			from, to = to, from
		}
		if !cyclic && from == to {
			continue
		}
		p.Edges = append(p.Edges, Edge{From: ids[from], To: ids[to], Label: fmt.Sprintf("%s.member%d", ids[from],
			random.IntN(3))})
	}
	return p
}

func chain(n int) *Picture {
	p := &Picture{}
	for i := range n {
		p.Nodes = append(p.Nodes, Node{ID: fmt.Sprint(i), Name: fmt.Sprint("node", i)})
		if i > 0 {
			p.Edges = append(p.Edges, Edge{From: fmt.Sprint(i - 1), To: fmt.Sprint(i)}, Edge{From: "0", To: fmt.Sprint(i)})
		}
	}
	return p
}

func pictures() map[string]*Picture {
	list := map[string]*Picture{
		"nothing":          {},
		"one box":          {Nodes: []Node{{ID: "a", Name: "a"}}},
		"an empty group":   {Groups: []Group{{ID: "g", Label: "g"}}},
		"a box and itself": {Nodes: []Node{{ID: "a", Name: "a"}}, Edges: []Edge{{From: "a", To: "a"}}},
		"two in a circle": {Nodes: []Node{{ID: "a"}, {ID: "b"}},
			Edges: []Edge{{From: "a", To: "b"}, {From: "b", To: "a"}}},
		"groups in a ring": {Groups: []Group{{ID: "g", Parent: "h"}, {ID: "h", Parent: "g"}},
			Nodes: []Node{{ID: "a", Group: "g"}}},
		"a group's inside": {Groups: []Group{{ID: "g"}}, Nodes: []Node{{ID: "a", Group: "g"}},
			Edges: []Edge{{From: "g", To: "a"}}},
		"an unknown end": {Nodes: []Node{{ID: "a"}}, Edges: []Edge{{From: "a", To: "x"}}},
		"an ID twice": {Nodes: []Node{{ID: "a"}, {ID: "a"}, {ID: "b", Group: "a"}},
			Edges: []Edge{{From: "a", To: "b"}}},
		"many that are free": scribble(1, 200, 0, 0, false),
		"a chain":            chain(60),
		"more than lines":    chain(400),
	}
	for seed := range uint64(12) {
		list[fmt.Sprintf("random %d", seed)] = scribble(seed, 10+int(seed)*9, int(seed), 10+int(seed)*15, seed%2 == 1)
	}
	return list
}

func (it *item) rect() rect { return rect{it.x, it.y, it.w, it.h} }

func (r rect) within(o rect) bool {
	const e = 0.001
	return r.x >= o.x-e && r.y >= o.y-e && r.x+r.w <= o.x+o.w+e && r.y+r.h <= o.y+o.h+e
}

func TestBoxesKeepApart(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			s := layOut(p)
			canvas := rect{0, 0, s.w, s.h}
			for i, a := range s.items {
				require.True(t, a.rect().within(canvas), "%v in %v", a.rect(), canvas)
				if a.parent != nil {
					require.True(t, a.rect().within(a.parent.rect()), "a member is inside of its group")
				}
				for _, b := range s.items[:i] {
					if a.parent == b.parent {
						require.False(t, a.rect().overlaps(b.rect()), "%v and %v", a.rect(), b.rect())
					}
				}
			}
		})
	}
}

func TestLinksEndAtBoxes(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			s := layOut(p)
			for _, l := range s.links {
				first, last := l.curve[0], l.curve[len(l.curve)-1]
				require.True(t, onSide(first, l.from), "%v begins at %v", first, l.from.rect())
				require.True(t, onSide(last, l.to), "%v ends at %v", last, l.to.rect())
				for _, dot := range l.dots() {
					require.True(t, dot.x >= 0 && dot.y >= 0 && dot.x <= s.w && dot.y <= s.h)
				}
			}
		})
	}
}

func onSide(p point, it *item) bool {
	left, right := it.x+it.inset(p.y), it.x+it.w
	return p.y >= it.y && p.y <= it.y+it.h && (math.Abs(p.x-left) < 0.01 || math.Abs(p.x-right) < 0.01)
}

// Links run between the boxes of their level and through none of them.
func TestLinksPassBoxes(t *testing.T) {
	for name, p := range pictures() {
		if name == "more than lines" {
			continue // links beyond the bound of chains are drawn straight, through boxes
		}
		t.Run(name, func(t *testing.T) {
			s := layOut(p)
			for _, l := range s.links {
				for _, it := range s.items {
					if it.parent != l.from.parent || it == l.from || it == l.to {
						continue
					}
					r := it.rect()
					require.False(t, slices.ContainsFunc(l.dots(), rect{r.x + 1, r.y + 1, r.w - 2, r.h - 2}.holds))
				}
			}
		})
	}
}

// In pictures like those of programs, in which each box needs two others, at least 98% of the arrows have a label.
func TestArrowsSayWhatCausedThem(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5, 50, 500} {
		p := &Picture{}
		for i := range n {
			name := fmt.Sprintf("resource%d", i)
			p.Nodes = append(p.Nodes, Node{ID: name, Kind: Resource, Name: name, Detail: "random:RandomPassword"})
			for _, near := range []int{1 + i*7%11, 2 + i*5%17} {
				if from := i - near; from >= 0 {
					p.Edges = append(p.Edges, Edge{From: p.Nodes[from].ID, To: name, Label: p.Nodes[from].ID + ".id"})
				}
			}
		}
		s := layOut(p)
		labelled := 0
		for _, l := range s.links {
			if l.labelled {
				labelled++
			}
		}
		require.GreaterOrEqual(t, labelled*100, len(s.links)*98, "%d of %d arrows of %d boxes", labelled, len(s.links), n)
	}
}

func TestLabelsHaveRoom(t *testing.T) {
	labels := 0
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			s := layOut(p)
			var taken []rect
			for _, l := range s.links {
				if !l.labelled {
					continue
				}
				labels++
				w := textWidth(l.label, labelSize)
				r := rect{l.labelAt.x, l.labelAt.y - labelSize + 1, w, labelSize}
				require.True(t, r.within(rect{0, 0, s.w, s.h}))
				for _, other := range taken {
					require.False(t, r.overlaps(other))
				}
				for _, it := range s.items {
					require.True(t, it.group != nil || !r.overlaps(it.rect()), "a label lies on no box")
				}
				taken = append(taken, r)
			}
		})
	}
	require.Positive(t, labels)
}

func TestArrowsLeadRight(t *testing.T) {
	for seed := range uint64(8) {
		s := layOut(scribble(seed, 60, 0, 120, false))
		for _, l := range s.links {
			require.LessOrEqual(t, l.from.x+l.from.w, l.to.x, "without cycles every arrow leads to the right")
		}
	}
}

func TestUntangle(t *testing.T) {
	// Two of the arrows cross if the boxes stay in the order of the list.
	p := &Picture{Nodes: []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}}
	p.Edges = []Edge{{From: "a", To: "d"}, {From: "b", To: "c"}, {From: "a", To: "c"}}
	s := layOut(p)
	y := func(i int) float64 { return s.items[i].y }
	require.Equal(t, y(0) < y(1), y(3) < y(2), "d is beside a and c is beside b")
}

func TestWrite(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			var first, second bytes.Buffer
			require.NoError(t, Write(&first, p))
			require.NoError(t, Write(&second, p))
			require.Equal(t, first.String(), second.String(), "the same picture is the same text")
			wellFormed(t, &first)
		})
	}
}

func wellFormed(t *testing.T, r io.Reader) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				require.NotContains(t, a.Value, "NaN")
				require.NotContains(t, a.Value, "Inf")
			}
		}
	}
}

func TestTextIsEscaped(t *testing.T) {
	hostile := "</text><script>alert(1)</script>&amp;\"'\x00\x1b\xff]]>"
	p := &Picture{Title: hostile, Subtitle: hostile, Groups: []Group{{ID: hostile, Label: hostile, Tip: hostile}},
		Nodes: []Node{{ID: "a", Name: hostile, Detail: hostile, Tip: hostile, Group: hostile},
			{ID: "b", Name: "日本語 – ü", Group: hostile}},
		Edges: []Edge{{From: "a", To: "b", Label: hostile}}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	require.NotContains(t, b.String(), "<script>")
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, wellFormed(t, &b), "日本語 – ü")
}

func TestEdgesNameTheirReasons(t *testing.T) {
	p := &Picture{Nodes: []Node{{ID: "a", Name: "a"}, {ID: "b", Name: "b"}},
		Edges: []Edge{{From: "a", To: "b", Label: "a.id", Tip: "b uses a.id"}, {From: "a", To: "b", Label: "a.name"}}}
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	require.Contains(t, b.String(), "<title>b uses a.id\na.name</title>")
	require.Contains(t, b.String(), ">a.id …</text>")
	require.Equal(t, 1, strings.Count(b.String(), `class="edge`), "one arrow for both")
}

func TestDark(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, &Picture{}))
	require.Contains(t, b.String(), "@media (prefers-color-scheme:dark)")
	shades := regexp.MustCompile(`--([a-z0-9-]+):(#[0-9a-f]{6})`).FindAllStringSubmatch(styles, -1)
	require.NotEmpty(t, shades)
	for _, c := range shades {
		require.Equal(t, 2, strings.Count(styles, "--"+c[1]+":#"), "%s has a light and a dark shade", c[1])
		require.Contains(t, styles, "var(--"+c[1]+")", "%s is used", c[1])
	}
	for _, m := range regexp.MustCompile(`(#[0-9a-f]{6});[a-z]+:var\(--([a-z0-9-]+)\)`).FindAllStringSubmatch(styles, -1) {
		require.Contains(t, styles, "--"+m[2]+":"+m[1]+";", "without variables, %s is light", m[2])
	}
}

// The style sheet has the text sizes, kinds of boxes and hues of this package.
func TestStylesFit(t *testing.T) {
	for class, size := range map[string]float64{"name": nameSize, "detail": detailSize, "label": labelSize} {
		require.Contains(t, styles, "."+class+"{font-size:"+num(size)+"px")
	}
	for _, kind := range kindNames {
		require.Contains(t, styles, "."+kind+" rect{fill:")
	}
	require.Equal(t, hues, strings.Count(styles, "<marker "))
	require.Contains(t, styles, fmt.Sprintf(".tip%d{", hues-1))
}

// The number of vertices of lines, the length of links and the work of all sweeps are bounded.
func TestCostIsBounded(t *testing.T) {
	p := chain(3000) // without the bound, it would have 4.5 million vertices
	s := layOut(p)
	passed, length := map[*vertex]bool{}, 0
	for _, l := range s.links {
		for _, v := range l.chain {
			passed[v] = true
		}
		length += max(len(l.chain)-2, 0)
	}
	b := &block{items: s.items, links: s.links}
	require.LessOrEqual(t, len(passed), b.maxPassing()+len(s.items))
	require.LessOrEqual(t, length, b.maxLength())
	for _, line := range [][]*vertex{make([]*vertex, 50_000), make([]*vertex, 500_000)} {
		for i := range line {
			line[i] = &vertex{}
		}
		b := &block{lines: [][]*vertex{line}}
		require.LessOrEqual(t, b.sweeps()*len(line), max(200_000, 2*len(line)))
	}

	// All boxes need one hub. The shared stretch of its line is written once, so that the size of the text is linear.
	size := func(n int) int {
		var b bytes.Buffer
		require.NoError(t, Write(&b, chain(n)))
		return b.Len()
	}
	require.Less(t, size(4000), 5*size(1000))
}

// From huge arrows on, arrows consist of straight lines and are grouped by style. Each occurs once, with its tip, and
// ends at its box.
func TestVeryManyArrows(t *testing.T) {
	t.Parallel()
	p := &Picture{Nodes: []Node{{ID: "hub"}}}
	for i := range huge {
		id := fmt.Sprint("n", i)
		p.Nodes = append(p.Nodes, Node{ID: id, Name: id})
		p.Edges = append(p.Edges, Edge{From: "hub", To: id, Tip: "tip " + id})
		if i > 0 {
			p.Edges = append(p.Edges, Edge{From: fmt.Sprint("n", i/2), To: id, Tip: "tip too " + id})
		}
	}
	s := layOut(p)
	require.Len(t, s.links, len(p.Edges))
	for _, l := range s.links {
		require.True(t, l.coarse)
		end := l.curve[len(l.curve)-1]
		require.InDelta(t, l.to.x, end.x, 1)
		require.True(t, end.y >= l.to.y && end.y <= l.to.y+l.to.h)
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	text := b.String()
	wellFormed(t, &b)
	for _, e := range p.Edges {
		require.Equal(t, 1, strings.Count(text, "<title>"+e.Tip+"</title></path>"), e.Tip)
	}
	require.Less(t, strings.Count(text, `class="edges`), 2*hues+1)
}

// Each step of a path is the difference of two rounded points, so that rounding errors do not add up.
func TestLinesOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, "M1 2h3l2-1l1 2h-7", linesOf([]point{{1.4, 1.6}, {4.4, 1.6}, {6.4, 0.6}, {7.4, 2.6}, {0.4, 2.6}}))
}

func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{50, 500, 5000, 10000} {
		p := scribble(3, n, n/50, n*3, false)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				if err := Write(io.Discard, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
