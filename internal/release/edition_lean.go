//go:build lean

package release

// Edition names the edition: "default" has every store and key service, "lean" keeps state in folders only.
const Edition = "lean"
