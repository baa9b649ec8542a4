package protocol

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"

	"github.com/yamlhost/yamlhost/internal/jsontext"
)

// Error codes of JSON-RPC and the Language Server Protocol.
const (
	ParseError       = -32700
	InvalidRequest   = -32600
	MethodNotFound   = -32601
	InvalidParams    = -32602
	InternalError    = -32603
	RequestCancelled = -32800
)

// Error is the answer to a failed request.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a code and a formatted message.
func Errorf(code int, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Message is a request, or a notification if ID is nil.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// maxLength is the maximum length of a message in bytes.
const maxLength = 64 << 20

// Connection reads and writes JSON-RPC 2.0 messages, each preceded by a header with its length. One goroutine may read
// while any number of others write.
type Connection struct {
	in *textproto.Reader

	mu  sync.Mutex
	out io.Writer // guarded by mu
}

// NewConnection returns a connection over r and out. The caller keeps ownership of both.
func NewConnection(r io.Reader, out io.Writer) *Connection {
	return &Connection{in: textproto.NewReader(bufio.NewReader(r)), out: out}
}

// Read waits for the next message. An *Error concerns that message only. After any other error nothing more can be
// read; io.EOF is returned when the client has closed its end.
func (c *Connection) Read() (Message, error) {
	header, err := c.in.ReadMIMEHeader()
	if err != nil {
		return Message{}, err
	}
	length, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return Message{}, fmt.Errorf("a message has the length %q", header.Get("Content-Length"))
	}
	if length > maxLength {
		// The message is skipped, so that the next one begins where it should.
		if _, err := io.CopyN(io.Discard, c.in.R, length); err != nil {
			return Message{}, err
		}
		return Message{}, Errorf(InvalidRequest, "a message may have at most %d MiB", maxLength>>20)
	}
	var body bytes.Buffer // grows while reading, so that a wrong length allocates no memory
	if _, err := io.CopyN(&body, c.in.R, length); err != nil {
		return Message{}, err
	}
	var m Message
	if err := json.Unmarshal(body.Bytes(), &m); err != nil {
		// JSON that is no message, such as a list, is another fault than a text that is not JSON.
		if !json.Valid(body.Bytes()) {
			return Message{}, Errorf(ParseError, "%v", err)
		}
		return Message{}, Errorf(InvalidRequest, "%v", err)
	}
	return m, nil
}

// Notify sends a notification.
func (c *Connection) Notify(method string, params any) error {
	return c.write(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
}

// Reply answers a request with failure if it is not nil, else with result.
func (c *Connection) Reply(id json.RawMessage, result any, failure error) error {
	if failure == nil {
		return c.write(struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  any             `json:"result"`
		}{"2.0", id, result})
	}
	var answer *Error
	switch {
	case errors.As(failure, &answer):
	case errors.Is(failure, context.Canceled):
		answer = &Error{RequestCancelled, "the request was cancelled"}
	default:
		answer = &Error{InternalError, failure.Error()}
	}
	return c.write(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *Error          `json:"error"`
	}{"2.0", id, answer})
}

// write encodes a message before it takes the lock, so that a value that cannot be encoded writes nothing.
func (c *Connection) write(message any) error {
	var body bytes.Buffer
	if err := jsontext.Write(&body, message, ""); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n", body.Len()); err != nil {
		return err
	}
	_, err := c.out.Write(body.Bytes())
	return err
}
