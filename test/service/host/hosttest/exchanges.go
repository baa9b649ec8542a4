// Package hosttest reads recorded sessions, for tests of the server and of its clients.
package hosttest

import (
	"compress/gzip"
	"encoding/json"
	"os"

	"github.com/yamlhost/yamlhost/test/service/host"
)

// Exchanges reads a file that the server has recorded, compressed by gzip.
func Exchanges(path string) (list []host.Exchange, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(text); d.More(); {
		var e host.Exchange
		if err := d.Decode(&e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
