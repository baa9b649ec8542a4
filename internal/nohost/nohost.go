// Package nohost recognizes errors of clients whose host has no address, and words them.
package nohost

import (
	"context"
	"errors"
	"net"
)

// Error is a host whose address is not found.
type Error struct{ Host string }

// Error names the host, and what may be the matter.
func (e *Error) Error() string {
	return "the host " + e.Host + " is not found: there is no network, or the name is wrong"
}

// In returns the host whose address was not found, because it has none or no server of names answers; empty for another
// error. A server that answers with a fault may recover, so that is another error, and so is a cancelled request.
func In(err error) string {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Host
	}
	fault, ok := errors.AsType[*net.DNSError](err)
	if !ok || errors.Is(err, context.Canceled) || fault.IsTemporary && !fault.IsTimeout {
		return ""
	}
	return fault.Name
}
