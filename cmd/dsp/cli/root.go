package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// verb is a verb of the command line. Making its command, with all flags and their help, takes longer than many runs.
type verb struct {
	name string
	make func() *cobra.Command
}

// allVerbs lists the verbs in the order of the help.
func allVerbs() []verb {
	return []verb{
		{"train", trainCommand}, {"sweep", sweepCommand}, {"reproduce", reproduceCommand}, {"predict", predictCommand}, {"serve", serveCommand},
		{"eval", evalCommand}, {"report", reportCommand}, {"calibrate", calibrateCommand}, {"export", exportCommand}, {"import", importCommand},
		{"infer", inferCommand}, {"info", infoCommand}, {"data", dataCommand}, {"bench", benchCommand}, {"selftest", selftestCommand},
	}
}

// Root returns the command line with all its verbs.
func Root() *cobra.Command { return newRoot(allVerbs()) }

// askedFor returns the verb that comes first among the arguments, if there is one, none where the version is asked for,
// or else all verbs.
func askedFor(args []string) []verb {
	verbs := allVerbs()
	for _, arg := range args {
		if arg == "--version" {
			return nil
		}
		if strings.HasPrefix(arg, "-") {
			continue // the global flags have no values of their own
		}
		if k := slices.IndexFunc(verbs, func(v verb) bool { return v.name == arg }); k >= 0 {
			return verbs[k : k+1]
		}
		break
	}
	return verbs
}

// newRoot returns the command line with some verbs: global flags, verbs, and usage errors classified as bad input.
func newRoot(verbs []verb) *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:   "dsp VERB",
		Short: "Train deep structured predictors, with a certificate",
		Long: `dsp trains networks whose outputs are structures. A network turns an input into potentials, an inference
oracle turns potentials into the best output, and an optimiser with a certificate trains the network.

dsp train with no arguments trains a small convolutional network to read words on built-in data.`,
		Args:          noVerb,
		Version:       version(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			level := slog.LevelInfo
			if isSet(cmd, "quiet") {
				level = slog.LevelWarn
			}
			slog.SetDefault(slog.New(newLog(os.Stderr, level)))
			if cmd.Name() != "serve" { // which waits for requests, once its models are loaded
				breakSilence(cmd.Context())
			}
			warnRepeated(cmd, os.Args[1:])
			warnOfRanks(cmd.Name())
			if err := host.CheckStart(); err != nil {
				return err
			}
			return checkOutputs(cmd)
		},
	}
	root.PersistentFlags().Bool("json", false, "print results as one JSON object, last on standard output (predict: one per sequence; serve: the address, first)")
	root.PersistentFlags().Bool("quiet", false, "log only warnings and errors, show no progress")
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, v := range verbs {
		root.AddCommand(v.make())
	}
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help)
	for _, verb := range root.Commands() {
		badUsage(verb)
		verb.InitDefaultHelpFlag()
		if !showsAll(verb) {
			verb.Flags().Lookup("help").Usage = "print this; --help all: every flag"
		}
	}
	return root
}

func isSet(cmd *cobra.Command, flag string) bool {
	on, err := cmd.Flags().GetBool(flag)
	return err == nil && on
}

// badUsage classifies a wrong number of arguments as bad input, for a verb and its subcommands.
func badUsage(verb *cobra.Command) {
	if check := verb.Args; check != nil {
		verb.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && !structured.IsBadInput(err) {
				return structured.BadInput("%w; see %s --help", err, cmd.CommandPath())
			}
			return err
		}
	}
	for _, sub := range verb.Commands() {
		badUsage(sub)
	}
}

// noArgs refuses arguments that are not flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		names := flagsAmong(cmd, []string{"model"})
		if data := flagsAmong(cmd, dataFlags); len(data) > 0 {
			names = append(names, data[0])
		}
		if len(names) > 0 {
			return structured.BadInput("%s takes flags only, found %q; did you mean --%s %[2]s?", cmd.CommandPath(), args[0], strings.Join(names, " "+args[0]+" or --"))
		}
	}
	return structured.BadInput("%s takes flags only, found %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// noVerb refuses an argument that is not a verb, and suggests similar verbs.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "version" && !cmd.HasParent() {
		return structured.BadInput("dsp has no verb %q; did you mean dsp --version?", args[0])
	}
	cmd.SuggestionsMinimumDistance = 2
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return structured.BadInput("%s has no verb %q; did you mean %s?", cmd.CommandPath(), args[0], strings.Join(like, " or "))
	}
	return structured.BadInput("%s has no verb %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// flagError rewords an error about a flag, and suggests a similar flag if the name is unknown.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		name, dashes := missing.GetSpecifiedName(), "--"
		if short := missing.GetSpecifiedShortnames(); short != "" { // -name
			name, dashes = short, "-"
		}
		if name == "text" && slices.Contains([]string{"train", "sweep", "eval", "calibrate"}, cmd.Name()) {
			return noRawText(cmd.CommandPath())
		}
		if like := likeFlag(cmd, name); like != "" {
			return structured.BadInput("%s has no flag %s%s; did you mean --%s?", cmd.CommandPath(), dashes, name, like)
		}
		if other := verbsWith(cmd, name); other != "" {
			return structured.BadInput("%s has no flag %s%s; %s", cmd.CommandPath(), dashes, name, other)
		}
		return structured.BadInput("%s has no flag %s%s; see %s --help", cmd.CommandPath(), dashes, name, cmd.CommandPath())
	case errors.As(err, &value):
		f := value.GetFlag()
		if what, ok := valueKinds[f.Value.Type()]; ok {
			if errors.Is(err, strconv.ErrRange) {
				what += " of 64 bits, which this is too large for"
			}
			return structured.BadInput("--%s %s: expected %s", f.Name, value.GetValue(), what)
		}
		return structured.BadInput("--%s %w", f.Name, errors.Unwrap(value))
	}
	return structured.BadInput("%s: %w; see %s --help", cmd.CommandPath(), err, cmd.CommandPath())
}

