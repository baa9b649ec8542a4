// Packschema makes the schema of an embedded provider from a package's schema file: it removes white space, sets the
// version that the provider follows, and compresses the result. The order of keys and all texts stay unchanged.
//
//	cd runtime/embedded/schemas
//	go run ../../../cmd/internal/packschema -version 0.1.1 -o time.json.gz time.json
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	version := flag.String("version", "", "the version of the package, where its schema has none")
	target := flag.String("o", "", "the file to write")
	flag.Parse()
	if flag.NArg() != 1 || *target == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := pack(flag.Arg(0), *target, *version); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pack reads a schema file, compressed or not, and writes it to target without white space, with the version set, and
// compressed.
func pack(source, target, version string) error {
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if strings.HasSuffix(source, ".gz") {
		if data, err = unzip(data); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	text, err := packed(data, version)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, out.Bytes(), 0o644)
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// packed returns the schema without white space and with its version set.
func packed(data []byte, version string) ([]byte, error) {
	var head struct{ Name, Version string }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, data); err != nil {
		return nil, err
	}
	switch {
	case head.Name == "":
		return nil, errors.New("this is not a schema of a package")
	case head.Version != "" && version != "" && head.Version != version:
		return nil, fmt.Errorf("the schema is of version %s, not %s", head.Version, version)
	case head.Version != "":
		return out.Bytes(), nil
	case version == "":
		return nil, errors.New("the schema has no version: give -version")
	}
	return append(fmt.Appendf(nil, `{"version":%q,`, version), out.Bytes()[1:]...), nil
}
