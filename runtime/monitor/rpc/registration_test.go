package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// A registration has timeouts also when none is set, as those of Pulumi's own host do; a transform gets none then.
func TestTimeoutsThatAreNotSet(t *testing.T) {
	t.Parallel()
	registration, err := registerMessage(wire.KeepAll(), monitor.RegisterRequest{})
	require.NoError(t, err)
	require.NotNil(t, registration.GetCustomTimeouts())
	transformed, err := transformRequest(monitor.RegisterRequest{}, true)
	require.NoError(t, err)
	require.Nil(t, transformed.GetOptions().GetCustomTimeouts())
}
