package embedded

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/functions"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/value"
)

// stdFormats are functions that format values, as sprintf does.
func stdFormats() map[string]formula {
	return map[string]formula{
		"format": func(args value.Value) (value.Value, error) {
			text, err := format(lookupString(args, "input"), listArg(args, "args"))
			return value.String(text), err
		},
		"formatlist": formatList,
	}
}

// formatList formats once for each member of the lists among its arguments, which must be equally long. Other arguments
// are used each time. Without lists it formats once.
func formatList(args value.Value) (value.Value, error) {
	rows, err := functions.Rows(listArg(args, "args"))
	if uneven, ok := errors.AsType[*functions.LengthError](err); ok {
		return value.Null, fmt.Errorf("the lists must be equally long, but the length of one is %d and of another %d",
			uneven.Earlier, uneven.Length)
	}
	texts := make([]string, len(rows))
	for i, row := range rows {
		if texts[i], err = format(lookupString(args, "input"), row); err != nil {
			return value.Null, err
		}
	}
	return value.Strings(texts), nil
}

// hole matches a formatting directive: %, flags, width, precision, number of the argument, verb.
var hole = lazyregexp.New(`%([-+# 0]*)([0-9]*)((?:\.[0-9]*)?)(?:\[([0-9]+)\])?(.?)`)

// widestHole limits widths and precisions, so that a typing error cannot exhaust the memory.
const widestHole = 1024

// format replaces the directives of a text with arguments, in order or by their numbers, which begin at 1.
func format(text string, args []value.Value) (string, error) {
	var failure error
	next, most := 0, 0
	filled := hole().ReplaceAllStringFunc(text, func(found string) string {
		parts := hole().FindStringSubmatch(found)
		flags, width, precision, number, verb := parts[1], parts[2], parts[3], parts[4], parts[5]
		if found == "%%" || failure != nil {
			return "%"
		}
		for _, size := range [...]string{width, strings.TrimPrefix(precision, ".")} {
			if n, err := strconv.Atoi(size); size != "" && (err != nil || n > widestHole) {
				failure = fmt.Errorf("%q is wider than %d", found, widestHole)
				return ""
			}
		}
		if number != "" {
			n, err := strconv.Atoi(number)
			if err != nil {
				n = math.MaxInt32
			}
			next = n - 1
		}
		if next < 0 || next >= len(args) {
			failure = fmt.Errorf("there is no argument %d for %q", next+1, found)
			return ""
		}
		arg, err := verbArgument(verb, args[next])
		if err != nil {
			failure = fmt.Errorf("argument %d for %q %w", next+1, found, err)
			return ""
		}
		if verb == "v" { // arg is text; with some flags sprintf would write %v of it as Go syntax
			verb = "s"
		}
		next++
		most = max(most, next)
		return fmt.Sprintf("%"+flags+width+precision+verb, arg)
	})
	if failure == nil && most < len(args) {
		failure = fmt.Errorf("there is no place for argument %d of %d", most+1, len(args))
	}
	return filled, failure
}

// verbArgument converts a value to the Go type that a verb needs.
func verbArgument(verb string, v value.Value) (any, error) {
	number, isNumber := v.AsNumber()
	if s, ok := v.AsString(); ok && !isNumber && strings.Contains("bcdoxXUeEfFgG", verb) && verb != "x" && verb != "X" {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			number, isNumber = f, true
		}
	}
	switch verb {
	case "b", "c", "d", "o", "x", "X", "U":
		if s, ok := v.AsString(); ok && (verb == "x" || verb == "X") {
			return s, nil
		}
		if !isNumber || number != math.Trunc(number) || math.Abs(number) > 1<<53 {
			return nil, errors.New("is not a whole number")
		}
		return int64(number), nil
	case "e", "E", "f", "F", "g", "G":
		if !isNumber {
			return nil, errors.New("is not a number")
		}
		return number, nil
	case "t":
		b, ok := v.AsBool()
		if !ok {
			return nil, errors.New("is not a boolean")
		}
		return b, nil
	case "s", "q", "v":
		if text, err := scalarText(v); err == nil {
			return text, nil
		}
		text, err := value.AppendJSON(nil, v)
		if err != nil {
			return nil, errors.New("has no form as a text")
		}
		return string(text), nil
	}
	return nil, errors.New("cannot be written: there is no such verb; use %s, %d or %f")
}
