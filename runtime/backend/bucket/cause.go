//go:build !lean

package bucket

import (
	"errors"
	"net"
	"net/url"
	"path"
	"strings"
)

// plainCause returns what a person can do something about: of a failed connection, where to and why.
func plainCause(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err.Error()
	}
	return err.Error()
}

func contentType(key string) string {
	if strings.HasSuffix(path.Base(key), ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}
