package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// Secure is a ciphertext inside of a configuration value.
type Secure string

// MarshalJSON returns the form of stack files and history records: {"secure": "…"}.
func (s Secure) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"secure": string(s)})
}

var (
	errNotFinite  = errors.New("infinite numbers and NaN cannot be passed to a program")
	errTooDeep    = errors.New("it is nested too deeply")
	errTooLarge   = errors.New("it has too many parts after its aliases are expanded")
	errBadMapKeys = errors.New("keys of a map must be strings")
)

const (
	maxDepth = 200
	maxNodes = 1_000_000
)

// decoder turns nodes into plain data: nil, bool, int64, uint64, float64, json.Number for an integer whose digits none
// of these keeps, string, time.Time, []any, map[string]any, and Secure where secrets are allowed.
type decoder struct {
	secure bool
	nodes  int
}

func (d *decoder) decode(n *yamlnode.Node, depth int) (any, error) {
	if d.nodes++; d.nodes > maxNodes {
		return nil, errTooLarge
	}
	if depth > maxDepth {
		return nil, errTooDeep
	}
	n = n.Target()
	switch n.Kind {
	case yamlnode.Map:
		return d.decodeMap(n, depth)
	case yamlnode.List:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if list[i], err = d.decode(item, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return decodeScalar(n)
}

func (d *decoder) decodeMap(n *yamlnode.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := keyText(n.Content[i])
		if err != nil {
			return nil, err
		}
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("key %s comes twice", key)
		}
		if m[key], err = d.decode(n.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	if d.secure && len(m) == 1 {
		if ciphertext, ok := m["secure"].(string); ok {
			return Secure(ciphertext), nil
		}
	}
	return m, nil
}

// keyText returns a map key as text; numbers, booleans and null become their text.
func keyText(n *yamlnode.Node) (string, error) {
	n = n.Target()
	if n.Kind != yamlnode.Scalar {
		return "", errBadMapKeys
	}
	v, err := decodeScalar(n)
	if err != nil {
		return "", err
	}
	if v == nil {
		return n.Value, nil
	}
	return scalarText(v)
}

func decodeScalar(n *yamlnode.Node) (any, error) {
	if n.Tag == yamlnode.NoTag || n.Tag == yamlnode.OtherTag && !strings.HasPrefix(n.TagText(), "!!") {
		return n.Value, nil // a custom tag is ignored (L1.25)
	}
	v, err := n.Data()
	if err != nil {
		return nil, fmt.Errorf("%q does not fit its tag %s", n.Value, n.TagText())
	}
	switch x := v.(type) {
	case int:
		return int64(x), nil
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, errNotFinite
		}
		if digits := strings.ReplaceAll(n.Value, "_", ""); jsontext.LosesDigits(digits) {
			return json.Number(strings.TrimPrefix(digits, "+")), nil
		}
	}
	return v, nil
}

// scalarText returns a top-level scalar as programs get it (F3.9): YAML typing comes first, so 010 is 8 and null is
// empty; other numbers are JSON. An integer that 64 bits do not hold is rounded, as in Pulumi; inside of lists and maps
// it keeps its digits.
func scalarText(v any) (string, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case bool:
		return strconv.FormatBool(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case uint64:
		return strconv.FormatUint(x, 10), nil
	case float64:
		return jsontext.Compact(x)
	case json.Number:
		f, _ := x.Float64()
		return scalarText(f)
	case time.Time:
		return x.String(), nil
	}
	return "", errors.New("it is not a plain value")
}

// rounded returns the warning about data at a place that scalarText rounds, and whether it does.
func rounded(v any, at diag.Range) (d diag.Diagnostic, found bool) {
	n, found := v.(json.Number)
	if !found {
		return d, false
	}
	f, _ := n.Float64()
	return diag.LosesDigits(at, n.String(), f), true
}

// dataText is data as programs get it: scalars as text, lists and maps as compact JSON (F3.12).
func dataText(v any) (string, error) {
	switch x := v.(type) {
	case []any, map[string]any:
		return jsontext.Compact(x)
	case time.Time:
		return x.Format(time.RFC3339Nano), nil // only in the project file; stack files differ (F3.9)
	}
	return scalarText(v)
}

// FromJSON returns a configuration value from the JSON in history records, with ciphertexts as Secure.
func FromJSON(text []byte) (any, error) {
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	var v any
	err := numbers.Decode(&v)
	if err == nil {
		text, err = json.Marshal(v) // without \/ and surrogate pairs, which YAML does not read
	}
	if err != nil {
		return nil, errors.New("the value is not JSON")
	}
	root, err := yamlnode.Parse(text)
	if err != nil {
		return nil, errors.New("the value is not JSON")
	}
	return (&decoder{secure: true}).decode(root, 0)
}

// HasSecure reports whether there is a ciphertext anywhere in v.
func HasSecure(v any) bool {
	switch x := v.(type) {
	case Secure:
		return true
	case []any:
		return slices.ContainsFunc(x, HasSecure)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(x)), HasSecure)
	}
	return false
}

// MapSecure returns a copy of v in which fn has taken the place of every ciphertext.
func MapSecure(v any, fn func(Secure) (any, error)) (any, error) {
	switch x := v.(type) {
	case Secure:
		return fn(x)
	case []any:
		list := make([]any, len(x))
		for i, item := range x {
			var err error
			if list[i], err = MapSecure(item, fn); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		m := make(map[string]any, len(x))
		for k, item := range x {
			var err error
			if m[k], err = MapSecure(item, fn); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return v, nil
}
