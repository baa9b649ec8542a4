package diag

import "strings"

// Fold breaks a text between words, at blanks, where it would be wider than so many columns, and indents what follows.
// So many columns of its first line are taken already. A word that is wider than a line stays whole, and so does the
// text if there is hardly any room behind the indentation. widthOf returns the columns of a word; nil is for a text
// without escape sequences.
func Fold(text string, columns, taken, indent int, widthOf func(word string) int) string {
	const room = 20
	if columns-indent < room {
		return text
	}
	if widthOf == nil {
		widthOf = cells
	}
	var b strings.Builder
	begun := taken > 0 // there is a word in the line
	for i, word := range strings.Split(text, " ") {
		width := widthOf(word)
		switch {
		case begun && i > 0 && width > 0 && taken+1+width > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			taken = indent
		case i > 0:
			b.WriteByte(' ')
			taken++
		}
		b.WriteString(word)
		taken += width
		begun = begun || width > 0
	}
	return b.String()
}
