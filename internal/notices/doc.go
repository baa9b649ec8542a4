// Package notices holds the licences of everything that is linked into the programs to its file,
// THIRD_PARTY_NOTICES.txt. It is nothing but a test.
package notices
