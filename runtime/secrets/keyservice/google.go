//go:build !lean

package keyservice

import (
	"strings"

	_ "gocloud.dev/secrets/gcpkms" // knows gcpkms://
)

func googleOpener() opener { return openKeeper(plainGoogle) }

// plainGoogle leaves out how gRPC introduces a status.
func plainGoogle(err error) string {
	_, status, found := strings.Cut(err.Error(), "rpc error: code = ")
	code, text, described := strings.Cut(status, " desc = ")
	if !found || !described {
		return ""
	}
	return code + ": " + text
}
