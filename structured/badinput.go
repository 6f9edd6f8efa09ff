package structured

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// badInput marks an error that the user can fix: a wrong file, flag or value.
type badInput struct{ error }

func (e badInput) Unwrap() error { return e.error }

// BadInput returns an error about the user's input (exit code 2), formatted as by fmt.Errorf. It should give the file
// and line, what was found and what was expected. An argument that is an *fs.PathError reads "FILE: no such file or
// folder", or "FILE: REASON" for other reasons, without the name of the system call that failed.
func BadInput(format string, args ...any) error {
	args = slices.Clone(args)
	for k, arg := range args {
		if e, ok := arg.(*fs.PathError); ok {
			args[k] = fileError{e}
		}
	}
	return badInput{fmt.Errorf(format, args...)}
}

// fileError says what is wrong with a file as its user would.
type fileError struct{ *fs.PathError }

func (e fileError) Unwrap() error { return e.PathError }

func (e fileError) Error() string {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return e.Path + ": no such file or folder"
	}
	return e.Path + ": " + e.Err.Error()
}

// IsBadInput reports whether err, or an error it wraps, came from BadInput.
func IsBadInput(err error) bool {
	var b badInput
	return errors.As(err, &b)
}
