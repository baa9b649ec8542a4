package mask

import (
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
)

// LeastText is the minimum length in bytes of a text that is hidden inside of others; shorter texts occur everywhere.
const LeastText = 4

// Masker hides the secrets that it has learned. It is safe for concurrent use. The zero value is ready for use; a
// Masker must not be copied.
type Masker struct {
	mu      sync.RWMutex // guards the rest
	known   map[string]bool
	pending []string // patterns that are not in an automaton yet
	dict    dictionary
	names   map[string]bool // words in which nothing is hidden
}

// New returns a Masker that has learned the secrets in values.
func New(values ...value.Value) *Masker {
	m := &Masker{}
	m.Learn(values...)
	return m
}

// Learn adds every secret in values: strings, numbers and booleans, and the texts, paths and URIs of assets and
// archives. It ignores the keys of secret maps, because they are words that occur everywhere.
func (m *Masker) Learn(values ...value.Value) {
	for _, v := range values {
		if v.ContainsSecret() {
			m.learn(v, false)
		}
	}
}

func (m *Masker) learn(v value.Value, secret bool) {
	secret = secret || v.IsSecret()
	if secret {
		m.learnLeaf(v)
	}
	if archive, ok := v.AsArchive(); ok {
		m.learn(archive.Assets, secret)
	}
	for i := range v.Len() {
		m.learn(v.At(i), secret)
	}
}

func (m *Masker) learnLeaf(v value.Value) {
	if text, ok := v.AsString(); ok {
		m.LearnText(text)
	} else if number, ok := v.AsNumber(); ok {
		m.learnNumber(number)
	} else if truth, ok := v.AsBool(); ok {
		m.learnWhole(value.Bool(truth).String())
	} else if asset, ok := v.AsAsset(); ok {
		m.LearnText(asset.Text)
		m.LearnText(asset.Path)
		m.LearnText(asset.URI)
	} else if archive, ok := v.AsArchive(); ok {
		m.LearnText(archive.Path)
		m.LearnText(archive.URI)
	}
}

// LearnText adds a secret text, without surrounding spaces.
func (m *Masker) LearnText(text string) {
	text = strings.TrimSpace(text)
	if len(text) < LeastText {
		m.learnWhole(text)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[text] {
		return
	}
	add(&m.known, text)
	for _, form := range forms(text) {
		if len(form) <= longText {
			m.pending = append(m.pending, form)
			continue
		}
		m.dict.pieces.learn(form)
		m.pending = append(m.pending, form[:window]) // a Writer then holds back the beginning
	}
}

// LearnName adds names that are not secret even if they contain a secret, such as the URN of a resource and its type.
// Hide does not change them where they occur as separate words.
func (m *Masker) LearnName(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		add(&m.names, name)
	}
}

// inName reports whether s is part of a word that is a known name. The caller holds mu.
func (m *Masker) inName(text string, s span) bool {
	if len(m.names) == 0 {
		return false
	}
	const around = " \t\r\n\"'`()[]{}<>,;"
	from := strings.LastIndexAny(text[:s.from], around) + 1
	to := len(text)
	if n := strings.IndexAny(text[s.to:], around); n >= 0 {
		to = s.to + n
	}
	return m.names[strings.TrimRight(text[from:to], ".:")] && !strings.ContainsAny(text[s.from:s.to], around)
}

func (m *Masker) learnNumber(f float64) {
	forms := numberForms(f)
	if len(forms[0]) < LeastText {
		m.learnWhole(value.FormatNumber(f))
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, form := range forms {
		add(&m.dict.numbers, form)
		m.dict.longestNumber = max(m.dict.longestNumber, len(form))
	}
}

func (m *Masker) learnWhole(text string) {
	if text == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	add(&m.dict.whole, text)
}

// add adds a text to a set, and creates the set if it is nil.
func add(set *map[string]bool, text string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[text] = true
}

// lockForReading takes the read lock after all pending patterns are in automata.
func (m *Masker) lockForReading() {
	m.mu.RLock()
	for len(m.pending) > 0 {
		m.mu.RUnlock()
		m.mu.Lock()
		if len(m.pending) > 0 {
			m.dict.automata, m.pending = grown(m.dict.automata, m.pending), nil
		}
		m.mu.Unlock()
		m.mu.RLock()
	}
}

// Hide returns text with every known secret replaced by value.SecretText.
func (m *Masker) Hide(text string) string {
	if text == "" {
		return ""
	}
	m.lockForReading()
	defer m.mu.RUnlock()
	if trimmed := strings.TrimSpace(text); m.dict.whole[trimmed] {
		return strings.Replace(text, trimmed, value.SecretText, 1)
	}
	spans := m.dict.search(text, 0, none).spans
	if len(spans) == 0 {
		return text
	}
	var out strings.Builder
	i := 0
	for _, s := range spans {
		if m.inName(text, s) {
			continue
		}
		out.WriteString(text[i:s.from])
		out.WriteString(value.SecretText)
		i = s.to
	}
	out.WriteString(text[i:])
	return out.String()
}

// HideAll returns a new list with the result of Hide for each text.
func (m *Masker) HideAll(texts []string) []string {
	var hidden []string
	for _, t := range texts {
		hidden = append(hidden, m.Hide(t))
	}
	return hidden
}

// HideValue hides the known secrets in all strings and numbers in v. Values that are marked secret stay unchanged,
// because printing hides them. A hidden number becomes a string.
func (m *Masker) HideValue(v value.Value) value.Value {
	if m.Empty() {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		text, ok := x.AsString()
		if f, number := x.AsNumber(); number && !x.IsSecret() {
			text, ok = value.FormatNumber(f), m.knowsNumber(f)
		}
		if !ok || len(text) < LeastText { // every short string would count as a whole text
			return x
		}
		if hidden := m.Hide(text); hidden != text {
			return value.String(hidden).WithMarksOf(x)
		}
		return x
	})
}

func (m *Masker) knowsNumber(f float64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.dict.numbers[numberForms(f)[0]]
}

// Empty reports whether the Masker knows no secrets.
func (m *Masker) Empty() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.known) == 0 && len(m.dict.numbers) == 0 && len(m.dict.whole) == 0
}
