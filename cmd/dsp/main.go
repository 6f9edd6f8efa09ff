// Command dsp trains deep structured predictors and uses them: dsp --help lists its verbs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/train"
)

// The exit codes tell mistakes that the user can correct from failures.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2   // bad usage or bad input
	exitInterrupted = 130 // by SIGINT or SIGTERM; training has saved a checkpoint
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal cancels ctx, a second one kills the program
	err := host.Guard(func() error { return newRoot().ExecuteContext(ctx) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "dsp:", err)
	}
	if p := new(host.PanicError); errors.As(err, &p) && os.Getenv("DSP_DEBUG") != "" {
		fmt.Fprintf(os.Stderr, "%s", p.Stack)
	}
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled), errors.Is(err, train.ErrInterrupted):
		return exitInterrupted
	case structured.IsBadInput(err):
		return exitBadInput
	}
	return exitFailed
}
