package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scripted is a store that answers each Get with the next of its errors, and at last with an object.
type scripted struct {
	Objects
	faults []error
	asked  int
}

func (s *scripted) Get(context.Context, string) (Object, error) {
	s.asked++
	if s.asked > len(s.faults) {
		return Object{}, nil
	}
	return Object{}, s.faults[s.asked-1]
}

// A store that has never answered, and whose host is not found, is asked for a short time only. Once it has answered,
// it is asked for as long as one that is away for another reason.
func TestUnpreparedStores(t *testing.T) {
	t.Parallel()
	unprepared, away := fmt.Errorf("%w: no such host", ErrUnprepared), errors.New("connection refused")
	rapid.Check(t, func(t *rapid.T) {
		s := &scripted{}
		d := newObjectDisk(s, "store")
		d.patience, d.brief = time.Hour, 0
		answered := rapid.Bool().Draw(t, "answered")
		if answered {
			s.faults = append(s.faults, fs.ErrNotExist)
			_, err := d.get("key")
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		s.faults = append(s.faults, rapid.SampledFrom([]error{unprepared, away}).Draw(t, "fault"))
		_, err := d.get("key")
		if fails := !answered && errors.Is(s.faults[len(s.faults)-1], ErrUnprepared); fails {
			require.ErrorIs(t, err, ErrUnprepared)
			require.Equal(t, len(s.faults), s.asked, "it is not asked again")
			return
		}
		require.NoError(t, err)
		require.Equal(t, len(s.faults)+1, s.asked)
	})
}

// A request that a store did not answer says what to do. A store that refuses, and one that cannot be asked, give their
// reason, and the connection is not at fault.
func TestStoresThatAreAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault error
		away  bool
	}{{errors.New("read: connection reset by peer"), true}, {fmt.Errorf("%w: no credentials", ErrUnprepared), false},
		{fmt.Errorf("%w: access denied", ErrRefused), false}} {
		d := newObjectDisk(&scripted{faults: []error{c.fault}}, "s3://pail")
		d.patience, d.brief = 0, 0
		_, err := d.get("key")
		err = fileError("take the lease", "some/key", err)
		require.ErrorIs(t, err, c.fault)
		advice := ""
		if c.away {
			advice = "; check the connection to the store, and run the command again"
		}
		require.EqualError(t, err, "cannot take the lease some/key: s3://pail: "+c.fault.Error()+advice)
	}
}
