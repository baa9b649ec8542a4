package plan

import "github.com/yamlhost/yamlhost/runtime/state"

// GoesWithEarlier reports whether a resource that is deletedWith an owner was there before the owner's present object
// was made: then it goes with an earlier one (E4.80). owner is the owner as it is now, nil when it is gone.
//
// Times decide because the state does not say with which generation of an owner a resource was made. Without a time the
// resource counts as the older one, which keeps an old owner for one operation more and loses nothing.
func GoesWithEarlier(r, owner *state.Resource) bool {
	switch {
	case !r.Custom || r.External || r.IsProvider() || r.PendingReplacement: // it has no object that could go
		return false
	case owner == nil:
		return true
	case owner.Created == nil:
		return false
	}
	return r.Created == nil || r.Created.Before(*owner.Created)
}
