package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// trainPipeline trains the stages of a pipeline.
func trainPipeline(ctx context.Context, c config.Config, o training.TrainOptions) error {
	r, err := pipelines.Train(ctx, c, o)
	if err != nil || r == nil { // a rank that follows
		return err
	}
	if c.JSON {
		return printJSON(os.Stdout, r)
	}
	return printPipeline(os.Stdout, r)
}

// printPipeline prints a table of stages, and what the pipeline does with raw text.
func printPipeline(w io.Writer, r *pipelines.Result) error {
	rows := [][]string{{"", "labels", "passes", "kept", "seconds", "proven gap", "dev"}}
	for _, s := range r.Stages {
		switch {
		case s.Constant != nil:
			rows = append(rows, []string{s.Name, "1", "", "", "", "", "always " + *s.Constant})
			continue
		case s.Replaced != "":
			rows = append(rows, []string{s.Name, fmt.Sprint(s.Labels), "", "", "", "", "from " + s.Replaced})
			continue
		}
		var dev []string
		for _, m := range []struct{ name, title string }{{"token_accuracy", "labels"}, {"uas", "UAS"}, {"las", "LAS"}} {
			if value, ok := s.Dev[m.name]; ok {
				dev = append(dev, fmt.Sprintf("%s %.2f %%", m.title, 100*value))
			}
		}
		gap := "none"
		if g := float64(s.RelativeGap); !math.IsNaN(g) {
			gap = fmt.Sprintf("%.2f %%", 100*g)
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Labels), fmt.Sprint(s.Passes), fmt.Sprint(s.Kept), fmt.Sprintf("%.1f", s.Seconds), gap, strings.Join(dev, ", ")})
	}
	if err := printTable(w, rows); err != nil {
		return err
	}
	for _, data := range []struct {
		name   string
		scores conll18.Scores
	}{{"dev", r.Dev}, {"test", r.Test}} {
		if data.scores == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s, from raw text (per cent)\n%s", data.name, data.scores.Table()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\npipeline     %s\nfingerprint  %s\n", r.Model, r.Fingerprint)
	return err
}

// pipelineFlags are the flags of verbs that pipelines take.
func pipelineFlags(cmd *cobra.Command, names ...string) error {
	names = append(names, "model", "encoder", "threads", "json", "quiet", "help", "device")
	var refused []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) && !(f.Name == "skip-bad" && slices.Contains(names, "bad")) {
			refused = append(refused, "--"+f.Name)
		}
	})
	if device, _ := cmd.Flags().GetString("device"); device != "" && device != "cpu" {
		refused = append(refused, "--device "+device)
	}
	if len(refused) > 0 {
		slices.Sort(names)
		return structured.BadInput("%s has no use with a pipeline (its stages, in folders of the model, are models of their own); %s takes --%s here",
			strings.Join(refused, ", "), cmd.CommandPath(), strings.Join(names, " --"))
	}
	return nil
}

// noPipeline refuses flags that only pipelines take.
func noPipeline(cmd *cobra.Command, model string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return structured.BadInput("--%s is for pipelines (train --task pipeline); %s is a single model", name, model)
		}
	}
	return nil
}

// predictPipeline annotates raw text, or a treebank.
func predictPipeline(cmd *cobra.Command, u *modelFlags, raw *rawText, fill, to string) (err error) {
	if err := pipelineFlags(cmd, "input", "format", "text", "lines", "presegmented", "pretokenised", "fill", "to", "bad", tasks.WordsSetting); err != nil {
		return err
	}
	if _, err := raw.imply(); err != nil {
		return err
	}
	o := pipelines.Options{Fill: pipelines.All(), Given: raw.given(), JSON: isSet(cmd, "json"), Threads: u.Threads}
	switch {
	case isArchive(to):
		return structured.BadInput("--to %s: a pipeline has no arrays; a name that does not end in .npz gets what is printed", to)
	case raw.lines && !raw.on:
		return structured.BadInput("--lines is for raw text: add --text")
	case raw.on && u.bad != models.RefuseBad:
		return structured.BadInput("--bad %s is for CoNLL-U, whose sentences may be bad; raw text has none: leave it out", u.bad)
	case u.Format != "" && u.Format != formats.Conllu:
		return structured.BadInput("--format %s: a pipeline reads CoNLL-U, and raw text with --text", u.Format)
	case u.Path == builtin:
		return structured.BadInput("--input builtin: a pipeline reads files, and - for standard input")
	}
	if err := u.check(); err != nil {
		return err
	}
	if cmd.Flags().Changed("fill") {
		if o.Fill, err = pipelines.ParseFill(fill); err != nil {
			return err
		}
	}
	p, err := u.encoder.loadPipeline(u.model)
	if err != nil {
		return err
	}
	p.LimitWords(u.MaxWords)
	if err := u.sharePipeline(cmd.Context(), p); err != nil {
		return err
	}
	o.Threads, o.Remarks = u.ownThreads(u.Threads), models.RemarksFor(u.bad)
	defer func() { o.Remarks.Log(slog.Default()) }()
	in, err := u.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	name := host.NameOf(u.Path)
	ctx := cmd.Context()
	return u.printTo(cmd, to, func(w io.Writer) error {
		_, err := host.Await(ctx, func() (struct{}, error) { // a long paragraph takes long
			if raw.on {
				return struct{}{}, p.PredictText(ctx, in, name, w, o)
			}
			return struct{}{}, p.PredictTreebank(ctx, in, name, w, o)
		})
		return err
	})
}

