package host

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a recovered panic, which is a bug in the program, with its stack.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Guard calls work and turns a panic into a PanicError. Every goroutine needs its own: a panic there cannot be
// recovered elsewhere.
func Guard(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return work()
}
