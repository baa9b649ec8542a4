package console

import (
	"errors"
	"os"
)

// PlainError is an error of the file system without the name of the file, which is said already.
func PlainError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
