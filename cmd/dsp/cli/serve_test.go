//go:build unix

package cli

import (
	"context"
	"syscall"
	"testing"
)

// Every SIGHUP loads the models again, one after the other, until the context ends.
func TestReloading(t *testing.T) {
	loaded := make(chan int)
	ctx, end := context.WithCancel(t.Context())
	times := 0
	_, stop := reloading(ctx, func() {
		times++
		loaded <- times
	})
	defer stop()
	for want := 1; want <= 3; want++ {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if got := <-loaded; got != want {
			t.Fatalf("loaded %d times, want %d", got, want)
		}
	}
	end()
}
