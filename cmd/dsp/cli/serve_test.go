//go:build unix

package cli

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

// Every SIGHUP loads the models again. The context ends with its parent.
func TestReloading(t *testing.T) {
	loaded := make(chan int)
	ctx, end := context.WithCancel(t.Context())
	times := 0
	serving, stop := reloading(ctx, func() {
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
	<-serving.Done()
}

// A signal loads the models once. One that comes in the meantime waits, and after the end of the context none does
// anything.
func TestReloadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, ended := 0, false
		again, finish := make(chan os.Signal, 1), make(chan bool)
		ctx, end := context.WithCancel(t.Context())
		go func() {
			reloadOn(ctx, again, func() {
				begun++
				<-finish
			})
			ended = true
		}()
		expect := func(what string, calls int, end bool) {
			t.Helper()
			synctest.Wait() // until all that has begun waits
			if begun != calls || ended != end {
				t.Errorf("%s: %d calls, ended: %v; expected %d, %v", what, begun, ended, calls, end)
			}
		}
		expect("no signal", 0, false)
		again <- syscall.SIGHUP
		expect("a signal", 1, false)
		again <- syscall.SIGHUP
		expect("a signal while it loads", 1, false)
		finish <- true
		expect("loaded", 2, false)
		finish <- true
		expect("loaded twice", 2, false)
		end()
		expect("the end", 2, true)
		again <- syscall.SIGHUP
		expect("a signal after the end", 2, true)
	})
}
