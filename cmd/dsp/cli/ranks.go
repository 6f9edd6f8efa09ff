package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/ranks"
)

// rankError is the error of one of several ranks.
type rankError struct {
	error
	said bool // it has been printed, by this rank or by rank 0
}

func (e *rankError) Unwrap() error { return e.error }

// asRank calls do as one of several ranks if --ranks says so: auto, if a launcher started several processes. Otherwise
// do has no member.
func (s *sharing) asRank(ctx context.Context, quiet bool, do func(ctx context.Context) error) error {
	from, several := ranks.Launched()
	if s.how == "off" || s.how == "auto" && !several {
		return do(ctx)
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
		return fmt.Errorf("--ranks %s: %w; --ranks off leaves each process on its own", s.how, err)
	}
	stopped := func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, train.ErrInterrupted) }
	if m.Size() == 1 {
		err := do(ctx)
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
	slog.Info("several processes work together", "ranks", m.Size(), "library", m.Library, "launcher", orUnknown(m.Launcher))
	if m.Warning != "" {
		slog.Warn(m.Warning)
	}
	s.member = m
	if err = do(ctx); err == nil {
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

// verbsOfRanks are the verbs that share their work among the processes that a launcher started.
var verbsOfRanks = []string{"train", "predict", "eval"}

// warnOfRanks says that a verb does not share its work.
func warnOfRanks(verb string) {
	if from, several := ranks.Launched(); several && !slices.Contains(verbsOfRanks, verb) && from.Rank == 0 {
		slog.Warn(fmt.Sprintf("%s started several processes, and dsp %s runs in each of them: only dsp train, predict and eval share their work", from.Name, verb))
	}
}

// otherWrites reports whether rank 0 writes the files of a verb, and this process is another rank.
func otherWrites(verb string) bool {
	from, several := ranks.Launched()
	return several && from.Rank > 0 && slices.Contains(verbsOfRanks, verb)
}

// exit ends the process where MPI has ended well.
func exit(code int) { ranks.Exit(code) }

// rankWays are the values of --ranks.
var rankWays = []string{"auto", "mpi", "off"}

// sharing holds the flag of verbs that use a model on several ranks.
type sharing struct {
	how    string
	member *ranks.Member // nil for a process alone
}

func (s *sharing) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.how, "ranks", "auto", "share the work with the processes that mpirun started, or do all of it in each of them: `auto|mpi|off`; auto: share if it started several")
	complete(cmd, "ranks", rankWays...)
}

// run runs a verb as one of several ranks, which all have the same flags, and of which rank 0 alone prints.
func (s *sharing) run(cmd *cobra.Command, do func() error) error {
	if err := settings.OneOf("--ranks", s.how, rankWays); err != nil {
		return err
	}
	return s.asRank(cmd.Context(), isSet(cmd, "quiet"), func(ctx context.Context) error {
		if !s.several() {
			return do()
		}
		if !s.leads() {
			nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer nowhere.Close()
			os.Stdout = nowhere
		}
		cmd.SetContext(ctx)
		facts := [][2]string{{"version", version()}, {"vector instructions", chain.Vector()}, {"matrix products", kernels.CurrentBLAS().Name()}}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Name != "threads" && f.Name != "quiet" {
				facts = append(facts, [2]string{"--" + f.Name, f.Value.String()})
			}
		})
		if err := s.member.Agree(ctx, facts); err != nil {
			return fmt.Errorf("%w; --ranks off leaves each process on its own", err)
		}
		return do()
	})
}

// several reports whether other ranks share the work, and leads whether this process writes files.
func (s *sharing) several() bool { return s.member != nil }
func (s *sharing) leads() bool   { return s.member == nil || s.member.Rank() == 0 }

// share shares the work of a model, which must be the same on all ranks.
func (s *sharing) share(ctx context.Context, fingerprint string, with func(r *models.Ranks)) error {
	if !s.several() {
		return nil
	}
	with(models.NewRanks(s.member))
	return s.member.Agree(ctx, [][2]string{{"a model with fingerprint", fingerprint}})
}

// onData refuses ranks that have read other data.
func (s *sharing) onData(ctx context.Context, d *structured.Dataset) error {
	if !s.several() {
		return nil
	}
	return s.onText(ctx, d.Name+" with fingerprint "+train.Fingerprint(d), func(to *bufio.Writer) {
		for _, column := range d.Columns {
			for _, cell := range column {
				_, _ = to.WriteString(cell)
				_ = to.WriteByte('\n')
			}
		}
	})
}

// onText refuses ranks that have read other text.
func (s *sharing) onText(ctx context.Context, name string, write func(to *bufio.Writer)) error {
	if !s.several() {
		return nil
	}
	text := sha256.New()
	to := bufio.NewWriter(text) // neither fails
	write(to)
	_ = to.Flush()
	return s.member.Agree(ctx, [][2]string{{"data", fmt.Sprintf("%s, checksum %x", name, text.Sum(nil)[:4])}})
}

// ownThreads returns how many threads a rank takes if nobody says: its share of the machine's.
func (s *sharing) ownThreads(given int) int {
	if given != 0 || !s.several() {
		return given
	}
	return max(1, host.Threads(0)/s.member.Here)
}

// ownDevice returns the device of a rank: if the name has no number, that of its place among the ranks of its machine.
func (s *sharing) ownDevice(name string) string {
	if s.several() && name == config.CUDA {
		return fmt.Sprintf("%s:%d", name, s.member.Local)
	}
	return name
}

// input gives all ranks what rank 0 has on standard input, where a verb reads it whole.
func (s *sharing) input(ctx context.Context) error {
	if !s.several() {
		return nil
	}
	text, err := host.Await(ctx, func() ([]byte, error) {
		if !s.leads() {
			return nil, nil
		}
		return io.ReadAll(os.Stdin)
	})
	if err != nil {
		return structured.BadInput("standard input: %w", err)
	}
	if text, err = ranks.Broadcast(ctx, s.member, text); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "dsp-input-*")
	if err != nil {
		return err
	}
	_ = os.Remove(file.Name()) // it stays until it is closed
	if _, err = file.Write(text); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	os.Stdin = file
	return err
}
