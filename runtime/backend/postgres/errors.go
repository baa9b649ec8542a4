//go:build !lean

package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/yamlhost/yamlhost/runtime/backend"
)

// Codes of the server that are answers.
const (
	noTable   = "42P01"
	duplicate = "23505"
	there     = "42P07"
	thereToo  = "42710" // of the type that a table brings along
	// notInThisMode is pgbouncer's answer to a transaction in statement mode.
	notInThisMode = "08P01"
)

func code(err error) string {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said.Code
	}
	return ""
}

// explain sorts errors: those that may pass, those that will not, and that there is no such object.
func explain(err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return fs.ErrNotExist
	case errors.Is(err, backend.ErrRefused):
		return err
	case !errors.As(err, &said):
		return passing(err.Error())
	case passes(said.Code):
		return passing(said.Message)
	}
	text := said.Message
	if said.Code == "42501" {
		text += "; the user needs USAGE of the schema, and SELECT, INSERT, UPDATE and DELETE on both tables, or CREATE to " +
			"make them"
	}
	return refused(fmt.Errorf("%s (SQLSTATE %s)", text, said.Code))
}

// refused is an error that will not pass.
func refused(err error) error { return fmt.Errorf("%w: %w", backend.ErrRefused, err) }

// passes reports whether an error of the server may be gone soon: of the connection, of a server that starts, stops or
// is only a copy yet, of too many connections, of rivals, or of an operator.
func passes(code string) bool {
	for _, class := range [...]string{"08", "40", "53", "55", "57", "58", "25006"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

// passing is a fault that may pass. It hides what it is made of: a socket that is away for a moment would be taken for
// an object that does not exist.
type passing string

func (e passing) Error() string { return string(e) }
