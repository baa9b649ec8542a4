//go:build gcpkms

package keyservice

import _ "gocloud.dev/secrets/gcpkms" // knows gcpkms://

func googleOpener() opener { return openKeeper }
