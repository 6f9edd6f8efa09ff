package host

import "context"

// Await returns what work returns or, as soon as ctx ends, ctx's error: work that cannot be interrupted, such as
// reading a file, then goes on behind the caller, who must not use what it changes. A panic in work is an error.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		if err := Guard(func() error { o.value, o.err = work(); return nil }); err != nil {
			o.err = err
		}
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
