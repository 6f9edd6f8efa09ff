package structured

import (
	"errors"
	"fmt"
)

// badInput marks an error that the user can fix: a wrong file, flag or value.
type badInput struct{ error }

func (e badInput) Unwrap() error { return e.error }

// BadInput returns an error about the user's input (exit code 2), formatted as by fmt.Errorf. It should give the file and
// line, what was found and what was expected.
func BadInput(format string, args ...any) error { return badInput{fmt.Errorf(format, args...)} }

// IsBadInput reports whether err, or an error it wraps, came from BadInput.
func IsBadInput(err error) bool {
	var b badInput
	return errors.As(err, &b)
}
