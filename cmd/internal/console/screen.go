package console

import (
	"io"
	"sync"
	"text/tabwriter"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/osfile"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// GuardStreams sets the console's streams, filtered so that text from elsewhere, such as a name or a message, can
// neither control the terminal nor forge log lines. It returns the filtered streams.
func (a *Console) GuardStreams(s Streams) Streams {
	a.Screen, a.result = s.Err, s.Out
	s.Out = printable.NewWriter(s.Out, func() bool { return a.Color(a.Streams.OutTerminal) })
	s.Err = printable.NewWriter(s.Err, func() bool { return a.Color(a.Streams.ErrTerminal) })
	a.Streams = s
	return s
}

// A StreamUse says what a command of the Pulumi CLI writes to standard output.
type StreamUse int

const (
	// StreamData is the result for another program. All other text goes to standard error.
	StreamData StreamUse = iota
	// StreamEvents is StreamData for the events of an operation, which include its warnings.
	StreamEvents
	// StreamText carries text for a person about what the command has done. Diagnostics go to standard error.
	StreamText
	// StreamOperation shows a person an operation with its diagnostics.
	StreamOperation
)

// A standIn says where the text of a command goes under the name of the Pulumi CLI. The zero value changes nothing.
type standIn struct {
	use StreamUse
	// faults is the stream for errors that end a command, if Streams.Err is another one; else nil.
	faults         io.Writer
	faultsTerminal bool
}

// UseStreams sends to standard output what a command of the Pulumi CLI writes there. Errors that end a command stay on
// standard error. It must be called before the command writes anything.
func UseStreams(a *Console, use StreamUse) {
	a.StandIn.use = use
	if use < StreamText {
		return
	}
	a.StandIn.faults, a.StandIn.faultsTerminal = a.Streams.Err, a.Streams.ErrTerminal
	a.Screen, a.Streams.Err, a.Streams.ErrTerminal = a.result, a.Streams.Out, a.Streams.OutTerminal
}

// OperationWarns reports whether an operation shows the warnings about its program itself, between its header and its
// result, so that they are not shown before it begins.
func (s standIn) OperationWarns() bool { return s.use == StreamEvents || s.use == StreamOperation }

// forFaults returns the stream for errors that end a command, and reports whether it is a terminal.
func (s standIn) forFaults(streams Streams) (out io.Writer, terminal bool) {
	if s.faults == nil {
		return streams.Err, streams.ErrTerminal
	}
	return s.faults, s.faultsTerminal
}

// forFindings is forFaults for diagnostics.
func (s standIn) forFindings(streams Streams) (out io.Writer, terminal bool) {
	if s.use == StreamOperation {
		return streams.Err, streams.ErrTerminal
	}
	return s.forFaults(streams)
}

// Data returns the writer for results that another program reads. They are written unfiltered unless they go to a
// terminal.
func (a *Console) Data() io.Writer {
	if a.Streams.OutTerminal {
		return a.Streams.Out
	}
	return a.result
}

// WriteJSON writes v to standard output as indented JSON.
func (a *Console) WriteJSON(v any) error { return jsontext.Write(a.Streams.Out, v, "    ") }

// Show writes a result as JSON if asJSON is set, and otherwise as the table that write fills.
func (a *Console) Show(asJSON bool, result any, write func(table io.Writer)) error {
	if asJSON {
		return a.WriteJSON(result)
	}
	return Table(a.Streams.Out, write)
}

// Table writes a table to out. write writes its rows, in which a tab ends every cell but the last.
func Table(out io.Writer, write func(table io.Writer)) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write(table)
	return table.Flush()
}

// Plain converts a value to plain data for JSON. It hides secrets unless showSecrets is set.
func Plain(v value.Value, showSecrets bool) any {
	file := func(kind, content, hash string) value.Value {
		return value.MapOf(value.Entry{Key: kind, Value: value.String(content)}, value.Entry{Key: "hash", Value: value.String(hash)})
	}
	return project.PlainData(v.Transform(func(x value.Value) value.Value {
		if x.IsSecret() && !showSecrets {
			return value.String(HiddenSecret)
		}
		if r, ok := x.AsResource(); ok {
			return plainReference(r)
		}
		if asset, ok := x.AsAsset(); ok {
			return file("asset", asset.Text+asset.Path+asset.URI, asset.Hash)
		}
		if archive, ok := x.AsArchive(); ok {
			return file("archive", archive.Path+archive.URI, archive.Hash)
		}
		return x
	}))
}

// plainReference returns the URN and the ID of a resource that an output refers to (F1.7). A component has no ID; an
// unknown ID is empty. Unlike the Pulumi CLI's form, it lacks the key that marks references in states.
func plainReference(r *value.ResourceRef) value.Value {
	v := value.MapOf(value.Entry{Key: "urn", Value: value.String(string(r.URN))})
	if r.PackageVersion != "" {
		v = v.With("packageVersion", value.String(r.PackageVersion))
	}
	if !r.ID.IsNull() {
		id, _ := r.ID.AsString()
		v = v.With("id", value.String(id))
	}
	return v
}

// Block prints a text of several lines under a heading without other output in between. A CI system that can fold shows
// it as a group.
func (a *Console) Block(id, title string, text []byte) {
	blocks := &shared(a).blocks
	blocks.Lock()
	defer blocks.Unlock()
	if a.Reports.fold(id, title).Begin == "" {
		text = append([]byte("── "+title+"\n"), text...)
	}
	end := a.Reports.LogGroup(id, title)
	_, _ = a.Streams.Err.Write(text) // an error on standard error cannot be reported
	end()
}

// A Steady is a writer that never returns an error: a pipe whose reader has gone, or a full disk, must not stop an
// operation. After the first failed write it discards everything; Fault holds the reason. It is safe for concurrent
// use.
type Steady struct {
	mu    sync.Mutex // guards the fields below
	W     io.Writer
	Fault error
}

// Write writes p unless an earlier write has failed.
func (s *Steady) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fault == nil {
		_, s.Fault = s.W.Write(p)
	}
	return len(p), nil
}

// Broken returns why the output could not be written, or nil. gone reports whether the reader of the output has gone.
func (s *Steady) Broken() (fault error, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Fault, osfile.IsReaderGone(s.Fault)
}
