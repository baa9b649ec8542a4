package state

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Every field of a resource is compared: a change of any field makes the resources different.
func TestIdenticalLooksAtEveryField(t *testing.T) {
	t.Parallel()
	now, later := time.Unix(1, 0), time.Unix(2, 0)
	require.True(t, Identical(&Resource{Created: &now}, &Resource{Created: new(time.Unix(1, 0))}))
	require.True(t, Identical(&Resource{}, &Resource{Inputs: value.EmptyMap()}), "neither is written")
	fields := reflect.TypeFor[Resource]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		r := &Resource{Created: &now, Modified: &now}
		switch f := reflect.ValueOf(r).Elem().Field(i); f.Interface().(type) {
		case value.Value:
			f.Set(reflect.ValueOf(value.MapOf(value.Entry{Key: "a", Value: value.Number(1)})))
		case Timeouts:
			f.Set(reflect.ValueOf(Timeouts{Read: 1}))
		case *time.Time:
			f.Set(reflect.ValueOf(&later))
		case urn.Dependencies:
			f.Set(reflect.ValueOf(urn.NewDependencies([]string{"a"}, [][]urn.URN{nil})))
		case map[string]json.RawMessage:
			f.Set(reflect.ValueOf(map[string]json.RawMessage{"a": json.RawMessage("1")}))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString("a")
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Slice:
				f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			case reflect.Map:
				f.Set(reflect.MakeMap(f.Type()))
				f.SetMapIndex(reflect.New(f.Type().Key()).Elem(), reflect.New(f.Type().Elem()).Elem())
			default:
				t.Fatalf("the test does not know how to change %s", name)
			}
		}
		require.False(t, Identical(&Resource{Created: &now, Modified: &now}, r), name)
		require.False(t, Identical(r, &Resource{Created: &now, Modified: &now}), name)
		require.True(t, Identical(r, r.Clone()), name)
	}
}

// Values are compared as they are written, with their secrecy and every bit of numbers.
func TestIdenticalValues(t *testing.T) {
	t.Parallel()
	with := func(v value.Value) *Resource {
		return &Resource{Inputs: value.MapOf(value.Entry{Key: "a", Value: v})}
	}
	asset := func(text string) value.Value { return value.NewAsset(&value.Asset{Hash: "h", Text: text}) }
	for what, pair := range map[string][2]value.Value{
		"secrecy":                   {value.String("a"), value.String("a").Secret()},
		"the sign of zero":          {value.Number(0), value.Number(math.Copysign(0, -1))},
		"assets with the same hash": {asset("a"), asset("b")},
	} {
		require.True(t, Identical(with(pair[0]), with(pair[0])), what)
		require.False(t, Identical(with(pair[0]), with(pair[1])), what)
	}
}
