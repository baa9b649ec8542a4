package console

import (
	"errors"
	"os"
)

// PlainError is an error of the file system without the name of the file, which is said already.
func PlainError(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
