package program

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// Unpack writes the content of a gzipped file, such as the schema of a provider, into another file.
func Unpack(packed, plain string) error {
	from, err := os.Open(packed)
	if err != nil {
		return err
	}
	defer from.Close()
	z, err := gzip.NewReader(from)
	if err != nil {
		return err
	}
	to, err := os.Create(plain)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, z)
	return errors.Join(err, to.Close())
}
