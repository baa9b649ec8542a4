package mask

import (
	"math"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
)

// numberForms returns the ways to write a number without its sign: as in programs, as by Go, Python and JavaScript, and
// with an exponent.
func numberForms(f float64) []string {
	f = math.Abs(f)
	forms := []string{value.FormatNumber(f)}
	for _, format := range "feEgG" {
		forms = append(forms, strconv.FormatFloat(f, byte(format), -1, 64))
	}
	if plain := forms[1]; !strings.Contains(plain, ".") {
		forms = append(forms, plain+".0")
	}
	return forms
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool {
	return isDigit(b) || b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// numberAt returns the end of the number whose first digit is at start. alone is false if it continues as part of
// something longer, such as an address, a version or a name.
func numberAt(text string, start int) (end int, alone bool) {
	digit := func(i int) byte {
		if i < len(text) {
			return text[i]
		}
		return ' '
	}
	digits := func(i int) int {
		for isDigit(digit(i)) {
			i++
		}
		return i
	}
	end = digits(start)
	if digit(end) == '.' && isDigit(digit(end+1)) {
		end = digits(end + 1)
	}
	if digit(end)|0x20 == 'e' {
		exponent := end + 1
		if digit(exponent) == '+' || digit(exponent) == '-' {
			exponent++
		}
		if isDigit(digit(exponent)) {
			end = digits(exponent)
		}
	}
	return end, !isWord(digit(end)) && (digit(end) != '.' || !isDigit(digit(end+1)))
}
