package value

// Asset is a piece of content: text, a file or a remote object (F1.8). Exactly one of the sources is set, or none when
// the content was elided and only the hash is left.
type Asset struct {
	Text    string // the content itself, when HasText
	HasText bool   // tells an empty text from no text
	Path    string // a file, relative to the program directory or absolute
	URI     string // http, https or file
	Hash    string // SHA-256 of the content in lower-case hex; empty while not computed
}

// Archive is a collection of assets: a directory or archive file, a remote archive, or a map of assets and archives.
type Archive struct {
	Assets Value  // a map of assets and archives (F1.25), else null
	Path   string // a directory or archive file, relative to the program directory or absolute
	URI    string // http, https or file
	Hash   string // SHA-256 in lower-case hex by the rules F1.22–F1.25; empty while not computed
}

// NewAsset makes an asset value. It takes ownership of a.
func NewAsset(a *Asset) Value { return Value{kind: KindAsset, payload: a} }

// NewArchive makes an archive value. It takes ownership of a.
func NewArchive(a *Archive) Value { return Value{kind: KindArchive, payload: a} }
