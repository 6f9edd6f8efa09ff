package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/ranks"
)

// rankError is the error of one of several ranks.
type rankError struct {
	error
	said bool // it has been printed, by this rank or by rank 0
}

func (e *rankError) Unwrap() error { return e.error }

// asRank calls do as one of several ranks if --ranks says so: auto, if a launcher started several processes. Otherwise it calls do with nil.
func asRank(ctx context.Context, how string, quiet bool, do func(ctx context.Context, m *ranks.Member) error) error {
	from, several := ranks.Launched()
	if how == "off" || how == "auto" && !several {
		return do(ctx, nil)
	}
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	m, err := ranks.Join(ctx, from, interrupt, func(err error) {
		fmt.Fprintf(os.Stderr, "dsp: rank %d: %v\n", from.Rank, err)
		os.Exit(exitFailed)
	})
	notMet := new(ranks.NotMetError)
	switch {
	case errors.As(err, &notMet) || ctx.Err() != nil && err != nil || structured.IsBadInput(err):
		return fmt.Errorf("rank %d: %w", from.Rank, err)
	case err != nil:
		return fmt.Errorf("--ranks %s: %w; --ranks off trains in each process on its own", how, err)
	}
	stopped := func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, train.ErrInterrupted) }
	if m.Size() == 1 {
		err := do(ctx, nil)
		_ = m.Finish(ctx)
		return err
	}
	level, who := slog.LevelError, fmt.Sprintf("rank %d: ", m.Rank()) // what the others would say rank 0 says, too
	if m.Rank() == 0 {
		level = slog.LevelInfo
		if quiet {
			level = slog.LevelWarn
		}
	}
	before := slog.Default()
	defer slog.SetDefault(before)
	to := newLog(os.Stderr, level)
	to.who = who
	slog.SetDefault(slog.New(to))
	slog.Info("several processes train together", "ranks", m.Size(), "library", m.Library, "launcher", orUnknown(m.Launcher))
	if m.Warning != "" {
		slog.Warn(m.Warning)
	}
	if err = do(ctx, m); err == nil {
		err = m.Finish(ctx)
	}
	if err == nil {
		return nil
	}
	failed := &rankError{fmt.Errorf("rank %d: %w", m.Rank(), err), m.Rank() == 0}
	if failed.said {
		fmt.Fprintln(os.Stderr, "dsp:", failed) // before others end, and with them all
	}
	failed.said = m.Leave(ctx, err, stopped) || failed.said
	return failed
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown"
	}
	return name
}

// warnOfRanks says that a verb does not share its work among the processes that a launcher started.
func warnOfRanks(verb string) {
	if from, several := ranks.Launched(); several && verb != "train" && from.Rank == 0 {
		slog.Warn(fmt.Sprintf("%s started several processes, and dsp %s runs in each of them: only dsp train shares its work", from.Name, verb))
	}
}
