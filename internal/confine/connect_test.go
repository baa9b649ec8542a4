//go:build !js

package confine

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// The client does not reach a server of this machine.
func TestClient(t *testing.T) {
	t.Parallel()
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(server.Close)
	_, err := Client().Get(server.URL)
	var refused *AddressError
	require.ErrorAs(t, err, &refused)
	require.False(t, reached)
}
