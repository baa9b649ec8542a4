package compiler

import (
	"errors"
	"fmt"
	"strings"
)

// splitWords splits a command as a POSIX shell does, without expansion: quotes and backslashes protect their content.
func splitWords(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\':
			if i+1 == len(command) {
				return nil, errors.New("it ends with a backslash")
			}
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(command[i])) {
				word.WriteByte('\\')
			}
			word.WriteByte(command[i])
			inWord = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
