package drawing

import "strings"

// textWidth estimates the width of a text in a sans-serif font, rather too wide than too narrow: which font a viewer
// has is not known.
func textWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("iljtfrI.,:;|/!'()[] ", r):
			em += 0.40
		case strings.ContainsRune("mwMW@%", r):
			em += 0.98
		case r >= 'A' && r <= 'Z':
			em += 0.72
		case r < 0x1100:
			em += 0.63
		default:
			em += 1.05 // East Asian letters and pictures
		}
	}
	return em * size
}

// shorten keeps a text within a number of letters, by leaving out of its middle: both ends of a name tell it from
// others.
func shorten(s string, letters int) string {
	runes := []rune(s)
	if len(runes) <= letters {
		return s
	}
	head := (letters - 1) * 3 / 5
	return string(runes[:head]) + "…" + string(runes[len(runes)-(letters-1-head):])
}
