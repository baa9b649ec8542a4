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
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Error()
	}
	var request *url.Error
	if errors.As(err, &request) {
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
