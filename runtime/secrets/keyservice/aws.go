//go:build !lean

package keyservice

import _ "gocloud.dev/secrets/awskms" // knows awskms://

func awsOpener() opener { return openKeeper(nil) }
