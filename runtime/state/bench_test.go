package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// sample is a sound snapshot of n resources with about three kilobytes of JSON each.
func sample(n int) *Snapshot {
	t := time.Date(2026, 11, 20, 17, 47, 33, 744950003, time.UTC)
	stack := &Resource{URN: urn.RootStack("dev", "bench"), Type: urn.RootStackType, Created: &t, Modified: &t}
	provider := &Resource{URN: urn.New("dev", "bench", "", "pulumi:providers:aws", "default"),
		Type: "pulumi:providers:aws", Custom: true, ID: "9025d003-b4ce-4f9e-a9ca-895b640f320c", Created: &t, Modified: &t}
	s := &Snapshot{Manifest: NewManifest("yamlhost/0.1.0", t), Resources: []*Resource{stack, provider}}
	reference := urn.Reference{URN: provider.URN, ID: provider.ID}.String()
	for i := range n {
		inputs := sampleProperties(i)
		r := &Resource{URN: urn.New("dev", "bench", stack.URN, "aws:s3/bucket:Bucket", fmt.Sprintf("bucket-%d", i)),
			Type: "aws:s3/bucket:Bucket", Custom: true, ID: fmt.Sprintf("bucket-%d-1a2b3c4", i),
			Inputs: inputs, Outputs: inputs.With("id", value.String(fmt.Sprintf("bucket-%d-1a2b3c4", i))),
			Parent: stack.URN, Provider: reference, Created: &t, Modified: &t,
			SourcePosition: fmt.Sprintf("project:///Pulumi.yaml#%d,3", 10*i)}
		byInput := make([][]urn.URN, inputs.Len())
		if i > 0 {
			last := s.Resources[len(s.Resources)-1].URN
			r.Dependencies = []urn.URN{last}
			byInput[slices.Index(inputs.Keys(), "tags")] = r.Dependencies
		}
		r.PropertyDependencies = urn.NewDependencies(inputs.Keys(), byInput)
		s.Resources = append(s.Resources, r)
	}
	return s
}

func sampleProperties(i int) value.Value {
	entries := []value.Entry{{Key: "acl", Value: value.String("private")}, {Key: "index", Value: value.Int(i)}}
	for k := range 7 {
		entries = append(entries, value.Entry{Key: fmt.Sprintf("rule%d", k), Value: value.MapOf(
			value.Entry{Key: "enabled", Value: value.Bool(k%2 == 0)},
			value.Entry{Key: "prefix", Value: value.String(fmt.Sprintf("logs/<%d>/%d", k, i))},
			value.Entry{Key: "transitions", Value: value.List(value.Int(30*k), value.String("GLACIER"), value.Null)},
		)})
	}
	entries = append(entries, value.Entry{Key: "tags", Value: value.MapOf(
		value.Entry{Key: "Name", Value: value.String(fmt.Sprintf("bucket %d of the benchmark \"bench\"", i))},
		value.Entry{Key: "owner", Value: value.String("platform")},
	)})
	return value.MapOf(entries...)
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := sample(n)
			b.ReportAllocs()
			for b.Loop() {
				data, err := Encode(s, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(data)))
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data, err := Encode(sample(n), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	s := sample(10000)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadable measures the check of an encoded state before it is stored.
func BenchmarkReadable(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data, err := EncodeCheckpoint(&Checkpoint{Stack: "organization/p/dev", Snapshot: sample(n)}, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Readable(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIdentical compares equal states of a thousand resources that share no memory.
func BenchmarkIdentical(b *testing.B) {
	x, y := sample(1000), sample(1000)
	b.ReportAllocs()
	for b.Loop() {
		for i, r := range x.Resources {
			if !Identical(r, y.Resources[i]) {
				b.Fatal(r.URN)
			}
		}
	}
}
