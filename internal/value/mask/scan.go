package mask

// span is a part of a text, as offsets of bytes.
type span struct{ from, to int }

// dictionary is everything that texts are searched for.
type dictionary struct {
	automata []*automaton
	numbers  map[string]struct{}
	whole    map[string]struct{}
	pieces   fingerprints

	longestNumber int
}

// found holds the results of a search in a text.
type found struct {
	spans []span // in order; no two overlap or touch
	held  int    // how many bytes at the end may turn out to be a part of a secret when more text follows
}

// none is the state in which no secret continues.
const none = -1

// search looks for secrets in a text that follows the byte before. If the text goes on with a secret that was found
// before, as many bytes as hidden says belong to it, perhaps 0, and the first span is theirs.
func (d *dictionary) search(text string, before byte, hidden int) found {
	var f found
	if hidden != none {
		f.spans = append(f.spans, span{0, hidden})
	}
	d.searchTexts(&f, text, hidden)
	if len(d.numbers) > 0 {
		d.searchNumbers(&f, text, before)
	}
	return f
}

// add joins s with the spans that it overlaps or touches. Spans come in the order of their ends, except spans of
// numbers, which are merged afterwards.
func (f *found) add(s span) {
	for len(f.spans) > 0 {
		last := f.spans[len(f.spans)-1]
		if last.to < s.from {
			break
		}
		s = span{min(s.from, last.from), max(s.to, last.to)}
		f.spans = f.spans[:len(f.spans)-1]
	}
	f.spans = append(f.spans, s)
}

// searchTexts runs all automata and the fingerprints over the text at once.
func (d *dictionary) searchTexts(f *found, text string, hidden int) {
	var few [8]int32
	states := few[:0]
	for range d.automata {
		states = append(states, 0)
	}
	long := len(d.pieces.known) > 0
	h, piece := uint64(0), hidden // piece is the end of the last piece of a long text
	for i := range len(text) {
		b, length := text[i], int32(0)
		for n, a := range d.automata {
			states[n] = a.step(states[n], b)
			length = max(length, a.longest[states[n]])
		}
		if length > 0 {
			f.add(span{i + 1 - int(length), i + 1})
		}
		if !long {
			continue
		}
		h = h*factor + uint64(b) + 1
		if i >= window {
			h -= (uint64(text[i-window]) + 1) * shifted
		}
		if i+1 >= window && d.pieces.has(h) {
			f.add(span{i + 1 - window, i + 1})
			piece = i + 1
		}
	}
	for n, a := range d.automata {
		f.held = max(f.held, a.depth(states[n]))
	}
	// The last piece of a long text lies across the one before, which is therefore held back too.
	if rest := len(text) - piece; long && piece != none && rest < window {
		f.held = max(f.held, min(rest+window, len(text)))
	}
}

// searchNumbers adds the numbers that stand alone.
func (d *dictionary) searchNumbers(f *found, text string, before byte) {
	var numbers []span
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			before = text[i]
			i++
			continue
		}
		end, alone := numberAt(text, i)
		if _, known := d.numbers[text[i:end]]; known && alone && !isWord(before) && before != '.' {
			numbers = append(numbers, span{i, end})
		}
		before = text[end-1]
		i = end
	}
	if len(numbers) > 0 {
		f.spans = merged(f.spans, numbers)
	}
	// A number at the end may go on; one that is longer than all that are known is none of them.
	tail := 0
	for tail < len(text) && tail <= d.longestNumber+1 && goesOn(text[len(text)-1-tail]) {
		tail++
	}
	f.held = max(f.held, tail)
}

// goesOn reports whether a byte may be in a number or tell what one is a part of.
func goesOn(b byte) bool { return isDigit(b) || b == '.' || b == '+' || b == '-' || b|0x20 == 'e' }

// merged joins two lists of spans, each in order.
func merged(a, b []span) []span {
	var f found
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].to <= b[0].to {
			f.add(a[0])
			a = a[1:]
		} else {
			f.add(b[0])
			b = b[1:]
		}
	}
	return f.spans
}
