// Command dsp trains deep structured predictors and uses them: dsp --help lists its verbs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// The exit codes. What the user must mend is told apart from what failed.
const (
	exitDone        = 0
	exitFailed      = 1
	exitBadInput    = 2   // bad usage or bad input
	exitInterrupted = 130 // by SIGINT or SIGTERM; training has saved a checkpoint
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks to stop, the second kills
	err := execute(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dsp:", err)
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

// execute runs the command line. A panic becomes an error, with a stack trace only where DSP_DEBUG is set.
func execute(ctx context.Context) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		err = fmt.Errorf("internal error: %v (DSP_DEBUG=1 shows where)", r)
		if os.Getenv("DSP_DEBUG") != "" {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	return newRoot().ExecuteContext(ctx)
}
