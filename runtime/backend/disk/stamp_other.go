//go:build !linux

package disk

import "github.com/yamlhost/yamlhost/internal/osfile"

// ReadUnless always reads: there are no stamps on this system.
func (Real) ReadUnless(path string, _ Stamp) (text []byte, now Stamp, err error) {
	text, err = osfile.ReadFile(path)
	return text, Stamp{}, err
}
