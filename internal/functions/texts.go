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

// The digests, as texts: in lower-case hexadecimal, or in Base64 with padding.

// MD5 is the MD5 digest of data in hexadecimal.
func MD5(data []byte) string { d := md5.Sum(data); return hex.EncodeToString(d[:]) } //nolint:gosec // see the import

// SHA1 is the SHA-1 digest of data in hexadecimal.
func SHA1(data []byte) string { d := sha1.Sum(data); return hex.EncodeToString(d[:]) } //nolint:gosec // see the import

// SHA256 is the SHA-256 digest of data in hexadecimal.
func SHA256(data []byte) string { d := sha256.Sum256(data); return hex.EncodeToString(d[:]) }

// SHA512 is the SHA-512 digest of data in hexadecimal.
func SHA512(data []byte) string { d := sha512.Sum512(data); return hex.EncodeToString(d[:]) }

// Base64SHA256 is the SHA-256 digest of data in Base64.
func Base64SHA256(data []byte) string {
	d := sha256.Sum256(data)
	return base64.StdEncoding.EncodeToString(d[:])
}

// Base64SHA512 is the SHA-512 digest of data in Base64.
func Base64SHA512(data []byte) string {
	d := sha512.Sum512(data)
	return base64.StdEncoding.EncodeToString(d[:])
}

// UUID writes the 16 bytes of a UUID in groups of 8, 4, 4, 4 and 12 hexadecimal digits.
func UUID(b []byte) string {
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseUUID reads what UUID writes; ok is false for anything else.
func ParseUUID(text string) (b []byte, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 || !strings.EqualFold(UUID(b), text) {
		return nil, false
	}
	return b, true
}

// Chomp is a text without the line ends at its end.
func Chomp(text string) string { return strings.TrimRight(text, "\r\n") }

// MostIndent is how many spaces Indent takes.
const MostIndent = 1000

// Indent puts spaces before every line but the first; ok is false when there are fewer than 0 or more than MostIndent.
func Indent(text string, spaces int) (indented string, ok bool) {
	if spaces < 0 || spaces > MostIndent {
		return "", false
	}
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces)), true
}

// Title makes the first letter of each word a capital. A word goes on as long as inside holds.
func Title(text string, inside func(rune) bool) string {
	within := false
	return strings.Map(func(r rune) rune {
		begins := !within
		if within = inside(r); begins {
			return unicode.ToTitle(r)
		}
		return r
	}, text)
}

// ErrHeader is returned for CSV without a line that names the columns.
var ErrHeader = errors.New("there is no header line")

// CSV reads lines with commas as maps, by the names in the first line. Of columns with the same name the last one
// counts; repeated tells that there are some. The error is ErrHeader or one of encoding/csv.
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
