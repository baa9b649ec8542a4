package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the maximum length of a message in bytes.
const maxLine = 16 << 20

// lines is a transport with one message on each line. The SDK's own transport ends the session at a line that is not a
// message; this one answers with an error and reads on. The caller keeps ownership of the streams.
type lines struct {
	in  io.Reader
	out io.Writer
}

// Connect starts to read lines.
func (t lines) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConnection{out: t.out, incoming: make(chan line), closed: make(chan struct{})}
	go c.readLines(bufio.NewReader(t.in)) // ends at the end of the input, or with the first line after Close
	return c, nil
}

// lineConnection is a connection of the transport lines.
type lineConnection struct {
	incoming chan line // ends with a line that has an error
	once     sync.Once
	closed   chan struct{}

	mu  sync.Mutex
	out io.Writer // guarded by mu
}

// line is a line of input without its end.
type line struct {
	text []byte
	long bool // it exceeds maxLine, and text is nil
	err  error
}

// readLines sends each line to incoming, until the input ends or the connection is closed.
func (c *lineConnection) readLines(r *bufio.Reader) {
	for {
		next := readLine(r)
		select {
		case c.incoming <- next:
		case <-c.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

// readLine reads a line. The last one may lack its end.
func readLine(r *bufio.Reader) line {
	var l line
	for size := 0; ; {
		// ReadSlice returns a part of a line that is longer than the buffer; its memory is valid until the next call.
		part, err := r.ReadSlice('\n')
		if size += len(part); size > maxLine {
			// The rest of the line is read and dropped, so that the next line is a message again.
			l.text, l.long = nil, true
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && size > 0:
			return l
		case !errors.Is(err, bufio.ErrBufferFull):
			return line{err: err}
		}
	}
}

// SessionID is empty: a stream has one session.
func (c *lineConnection) SessionID() string { return "" }

// Close ends reading. The streams remain open.
func (c *lineConnection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message. It answers lines that are not messages itself.
func (c *lineConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var l line
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l = <-c.incoming:
		}
		// readLines has ended and sends nothing more.
		if l.err != nil {
			return nil, l.err
		}
		text := bytes.TrimSpace(l.text)
		if len(text) == 0 && !l.long {
			continue
		}
		message, refused := decode(text, l.long)
		if refused == nil {
			return message, nil
		}
		answer, err := json.Marshal(refused)
		if err == nil {
			err = c.write(answer)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Write sends a message.
func (c *lineConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	return c.write(text)
}

// write writes a line. Read writes answers, too, hence the lock.
func (c *lineConnection) write(text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// refusal is the answer to a line that is not a message.
type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null if the line has no usable one
	Error   *jsonrpc.Error  `json:"error"`
}

// decode returns the message on a line, or the answer to a line that is none.
func decode(text []byte, long bool) (jsonrpc.Message, *refusal) {
	refuse := func(id json.RawMessage, code int64, format string, args ...any) (jsonrpc.Message, *refusal) {
		return nil, &refusal{"2.0", id, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	if long {
		return refuse(nil, jsonrpc.CodeInvalidRequest, "the line is longer than %d MiB", maxLine>>20)
	}
	if !json.Valid(text) {
		return refuse(nil, jsonrpc.CodeParseError, "the line is not JSON; each message is one line of JSON")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		why := "a message is an object"
		if text[0] == '[' {
			why = "batches are not supported: send each message on a line of its own"
		}
		return refuse(nil, jsonrpc.CodeInvalidRequest, "%s", why)
	}
	id := members["id"]
	if !usableID(id) {
		return refuse(nil, jsonrpc.CodeInvalidRequest, "the id is neither a text nor an integer below 2^53")
	}
	if members["method"] == nil && members["result"] == nil && members["error"] == nil {
		return refuse(id, jsonrpc.CodeInvalidRequest, "the message has no method")
	}
	// What it refuses by itself would have no ID in the answer, hence the tests before.
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return refuse(id, jsonrpc.CodeInvalidRequest, "%v", err)
	}
	return message, nil
}

// usableID reports whether the SDK keeps an id as it is. It reads numbers as float64. A notification has no id.
func usableID(id json.RawMessage) bool {
	// The text is valid JSON, and so it is not empty and a quote begins a string.
	if id == nil || id[0] == '"' || string(id) == "null" {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n > -1<<53 && n < 1<<53
}