// valueKinds describes the values of each flag type.
var valueKinds = map[string]string{
	"bool":    "true or false",
	"int":     "a whole number",
	"uint64":  "a whole number that is not negative",
	"float64": "a number",

	"duration": "a time such as 30s, 5m or 1h30m",
}

// Flags that mean the same, of which a verb has one or two: those of data to read, in the order of preference, and
// those of files to write.
var dataFlags, outputFlags = []string{"data", "input", "train", "dev", "test"}, []string{"to", "out"}

// elsewhere maps names of settings in Hugging Face's Trainer, spaCy, flair, sklearn-crfsuite, CRFsuite and Wapiti to
// those of flags that mean the same.
var elsewhere = map[string]string{
	"epochs": "passes", "num-epochs": "passes", "num-train-epochs": "passes", "max-epochs": "passes", "max-iterations": "passes", "max-iter": "passes", "max-steps": "passes",
	"batch-size": "batch", "per-device-train-batch-size": "batch", "learning-rate": "lr", "lr-scheduler": "schedule", "lr-scheduler-type": "schedule", "scheduler": "schedule", "warmup-steps": "warm-up", "warmup-ratio": "warm-up", "warmup": "warm-up",
	"weight-decay": "reg", "c2": "reg", "c1": "l1", "early-stopping-patience": "patience", "max-grad-norm": "clip", "optimizer": "method", "optimiser": "method", "algorithm": "method",
	"output-dir": "out", "output": "out", "train-file": "train", "validation-file": "dev", "dev-file": "dev", "test-file": "test", "gpu-id": "device",
	"n-epochs": "passes", "iterations": "passes", "n-iter": "passes", "maxiter": "passes", "num-steps": "passes", "mini-batch-size": "batch", "train-batch-size": "batch",
	"l2": "reg", "rho2": "reg", "c": "reg", "regularization": "reg", "rho1": "l1", "early-stopping": "patience", "clip-grad": "clip", "gradient-clip": "clip", "grad-clip": "clip",
	"algo": "method", "dropout-rate": "dropout", "hidden-size": "hidden", "pattern": "template", "feature-minfreq": "min-count", "min-freq": "min-count", "stopeps": "gap",
	"train-data": "train", "train-path": "train", "training-data": "train", "data-dir": "train", "eval-file": "dev", "eval-data": "dev", "dev-data": "dev", "validation-data": "dev", "valid": "dev",
	"test-data": "test", "save-dir": "out", "model-dir": "out", "model-path": "out", "random-seed": "seed", "random-state": "seed", "gpu": "device", "use-gpu": "device", "no-cuda": "device", "cuda": "device",
	"n-jobs": "threads", "num-workers": "threads", "nthread": "threads", "num-threads": "threads", "model-name-or-path": "encoder", "pretrained-model": "encoder", "resume-from-checkpoint": "resume",
}

// likeFlag returns the flag of cmd that name most likely stands for, or "": the one of that name, the one that means
// what another verb's flag of that name means, or the one of the nearest name.
func likeFlag(cmd *cobra.Command, name string) string {
	switch {
	case cmd.Flags().Lookup(name) != nil:
		return name
	case len(name) == 1: // -o is near many
		return ""
	}
	if same := elsewhere[strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))]; same != "" {
		if cmd.Flags().Lookup(same) != nil {
			return same
		}
		name = same
	}
	for _, same := range [][]string{dataFlags, outputFlags} {
		if slices.Contains(same, name) {
			if like := cmp.Or(flagsAmong(cmd, same)...); like != "" {
				return like
			}
		}
	}
	return nearestFlag(cmd, name)
}

// flagsAmong returns those of the names that are flags of cmd whose values are no numbers.
func flagsAmong(cmd *cobra.Command, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		f := cmd.Flags().Lookup(name)
		return f == nil || f.Value.Type() == "int"
	})
}

// verbsWith says which other verbs have a flag of that name, if one or two do.
func verbsWith(cmd *cobra.Command, name string) string {
	var verbs []string
	for _, verb := range Root().Commands() {
		if verb.LocalFlags().Lookup(name) != nil {
			verbs = append(verbs, verb.CommandPath())
		}
	}
	switch len(verbs) {
	case 1:
		return verbs[0] + " has it"
	case 2:
		return verbs[0] + " and " + verbs[1] + " have it"
	}
	return ""
}

// nearestFlag returns the flag of cmd whose name is nearest to name, or "" where none is near.
func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return settings.Nearest(name, names)
}

// printJSON writes v as one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printTable writes rows in columns, the first aligned left and the others right; the first row is the header.
func printTable(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			widths[c] = max(widths[c], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := make([]string, len(row))
		for c, cell := range row {
			pad := strings.Repeat(" ", widths[c]-len([]rune(cell)))
			if c == 0 {
				line[c] = cell + pad
			} else {
				line[c] = pad + cell
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}
