// Package cli is the command line of dsp, one file per verb. A program with networks of its own registers them
// (nets.Register) and calls Main: then every verb knows them.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/instructions"
	"github.com/dsp-go/dsp/train"
)

// The exit codes tell mistakes that the user can correct from failures.
const (
	exitDone        = 0   // success
	exitFailed      = 1   // failure
	exitBadInput    = 2   // bad usage or bad input, with file, line, what was found and what was expected
	exitUnproven    = 3   // infer: the answer, which was given, is neither exact nor within --gap
	exitInterrupted = 130 // by SIGINT, SIGTERM or SIGHUP; training has saved a checkpoint, infer has given its best answer
)

// Main runs the command line of the process and returns its exit code: 0 for success, 1 for failure, 2 for bad usage or
// bad input, 3 for an answer of infer that --time left unproven, 130 for an interrupt. Where MPI has ended well, it
// ends the process itself.
func Main() int {
	host.Ballast()
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it, so that a run goes on without its terminal
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // the first signal cancels ctx, a second one kills the program
	err := host.Guard(func() error {
		if err := instructions.Check(); err != nil {
			return structured.BadInput("%w", err)
		}
		if _, err := nets.Registered(); err != nil {
			return err
		}
		if err := optimisers.Failed(); err != nil {
			return err
		}
		root, out := newRoot(askedFor(os.Args[1:])), &standardOutput{}
		root.SetOut(out)
		cmd, err := root.ExecuteContextC(ctx)
		if err == nil {
			err = cmp.Or(refusedHelp(cmd), out.failed)
		}
		return err
	})
	if r := (*rankError)(nil); err != nil && !(errors.As(err, &r) && r.said) {
		fmt.Fprintln(os.Stderr, "dsp:", messageOf(err))
	}
	if p := new(host.PanicError); errors.As(err, &p) && os.Getenv("DSP_DEBUG") != "" {
		fmt.Fprintf(os.Stderr, "%s", p.Stack)
	}
	code := exitCode(err)
	exit(code)
	return code
}

// messageOf returns the text of an error, in which a cancelled context is an interrupt.
func messageOf(err error) string {
	return strings.ReplaceAll(err.Error(), context.Canceled.Error(), train.ErrInterrupted.Error())
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled), errors.Is(err, train.ErrInterrupted):
		return exitInterrupted
	case errors.Is(err, errUnproven):
		return exitUnproven
	case structured.IsBadInput(err):
		return exitBadInput
	}
	return exitFailed
}
