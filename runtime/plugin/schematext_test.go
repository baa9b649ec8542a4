package plugin

import (
	"bytes"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// split returns message in buffers of size bytes.
func split(message []byte, size int) mem.BufferSlice {
	var buffers mem.BufferSlice
	for len(message) > 0 {
		n := min(size, len(message))
		buffers = append(buffers, mem.SliceBuffer(message[:n]))
		message = message[n:]
	}
	return buffers
}

func field(number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), text)
}

func TestSchemaText(t *testing.T) { // F2.16
	t.Parallel()
	long := strings.Repeat("0123456789", 50)
	others := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), 1<<40)
	others = protowire.AppendFixed32(protowire.AppendTag(others, 8, protowire.Fixed32Type), 1)
	others = protowire.AppendFixed64(protowire.AppendTag(others, 9, protowire.Fixed64Type), 1)
	others = append(others, field(10, "other")...)
	cases := map[string]struct {
		message []byte
		want    string
		damaged bool
	}{
		"nothing":          {nil, "", false},
		"one":              {field(1, long), long, false},
		"last of two":      {append(field(1, "early"), field(1, long)...), long, false},
		"among others":     {bytes.Join([][]byte{others, field(1, long), others}, nil), long, false},
		"cut in the text":  {field(1, long)[:100], "", true},
		"cut in its size":  {field(1, long)[:2], "", true},
		"cut in a number":  {others[:2], "", true},
		"cut in fixed":     {append(field(1, "x"), 0x41, 1), "", true},
		"a group":          {[]byte{0x0b}, "", true},
		"size of too much": {[]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "", true},
	}
	for name, c := range cases {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(name+" in "+strconv.Itoa(size), func(t *testing.T) {
				t.Parallel()
				var got schemaText
				err := newCodec().Unmarshal(split(c.message, size), &got)
				defer got.release()
				if c.damaged {
					require.ErrorIs(t, err, errSchemaMessage)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.want, string(got.bytes()))
				require.NoError(t, iotest.TestReader(got.open(), []byte(c.want)))
				require.Equal(t, c.want, got.message().GetSchema())
			})
		}
	}
}

// bigSchema is a provider with nothing but a schema.
type bigSchema struct {
	provider.Provider
	text []byte
}

func (p bigSchema) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return p.text, nil
}
func (bigSchema) Close() error                                { return nil }
func (bigSchema) Cancel(context.Context) error                { return nil }
func (bigSchema) Info(context.Context) (provider.Info, error) { return provider.Info{}, nil }

// A schema that spans many frames arrives complete, can be read twice and appears in the trace (F2.39).
func TestReadSchema(t *testing.T) {
	t.Parallel()
	want := []byte(`{"name":"big","description":"` + strings.Repeat("x", 5<<20) + `"}`)
	address, stop, err := Serve(bigSchema{text: want})
	require.NoError(t, err)
	t.Cleanup(stop)
	_, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	var trace bytes.Buffer
	host := NewHost(Options{DebugProviders: map[string]int{"big": port}, Trace: &trace})
	p, err := host.Load(t.Context(), provider.Package{Name: "big"})
	require.NoError(t, err)
	err = p.(provider.SchemaReader).ReadSchema(t.Context(), provider.SchemaRequest{}, func(open func() io.Reader) error {
		_, err := io.CopyN(io.Discard, open(), 1000)
		require.NoError(t, err)
		got, err := io.ReadAll(open())
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		return io.ErrNoProgress
	})
	require.ErrorIs(t, err, io.ErrNoProgress)
	got, err := p.Schema(t.Context(), provider.SchemaRequest{})
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.NoError(t, host.Close())
	require.Contains(t, trace.String(), `{\"name\":\"big\"`)
}

func FuzzSchemaText(f *testing.F) {
	f.Add(field(1, "text"))
	f.Add(append(field(2, "other"), field(1, "text")...))
	f.Fuzz(func(t *testing.T, message []byte) {
		var got schemaText
		if got.receive(split(message, 5)) == nil {
			require.Len(t, got.bytes(), got.size)
			got.release()
		}
	})
}
