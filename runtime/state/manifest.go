package state

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// NewManifest is the manifest of a snapshot written by version at a moment (F5.4).
func NewManifest(version string, t time.Time) Manifest {
	return Manifest{Time: t, Version: version, Magic: magicOf(version)}
}

// magicOf returns the magic that a manifest must have (F5.4, E6.7).
func magicOf(version string) string {
	if version == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:])
}
