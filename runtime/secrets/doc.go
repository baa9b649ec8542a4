// Package secrets seals and opens secret text with the secrets providers of stacks (rules F4).
//
// A Manager turns plain text into ciphertext and back. Passphrase is the most common manager; Lazy asks for the
// passphrase only when a secret has to be sealed or opened, so that a stack without secrets never needs one (decision
// D3). Keyring caches derived keys, because deriving one takes half a second. The package does not depend on values,
// state files or the environment.
package secrets
