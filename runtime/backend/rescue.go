package backend

import (
	"errors"

	"github.com/yamlhost/yamlhost/runtime/state"
)

// Rescue returns a state that could not be written, as stack import takes it, with secrets sealed. complete says that
// the journal has everything as well, so that the next run needs no help.
func (s *Session) Rescue(final *state.Snapshot) (text []byte, complete bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if final == nil {
		if final, err = s.replayer.Snapshot(); err != nil {
			return nil, false, err
		}
	}
	text, err = s.rescue(final)
	if err != nil { // what cannot be written as a state cannot be rescued as one: the journal knows almost as much
		known, failed := s.replayer.Snapshot()
		if failed != nil {
			return nil, false, errors.Join(err, failed)
		}
		if text, failed = s.rescue(known); failed != nil {
			return nil, false, errors.Join(err, failed)
		}
		err = nil
	}
	return text, s.log != nil && s.log.Err() == nil, err
}

// rescue returns a snapshot as stack export prints it.
func (t sessionTools) rescue(final *state.Snapshot) ([]byte, error) {
	kept := *final
	kept.Manifest = t.state.manifest()
	if t.sealer != nil && t.sealer.Type() != "" {
		kept.SecretsProvider = &state.SecretsProvider{Type: t.sealer.Type(), State: t.sealer.State()}
	}
	return state.EncodeExport(&kept, state.Sealed(t.sealer))
}
