package serviceapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// server answers every request with the same bytes.
type server struct {
	status int
	body   []byte
	packed bool
	asked  int
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked++
	header := http.Header{}
	if s.packed && r.Header.Get("Accept-Encoding") == "gzip" {
		header.Set("Content-Encoding", "gzip")
	}
	return &http.Response{StatusCode: s.status, Header: header, Body: io.NopCloser(bytes.NewReader(s.body)), Request: r}, nil
}

// client returns a client of the server.
func (s *server) client(t *testing.T) *Client {
	t.Helper()
	c, err := New("https://service.example", Options{HTTP: &http.Client{Transport: s},
		Token: func() (string, error) { return "t", nil }})
	require.NoError(t, err)
	return c
}

// pack compresses a text.
func pack(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestLargeAnswers reads answers of several sizes, packed and not. Only a state may be large, if it is not packed much
// more tightly than states can be. A refused answer is not asked for again.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	block := make([]byte, 1<<16) // gzip cannot refer back as far as to the last block
	random := rand.New(rand.NewPCG(1, 2))
	for i := range block {
		block[i] = 'a' + byte(random.IntN(16))
	}
	quoted := func(n int, of []byte) []byte {
		return append(append([]byte{'"'}, bytes.Repeat(of, n/len(of))...), '"')
	}
	most := sizes{answer: 2 << 20, state: 8 << 20}
	small, dense, huge := quoted(1<<20, block), quoted(4<<20, block), quoted(12<<20, block)
	bomb := quoted(4<<20, []byte("a"))
	packedDense, packedBomb := pack(t, dense), pack(t, bomb)
	for name, c := range map[string]struct {
		body          []byte
		packed, state bool
		size          int // of the answer; 0 for a refusal
	}{
		"a small answer":              {small, false, false, len(small)},
		"a small answer, packed":      {pack(t, small), true, false, len(small)},
		"a bomb below the limit":      {pack(t, quoted(1<<20, []byte("a"))), true, false, 1<<20 + 2},
		"nothing, packed":             {nil, true, true, 0},
		"a large answer":              {dense, false, false, 0},
		"a large answer, packed":      {packedDense, true, false, 0},
		"a bomb":                      {packedBomb, true, false, 0},
		"a large state":               {bomb, false, true, len(bomb)},
		"a large state, packed":       {packedDense, true, true, len(dense)},
		"a huge state":                {huge, false, true, 0},
		"a huge state, packed":        {pack(t, huge), true, true, 0},
		"a bomb in place of a state":  {packedBomb, true, true, 0},
		"half of a packed answer":     {packedDense[:len(packedDense)/2], true, true, 0},
		"a packed answer that is not": {small, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{status: http.StatusOK, body: c.body, packed: c.packed}
			var got json.RawMessage
			client := s.client(t)
			client.most = most
			err := client.Do(t.Context(), Call{Method: http.MethodGet, Path: "/x", State: c.state}, &got)
			require.Equal(t, c.size, len(got))
			switch {
			case c.size > 0 || len(c.body) == 0:
				require.NoError(t, err)
			case strings.Contains(name, "packed answer"): // may be better the next time
				require.ErrorAs(t, err, new(*AwayError))
				require.Equal(t, 5, s.asked)
				return
			default:
				require.ErrorContains(t, err, "its answer is larger than ")
				require.NotErrorAs(t, err, new(*AwayError))
			}
			require.Equal(t, 1, s.asked)
		})
	}
}

// TestLongMessages expects that a message of a service is shortened and remains text.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"a", "é", "漢", "\xff", "\x1b[31m"} {
		body, err := json.Marshal(map[string]string{"message": strings.Repeat(letter, 5<<20/len(letter))})
		require.NoError(t, err)
		s := &server{status: http.StatusBadRequest, body: body}
		err = s.client(t).Do(t.Context(), Call{Method: http.MethodPost, Path: "/x"}, nil)
		require.Equal(t, http.StatusBadRequest, Status(err))
		require.True(t, utf8.ValidString(err.Error()))
		require.True(t, strings.HasSuffix(err.Error(), "…"), err.Error())
		require.Less(t, utf8.RuneCountInString(err.Error()), 5*longestMessage)
	}
}
