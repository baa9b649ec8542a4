package functions

import (
	"crypto/md5"  //nolint:gosec // the function is called md5; it protects nothing
	"crypto/sha1" //nolint:gosec // the function is called sha1; it protects nothing
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"

	"github.com/yamlhost/yamlhost/internal/value"
)

// The digests return text: lower-case hexadecimal, or Base64 with padding.

// MD5 returns the MD5 digest of data in hexadecimal.
func MD5(data []byte) string { d := md5.Sum(data); return hex.EncodeToString(d[:]) } //nolint:gosec // see the import

// SHA1 returns the SHA-1 digest of data in hexadecimal.
func SHA1(data []byte) string { d := sha1.Sum(data); return hex.EncodeToString(d[:]) } //nolint:gosec // see the import

// SHA256 returns the SHA-256 digest of data in hexadecimal.
func SHA256(data []byte) string { d := sha256.Sum256(data); return hex.EncodeToString(d[:]) }

// SHA512 returns the SHA-512 digest of data in hexadecimal.
func SHA512(data []byte) string { d := sha512.Sum512(data); return hex.EncodeToString(d[:]) }

// Base64SHA256 returns the SHA-256 digest of data in Base64.
func Base64SHA256(data []byte) string {
	d := sha256.Sum256(data)
	return base64.StdEncoding.EncodeToString(d[:])
}

// Base64SHA512 returns the SHA-512 digest of data in Base64.
func Base64SHA512(data []byte) string {
	d := sha512.Sum512(data)
	return base64.StdEncoding.EncodeToString(d[:])
}

// UUID formats the 16 bytes of a UUID in groups of 8, 4, 4, 4 and 12 hexadecimal digits.
func UUID(b []byte) string {
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseUUID parses the format of UUID, in either case; ok is false for anything else.
func ParseUUID(text string) (b []byte, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 || !strings.EqualFold(UUID(b), text) {
		return nil, false
	}
	return b, true
}

// Chomp returns text without trailing line breaks.
func Chomp(text string) string { return strings.TrimRight(text, "\r\n") }

// MostIndent is the maximum number of spaces that Indent inserts.
const MostIndent = 1000

// Indent inserts spaces before every line except the first; ok is false if spaces is negative or greater than
// MostIndent.
func Indent(text string, spaces int) (indented string, ok bool) {
	if spaces < 0 || spaces > MostIndent {
		return "", false
	}
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces)), true
}

// Title capitalizes the first letter of each word. A word extends as long as isWord returns true.
func Title(text string, isWord func(rune) bool) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		begins := !inWord
		if inWord = isWord(r); begins {
			return unicode.ToTitle(r)
		}
		return r
	}, text)
}

// ErrHeader is returned for CSV without a header line.
var ErrHeader = errors.New("there is no header line")

// CSV parses comma-separated values. It returns one map per line, with the names of the first line as keys. If columns
// have the same name, the last one wins and repeated is true. The error is ErrHeader or one of encoding/csv.
func CSV(text string) (rows []value.Value, repeated bool, err error) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, false, err
	}
	if len(lines) == 0 {
		return nil, false, ErrHeader
	}
	names := lines[0]
	rows = make([]value.Value, len(lines)-1)
	for i, line := range lines[1:] {
		entries := make([]value.Entry, len(line))
		for j, field := range line {
			entries[j] = value.Entry{Key: names[j], Value: value.String(field)}
		}
		rows[i] = value.MapOf(entries...)
		repeated = repeated || rows[i].Len() < len(names)
	}
	return rows, repeated, nil
}
