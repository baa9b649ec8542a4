// Package secrets seals and opens secret text in the ways that stacks are set up for (rules F4).
//
// A Manager turns plain text into ciphertext and back. Passphrase is the usual one; Lazy stands in for it and asks for
// the passphrase only when something really has to be sealed or opened, so that a stack without secrets never needs one
// (decision D3). Keyring keeps derived keys, because deriving one takes half a second. The package knows nothing of
// values, state files or the environment.
package secrets
