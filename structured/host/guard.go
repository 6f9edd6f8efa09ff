package host

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic made an error: a mistake in the program, with the stack it happened on.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Guard runs work and turns a panic into a PanicError. Work on other goroutines needs it: nobody else can recover there.
func Guard(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return work()
}
