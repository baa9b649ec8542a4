package view

import (
	"io"
	"sort"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value"
)

// Options say where and how to show an operation.
type Options struct {
	Out io.Writer // results: outputs, and JSON
	Err io.Writer // progress and diagnostics

	Interactive bool // Err is a terminal that can be redrawn
	Color       bool
	Width       int // of the terminal in columns; 0 for no limit
	Height      int // of the terminal in lines; 0 for 24
	JSON        bool

	ShowSames       bool
	ShowSecrets     bool
	ShowReads       bool
	Diff            bool // property changes of everything that changes, creations too
	SuppressOutputs bool
	// SuppressProgress leaves out everything before the summary that is no diagnostic.
	SuppressProgress bool

	Root      string // the project's folder, to which source positions are relative
	Operation string // what is going on, such as Previewing or Updating
	Stack     string // name
	// Crash is told of a panic in a goroutine of the view, and does not return; nil to let it end the process as Go does.
	Crash   func(fault any)
	Secrets []string // texts to mask wherever they appear (L9.34); those under 4 bytes are left alone

	// Source finds a text by its path, to show the place of a message; nil to show the place without its text.
	Source func(path string) *diag.Source
	// Property finds the value of an input property in the resource that stands at a place; nil for nobody to ask. It answers
	// false for one that is not written there.
	Property func(resource diag.Range, path string) (diag.Range, bool)
	// Found is told every finding that is shown; nil for nobody. It is called by one at a time.
	Found func(diag.Diagnostic)
}

// View shows one operation. Event and Close are called by one goroutine at a time.
type View struct {
	listener
}

// listener is one way of showing events.
type listener interface {
	Event(engine.Event)
	// Close ends the display; nothing is shown afterwards. It is safe to call twice.
	Close()
}

// New makes the view that fits the options.
func New(o Options) *View {
	mask := newMask(o.Secrets)
	switch {
	case o.JSON:
		return &View{newJSONLines(o, mask)}
	case o.Interactive:
		return &View{newLive(o, mask)}
	default:
		return &View{newPlain(o, mask)}
	}
}

// mask hides known secret texts wherever they appear.
type mask struct{ replacer *strings.Replacer }

func newMask(secrets []string) mask {
	var longest []string
	for _, s := range secrets {
		if len(s) >= 4 {
			longest = append(longest, s)
		}
	}
	if len(longest) == 0 {
		return mask{}
	}
	// A secret that holds another one has to go first, or its rest would stay visible.
	sort.Slice(longest, func(i, j int) bool { return len(longest[i]) > len(longest[j]) })
	pairs := make([]string, 0, 2*len(longest))
	for _, s := range longest {
		pairs = append(pairs, s, hiddenSecret)
	}
	return mask{strings.NewReplacer(pairs...)}
}

func (m mask) text(s string) string {
	if m.replacer == nil {
		return s
	}
	return m.replacer.Replace(s)
}

// value hides known secret texts in every text inside v.
func (m mask) value(v value.Value) value.Value {
	if m.replacer == nil {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		text, ok := x.AsString()
		if !ok {
			return x
		}
		if masked := m.replacer.Replace(text); masked != text {
			return value.String(masked).WithMarksOf(x)
		}
		return x
	})
}

// hiddenSecret is what stands for a secret on every output (F4.16).
const hiddenSecret = "[secret]"
