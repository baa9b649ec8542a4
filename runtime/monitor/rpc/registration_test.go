package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// A registration always has timeouts, as with Pulumi's own hosts; a transform has them only if one is set.
func TestTimeoutsThatAreNotSet(t *testing.T) {
	t.Parallel()
	registration, err := registerMessage(wire.KeepAll(), monitor.RegisterRequest{})
	require.NoError(t, err)
	require.NotNil(t, registration.GetCustomTimeouts())
	transformed, err := transformRequest(monitor.RegisterRequest{}, true)
	require.NoError(t, err)
	require.Nil(t, transformed.GetOptions().GetCustomTimeouts())
}