// evaluatePipeline compares what a pipeline makes of a treebank's text with the treebank.
func evaluatePipeline(cmd *cobra.Command, u *modelFlags, goldTokens bool, more *reviews) error {
	if err := pipelineFlags(cmd, "data", "format", "bad", "gold-tokens", "errors", "intervals", tasks.WordsSetting); err != nil {
		return err
	}
	reviewed, err := more.wanted(false)
	if err != nil {
		return err
	}
	switch {
	case u.Path == "" || u.Path == builtin:
		return structured.BadInput("no data: give --data FILE.conllu, a treebank")
	case u.Format != "" && u.Format != formats.Conllu:
		return structured.BadInput("--format %s: a pipeline is compared with CoNLL-U", u.Format)
	}
	if err := u.check(); err != nil {
		return err
	}
	p, err := u.encoder.loadPipeline(u.model)
	if err != nil {
		return err
	}
	p.LimitWords(u.MaxWords)
	ctx := cmd.Context()
	if err := u.sharePipeline(ctx, p); err != nil {
		return err
	}
	if err := u.shareInput(ctx); err != nil {
		return err
	}
	u.Threads = u.ownThreads(u.Threads)
	var parts []conll18.Part
	scores, err := host.Await(ctx, func() (scores conll18.Scores, err error) {
		say := models.RemarksFor(u.bad)
		gold, err := p.ReadGold(u.Path, say)
		say.Log(slog.Default())
		if err != nil {
			return nil, err
		}
		err = u.onText(ctx, u.Path, func(to *bufio.Writer) {
			for k := range gold {
				_, _ = to.Write(gold[k].Append(nil))
			}
		})
		if err != nil {
			return nil, err
		}
		o := pipelines.EvaluateOptions{GoldWords: goldTokens, Threads: u.Threads}
		if !reviewed {
			return p.Evaluate(ctx, gold, u.Path, o)
		}
		scores, parts, err = p.EvaluateParts(ctx, gold, u.Path, o)
		return scores, err
	})
	if err != nil {
		return err
	}
	all := review.Extended{Object: scores}
	said, err := more.ofParts(parts, u.Path, &all)
	if err != nil {
		return err
	}
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, all)
	}
	from := "from raw text"
	if goldTokens {
		from = "from gold sentences, tokens and words"
	}
	_, err = fmt.Printf("%s (per cent)\n%s%s", from, scores.Table(), said)
	return err
}

// sharePipeline shares the work of a pipeline, the same on all ranks.
func (u *modelFlags) sharePipeline(ctx context.Context, p *pipelines.Pipeline) error {
	return u.share(ctx, p.Fingerprint, p.ShareWith)
}

// pipelineInfo lists the stages of a pipeline.
type pipelineInfo struct {
	Task        string              `json:"task"`
	Version     string              `json:"version"`
	Fingerprint string              `json:"fingerprint"`
	Encoder     *encoderInside      `json:"encoder,omitempty"`
	Stages      []pipelineStageInfo `json:"stages"`
}

type pipelineStageInfo struct {
	Name       string `json:"name"`
	Labels     int    `json:"labels"`
	Attributes int    `json:"attributes"`
}

func aboutPipeline(path string, encoder *encoderFolder) (*pipelineInfo, error) {
	p, err := encoder.loadPipeline(path)
	if err != nil {
		return nil, err
	}
	about := &pipelineInfo{Task: pipelines.Task, Version: p.Version, Fingerprint: p.Fingerprint, Encoder: insideOfEncoder(p.Encoder())}
	for _, name := range p.Stages() {
		s := pipelineStageInfo{Name: name, Labels: 1}
		if m := p.Model(name); m != nil {
			s.Labels, s.Attributes = m.Labels.Len(), attributesOf(m)
		}
		about.Stages = append(about.Stages, s)
	}
	return about, nil
}

// attributesOf returns how many attributes a linear model has.
func attributesOf(m *models.Model) int {
	if arcs, labels, _ := m.ArcAttributes(); arcs > 0 {
		return arcs + labels
	}
	if m.Dictionary != nil {
		return m.Dictionary.Nodes()
	}
	return 0
}

func (p *pipelineInfo) print(w io.Writer) error {
	rows := [][]string{{"stage", "labels", "attributes"}}
	for _, s := range p.Stages {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Labels), fmt.Sprint(s.Attributes)})
	}
	if _, err := fmt.Fprintf(w, "pipeline     from raw text to trees, in stages; each is a model in a folder of its own\ntrained by   dsp %s\nfingerprint  %s\n", p.Version, p.Fingerprint); err != nil {
		return err
	}
	if e := p.Encoder; e != nil {
		if _, err := fmt.Fprintf(w, "encoder      %s: %d layers of width %d, in %s; stages share its rows (%s, %s pieces)\n", e.Family, e.Depth, e.Width, e.From, e.Layers, e.Words); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return printTable(w, rows)
}
