package protocol

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func framed(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// TestRead reads valid messages after invalid ones, until the client closes its end.
func TestRead(t *testing.T) {
	t.Parallel()
	c := NewConnection(strings.NewReader(framed(`{"id":`)+framed(`{"method":3}`)+framed(`[]`)+
		"content-type: application/vscode-jsonrpc; charset=utf-8\r\n"+framed(`{"id":"a","method":"m","params":["😀"]}`)+
		framed(`{"method":"n"}`)), io.Discard)
	for _, code := range []int{ParseError, InvalidRequest, InvalidRequest} {
		_, err := c.Read()
		var bad *Error
		require.ErrorAs(t, err, &bad)
		require.Equal(t, code, bad.Code)
	}
	m, err := c.Read()
	require.NoError(t, err)
	require.Equal(t, Message{ID: []byte(`"a"`), Method: "m", Params: []byte(`["😀"]`)}, m)
	m, err = c.Read()
	require.NoError(t, err)
	require.Equal(t, Message{Method: "n"}, m)
	_, err = c.Read()
	require.ErrorIs(t, err, io.EOF)
}

// TestReadOfWhatIsNoMessage checks errors after which nothing more can be read. A wrong length must not allocate
// memory.
func TestReadOfWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Content-Length: -1\r\n\r\n":                   `the length "-1"`,
		"Content-Length: 99999999999\r\n\r\n":          "EOF",
		"Content-Length: 99999999999999999999\r\n\r\n": `the length "99999999999999999999"`,
		"Content-Type: text\r\n\r\n{}":                 `the length ""`,
		"{\"jsonrpc\":\"2.0\"}\r\n\r\n":                "malformed",
		"Content-Length: 1000000000\r\n\r\n{}":         "EOF",
		"Content-Length: 2\r\nContent-Type: tex":       "EOF",
	} {
		_, err := NewConnection(strings.NewReader(text), io.Discard).Read()
		require.ErrorContains(t, err, want, text)
		require.NotErrorAs(t, err, new(*Error), text)
	}
}

// TestReadOfLongMessages: a message beyond the limit is refused, and what follows it is read.
func TestReadOfLongMessages(t *testing.T) {
	t.Parallel()
	long := func(length int) io.Reader {
		return io.MultiReader(strings.NewReader(fmt.Sprintf("Content-Length: %d\r\n\r\n{", length)),
			io.LimitReader(spaces{}, int64(length)-2), strings.NewReader("}"))
	}
	c := NewConnection(io.MultiReader(long(maxLength), long(maxLength+1), long(2*maxLength),
		strings.NewReader(framed(`{"method":"n"}`))), io.Discard)
	_, err := c.Read()
	require.NoError(t, err)
	for range 2 {
		_, err = c.Read()
		var bad *Error
		require.ErrorAs(t, err, &bad)
		require.Equal(t, &Error{InvalidRequest, "a message may have at most 64 MiB"}, bad)
	}
	m, err := c.Read()
	require.NoError(t, err)
	require.Equal(t, Message{Method: "n"}, m)
}

// spaces is an endless text of spaces.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestReply checks the JSON of results, errors and notifications.
func TestReply(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := NewConnection(strings.NewReader(""), &out)
	require.NoError(t, c.Reply([]byte("1"), "<svg>", nil))
	require.NoError(t, c.Reply([]byte(`"2"`), nil, fmt.Errorf("as asked: %w", context.Canceled)))
	require.NoError(t, c.Reply(nil, nil, Errorf(ParseError, "bad")))
	require.NoError(t, c.Reply([]byte("3"), (*CompletionList)(nil), nil))
	require.NoError(t, c.Reply([]byte("4"), nil, io.ErrNoProgress))
	require.NoError(t, c.Notify("m", None{}))
	body := func(text string) string { return framed(text + "\n") }
	require.Equal(t, body(`{"jsonrpc":"2.0","id":1,"result":"<svg>"}`)+
		body(`{"jsonrpc":"2.0","id":"2","error":{"code":-32800,"message":"the request was cancelled"}}`)+
		body(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}`)+
		body(`{"jsonrpc":"2.0","id":3,"result":null}`)+
		body(`{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"`+io.ErrNoProgress.Error()+`"}}`)+
		body(`{"jsonrpc":"2.0","method":"m","params":{}}`), out.String())
}
