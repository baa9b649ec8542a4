package mask

// span is a range of bytes in a text.
type span struct{ from, to int }

// dictionary holds the search structures for all secrets.
type dictionary struct {
	automata []*automaton
	numbers  map[string]bool
	whole    map[string]bool
	pieces   fingerprints

	longestNumber int
}

// found is the result of a search.
type found struct {
	spans []span // in order; they neither overlap nor touch
	held  int    // number of bytes at the end that may be part of a secret that continues
}

// none as a number of hidden bytes means that no secret continues.
const none = -1

// search finds secrets in text, which follows the byte before. If text continues a secret that was found before, hidden
// is the number of its bytes in text, possibly 0, and the first span covers them; otherwise hidden is none.
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

// add merges s with the spans that it overlaps or touches. Spans arrive in order of their ends, except for numbers,
// which are merged afterwards.
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

// searchTexts runs all automata and the fingerprints over the text in one pass.
func (d *dictionary) searchTexts(f *found, text string, hidden int) {
	var few [8]int32
	states := few[:0]
	for range d.automata {
		states = append(states, 0)
	}
	long := len(d.pieces.known) > 0
	h, piece := uint64(0), hidden // piece is the end of the last piece found of a long text
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
	// The last piece of a long text overlaps the one before it, so that is held back too.
	if rest := len(text) - piece; long && piece != none && rest < window {
		f.held = max(f.held, min(rest+window, len(text)))
	}
}

// searchNumbers adds the known numbers that stand alone.
func (d *dictionary) searchNumbers(f *found, text string, before byte) {
	var numbers []span
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			before = text[i]
			i++
			continue
		}
		end, alone := numberAt(text, i)
		if d.numbers[text[i:end]] && alone && !isWord(before) && before != '.' {
			numbers = append(numbers, span{i, end})
		}
		before = text[end-1]
		i = end
	}
	if len(numbers) > 0 {
		f.spans = merged(f.spans, numbers)
	}
	// A number at the end may continue; one longer than all known numbers is not known.
	tail := 0
	for tail < len(text) && tail <= d.longestNumber+1 && goesOn(text[len(text)-1-tail]) {
		tail++
	}
	f.held = max(f.held, tail)
}

// goesOn reports whether a byte may continue a number or the word that contains it.
func goesOn(b byte) bool { return isDigit(b) || b == '.' || b == '+' || b == '-' || b|0x20 == 'e' }

// merged merges two ordered lists of spans.
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
