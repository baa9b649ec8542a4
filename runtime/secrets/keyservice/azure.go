//go:build azurekeyvault

package keyservice

import _ "gocloud.dev/secrets/azurekeyvault" // knows azurekeyvault://

func azureOpener() opener { return openKeeper }
