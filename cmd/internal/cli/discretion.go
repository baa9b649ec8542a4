package cli

import (
	"errors"
	"io"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
)

// leastSecret is how long a secret text must be to be hidden where it appears in others: shorter ones would be everywhere.
const leastSecret = 4

// discretion knows the secret texts that went to providers or came from them, and hides them in what providers say: in
// errors, whose reasons end up in the state, in logs, and in findings. It is safe for concurrent use.
type discretion struct {
	mu       sync.Mutex
	known    map[string]bool
	replacer *strings.Replacer // nil when known has grown since
}

func newDiscretion(texts []string) *discretion {
	d := &discretion{known: map[string]bool{}}
	for _, t := range texts {
		d.add(t)
	}
	return d
}

// learn takes the texts of every secret inside of values.
func (d *discretion) learn(values ...value.Value) {
	for _, v := range values {
		if v.ContainsSecret() {
			d.walk(v, false)
		}
	}
}

func (d *discretion) walk(v value.Value, secret bool) {
	secret = secret || v.IsSecret()
	if text, ok := v.AsString(); ok && secret {
		d.add(text)
	}
	if v.Is(value.KindList) || v.Is(value.KindMap) {
		for i := range v.Len() {
			d.walk(v.At(i), secret)
		}
	}
}

func (d *discretion) add(text string) {
	if len(text) < leastSecret {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	quoted := strconv.Quote(text)
	for _, t := range [...]string{text, quoted[1 : len(quoted)-1]} { // as Go and JSON quote it
		if !d.known[t] {
			d.known[t], d.replacer = true, nil
		}
	}
}

// hide is a text without the secrets that are known.
func (d *discretion) hide(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) == 0 || text == "" {
		return text
	}
	if d.replacer == nil {
		longest := make([]string, 0, len(d.known))
		for t := range d.known {
			longest = append(longest, t)
		}
		// One that holds another has to go first, or its rest would stay visible.
		sort.Slice(longest, func(i, j int) bool {
			if len(longest[i]) != len(longest[j]) {
				return len(longest[i]) > len(longest[j])
			}
			return longest[i] < longest[j]
		})
		pairs := make([]string, 0, 2*len(longest))
		for _, t := range longest {
			pairs = append(pairs, t, "[secret]")
		}
		d.replacer = strings.NewReplacer(pairs...)
	}
	return d.replacer.Replace(text)
}

// event is an event whose text, if it has one of its own, hides what is known.
func (d *discretion) event(e engine.Event) engine.Event {
	m, ok := e.(*engine.Message)
	if !ok {
		return e
	}
	if text := d.hide(m.Text); text != m.Text {
		discreet := *m
		discreet.Text = text
		return &discreet
	}
	return e
}

// error is a provider's error that hides what is known, and is still what it was to the engine.
func (d *discretion) error(err error) error {
	if err == nil || d.hide(err.Error()) == err.Error() {
		return err
	}
	var failure *provider.Error
	var crash *provider.CrashError
	switch {
	case errors.As(err, &failure):
		discreet := *failure
		discreet.Message, discreet.Properties = d.hide(failure.Message), d.failures(failure.Properties)
		discreet.Reasons = nil
		for _, r := range failure.Reasons {
			discreet.Reasons = append(discreet.Reasons, d.hide(r))
		}
		return &discreet
	case errors.As(err, &crash):
		discreet := *crash
		discreet.Output = d.hide(crash.Output)
		return &discreet
	}
	return &discreetError{d.hide(err.Error()), err}
}

func (d *discretion) failures(list []provider.Failure) []provider.Failure {
	var discreet []provider.Failure
	for _, f := range list {
		discreet = append(discreet, provider.Failure{Property: f.Property, Reason: d.hide(f.Reason)})
	}
	return discreet
}

type discreetError struct {
	text  string
	cause error
}

func (e *discreetError) Error() string { return e.text }

func (e *discreetError) Unwrap() error { return e.cause }

// discreetWriter hides what is known in what is written for people. A secret that comes in two pieces is not found.
type discreetWriter struct {
	io.Writer
	discreet *discretion
}

// Write reports all of p as written when what it stands for was.
func (w discreetWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, w.discreet.hide(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// discreetErr is where progress and findings go: excerpts of the program would show secrets that are written in it.
func (p *pipeline) discreetErr() io.Writer {
	if p.options.showSecrets {
		return p.app.streams.Err
	}
	return discreetWriter{p.app.streams.Err, p.stage.secrets()}
}
