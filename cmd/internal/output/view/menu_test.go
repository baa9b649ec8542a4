package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever a person types, a menu fits the terminal, what it chooses has every typed word, and in the end only the
// question with its answer is left of it.
func TestMenu(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"", "a", "dev", "prod-eu", "Über", "日本語", "a\x1b[2Jb", "web-cache", "x y"})
	keys := rapid.SampledFrom([]string{"a", "d", "E", "-", "日", " ", "\x7f", "\x15", "\x1b[A", "\x1b[B", "\x1b[5~",
		"\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1b[1;5C", "\t", "\x00", "\x10", "\x0e", "\x1bx"})
	rapid.Check(t, func(t *rapid.T) {
		m := Menu{Question: "stack", Color: rapid.Bool().Draw(t, "color")}
		for range rapid.IntRange(0, 40).Draw(t, "items") {
			m.Items = append(m.Items, MenuItem{Name: words.Draw(t, "name") + words.Draw(t, "more"), Note: words.Draw(t, "note")})
		}
		if m.At = rapid.IntRange(-1, len(m.Items)-1).Draw(t, "at"); rapid.Bool().Draw(t, "others") {
			m.Other = "another one"
		}
		width, height := rapid.IntRange(10, 200).Draw(t, "width"), rapid.IntRange(4, 50).Draw(t, "height")
		term := vt10x.New(vt10x.WithSize(width, height))
		out := newline{term}
		_, _ = out.Write([]byte("$ command\n"))
		m.Open(out)
		end, most := MenuOpen, 0
		for end == MenuOpen {
			m.Draw(width, height)
			lines := m.lines(width, height)
			require.Less(t, len(lines), height)
			most = max(most, len(lines))
			for _, line := range lines {
				require.Less(t, ansi.StringWidth(line), width, "%q", line)
			}
			if text := screenText(term); height > most+1 {
				require.True(t, strings.HasPrefix(text, "$ command\n"), "%q", text)
			}
			key := keys.Draw(t, "key")
			switch rapid.IntRange(0, 9).Draw(t, "end") {
			case 0:
				key = "\r"
			case 1:
				key = rapid.SampledFrom([]string{"\x03", "\x04", "\x1b"}).Draw(t, "cancel")
			}
			before := m.text
			if end = m.Press(key); end != MenuChosen {
				continue
			}
			if m.At < 0 {
				require.NotEmpty(t, m.Other)
				require.Equal(t, before, m.Text())
				continue
			}
			item := strings.ToLower(m.Items[m.At].Name + " " + m.Items[m.At].Note)
			for word := range strings.FieldsSeq(strings.ToLower(before)) {
				require.Contains(t, item, word)
			}
		}
		m.Close("", width)
		if height > most+1 {
			require.Equal(t, "$ command\nstack:", screenText(term))
		}
	})
}

// A name comes before names that begin with the text, those before names that contain it, and those before notes.
func TestMenuOrder(t *testing.T) {
	t.Parallel()
	m := Menu{Items: []MenuItem{{"x", "dev"}, {"my-dev", ""}, {"dev-2", ""}, {"dev", ""}, {"prod", ""}}, At: 4}
	m.Open(newline{vt10x.New()})
	require.Equal(t, 4, m.matches[m.cursor])
	for _, key := range []string{"D", "e", "v"} {
		require.Equal(t, MenuOpen, m.Press(key))
	}
	require.Equal(t, []int{3, 2, 1, 0}, m.matches)
}
