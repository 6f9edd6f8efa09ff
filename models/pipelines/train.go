package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/record"
)

// Result is the outcome of training: the last object that dsp train --json prints.
type Result struct {
	Task        string         `json:"task"`
	Model       string         `json:"model"` // the folder
	Fingerprint string         `json:"fingerprint"`
	Seconds     float64        `json:"seconds"` // of the trainings
	Ranks       int            `json:"ranks"`   // processes that trained together
	Stages      []StageResult  `json:"stages"`
	Dev         conll18.Scores `json:"dev"` // from raw text; null without development data
	Test        conll18.Scores `json:"test"`
}

// StageResult is the outcome of a stage's training on the whole treebank.
type StageResult struct {
	Name     string  `json:"name"`
	Constant *string `json:"constant,omitempty"` // the only label of the treebank; nothing was trained
	Replaced string  `json:"replaced,omitempty"` // the run whose model it has, which was not trained here
	Labels   int     `json:"labels,omitempty"`
	Passes   int     `json:"passes,omitempty"`
	Kept     int     `json:"kept,omitempty"` // the pass whose weights the model has
	Seconds  float64 `json:"seconds"`        // with those of the folds
	// a bound on how far these weights are from the optimum; null where nothing is known
	RelativeGap record.Number `json:"relative_gap"`
	// of the stage alone, on gold sentences and what the stages before predict
	Dev map[string]float64 `json:"dev,omitempty"`
}

// trainer trains the stages of a pipeline.
type trainer struct {
	config   config.Config
	own      Settings
	options  training.TrainOptions
	dir      string
	progress progress

	gold, dev       []conllu.Sentence // dev may be nil
	seen, seenDev   []conllu.Sentence // the same, with what stages predict in place of the gold fields
	stages          []manifestStage
	replaced        []replacement
	wordsOfTreebank int

	encoder       *encoded.Reader     // that stages read, or nil
	rows, rowsDev *structured.Dataset // the words of gold and dev with its rows, or nil
	foldRows      []string            // files with those of folds, while tags are learned
}

// Train trains a pipeline as c says and leaves it in the folder c.Out. When ctx ends it returns train.ErrInterrupted;
// with c.Resume it continues the stage that was under way, to the same bits. Of several ranks those after the first
// return nil.
func Train(ctx context.Context, c config.Config, o training.TrainOptions) (*Result, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Explained = new(atomic.Bool) // for all stages
	own, err := ownSettings(&c)
	if err != nil {
		return nil, err
	}
	if o.Several() {
		if err := training.Agree(ctx, &c, o); err != nil {
			return nil, err
		}
		if o.Ranks.Rank() > 0 {
			return nil, follow(ctx, c, o)
		}
	}
	if c.Train == "" {
		return nil, structured.BadInput("--task %s learns from a treebank: give --train FILE.conllu", Task)
	}
	t := &trainer{config: c, own: own, options: o}
	t.dir = cmp.Or(c.Resume, c.Out)
	_, err = host.Await(ctx, func() (struct{}, error) { return struct{}{}, t.read() })
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return nil, train.ErrInterrupted
	case err != nil:
		return nil, err
	}
	if t.dir == "" {
		t.dir, err = host.TimedFolder(training.RunsFolder, Task, time.Now())
	} else if c.Resume == "" {
		err = os.MkdirAll(t.dir, 0o777)
	}
	if err != nil {
		return nil, structured.BadInput("--out: %w", err)
	}
	if c.Resume != "" {
		if _, err := os.Stat(t.dir); err != nil {
			return nil, structured.BadInput("--resume: %w", err)
		}
	}
	release, err := host.LockFolder(t.dir)
	if err != nil {
		return nil, err
	}
	r, err := t.run(ctx)
	if err == nil {
		err = dismiss(ctx, o)
	}
	return r, errors.Join(err, release())
}

// run trains in the folder, which is locked.
func (t *trainer) run(ctx context.Context) (*Result, error) {
	if err := t.begin(); err != nil {
		return nil, err
	}
	for _, r := range t.replaced {
		if err := t.replace(r); err != nil {
			return nil, err
		}
	}
	t.options.Log.Info("data", "training", t.config.Train, "sentences", len(t.gold), "words", t.wordsOfTreebank)
	err := t.encode(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, train.ErrInterrupted
	}
	if err == nil {
		err = errors.Join(t.trainAll(ctx), t.forgetFolds())
	}
	if err == nil {
		err = t.forgetRows()
	}
	if err != nil {
		return nil, err
	}
	return t.finish(ctx)
}

// parses reports whether there is a stage of trees.
func (t *trainer) parses() bool { return !slices.Contains(t.own.skipped(), treesStage) }

// read reads the data.
func (t *trainer) read() error {
	c := &t.config
	say := models.RemarksFor(c.Bad)
	t.progress = progress{Data: map[string]string{}, Own: t.own, Seed: c.Seed, Passes: c.Passes, Patience: c.Patience,
		Stage: c.StageSettings.String(), Tree: c.Tree, Crossing: c.Crossing, Refers: c.EncoderByReference}
	for _, data := range []struct {
		name string
		path *string
		to   *[]conllu.Sentence
	}{{"train", &c.Train, &t.gold}, {"dev", &c.Dev, &t.dev}, {"test", &c.Test, new([]conllu.Sentence)}} {
		if *data.path == "" {
			continue
		}
		var err error
		if *data.path, err = formats.Expand(data.name, *data.path, formats.Conllu); err != nil {
			return err
		}
		all, err := ReadTreebank(*data.path, t.parses(), say)
		if err != nil {
			return err
		}
		if *data.to = all; data.name == "test" {
			continue // it changes nothing that is learned
		}
		var hashes []string
		for _, path := range formats.Files(*data.path) {
			hash, err := hashFile(path)
			if err != nil {
				return structured.BadInput("%w", err)
			}
			hashes = append(hashes, hash)
		}
		t.progress.Data[data.name] = strings.Join(hashes, " ")
	}
	say.Log(t.options.Log)
	for i := range t.gold {
		t.wordsOfTreebank += len(t.gold[i].Words)
	}
	if t.wordsOfTreebank == 0 || len(t.gold) < t.own.Folds {
		return structured.BadInput("%s: %d sentences, expected at least %d, one for each fold",
			c.Train, len(t.gold), t.own.Folds)
	}
	t.gold = vary(t.gold, t.own.Vary, c.Seed)
	t.seen, t.seenDev = copyOf(t.gold), copyOf(t.dev)
	if err := t.openEncoder(); err != nil {
		return err
	}
	var err error
	t.replaced, err = t.replacements()
	return err
}

// trainAll trains the stages that are not finished.
func (t *trainer) trainAll(ctx context.Context) error {
	rules, several := rulesOf(t.gold), severalWords(t.gold)
	gold, dev := ask(t.gold, several), ask(t.dev, several)
	if err := t.single(ctx, charactersStage, characterTable(gold), characterTable(dev)); err != nil {
		return err
	}
	if rules.Len() > 0 || t.result(wordsStage) != nil {
		if err := t.single(ctx, wordsStage, multiwordTable(gold, rules), multiwordTable(dev, rules)); err != nil {
			return err
		}
	}
	for _, s := range tagStages {
		if err := t.tags(ctx, s); err != nil {
			return err
		}
	}
	return t.trees(ctx)
}

// single trains a stage that no other one reads the predictions of.
func (t *trainer) single(ctx context.Context, name string, table, dev *table) error {
	if done, err := t.done(name); done || err != nil {
		return err
	}
	if label, same := table.constant(); same {
		return t.finished(StageResult{Name: name, Constant: &label})
	}
	r, err := t.learn(ctx, name, table, dev, nil)
	if err != nil {
		return err
	}
	return t.finished(r)
}

// tags trains a stage that fills a field, and fills it in what later stages see.
func (t *trainer) tags(ctx context.Context, s stage) error {
	table, dev := s.table(t.seen, t.gold), s.table(t.seenDev, t.dev)
	if s.simplify != nil {
		s.simplify(table, dev)
	}
	done, err := t.done(s.name)
	if err != nil {
		return err
	}
	if slices.Contains(t.own.skipped(), s.name) {
		for _, sentences := range [][]conllu.Sentence{t.seen, t.seenDev} {
			fillField(s.field)(sentences, repeated(conllu.Empty, sentences))
		}
		return nil
	}
	if label, same := table.constant(); same && (!done || t.result(s.name).Constant != nil) {
		if !done {
			err = t.finished(StageResult{Name: s.name, Constant: &label})
		}
		if err == nil {
			s.fill(t.seen, repeated(label, t.seen))
			s.fill(t.seenDev, repeated(label, t.seenDev))
		}
		return err
	}
	if !done {
		r, err := t.learn(ctx, s.name, table, dev, t.readsRows(s))
		if err != nil {
			return err
		}
		if err := t.finished(r); err != nil {
			return err
		}
	}
	labels, seconds, err := t.jackknife(ctx, s, table)
	if err == nil {
		err = t.spent(s.name, seconds)
	}
	if err != nil {
		return err
	}
	s.fill(t.seen, labels)
	if t.dev == nil {
		return nil
	}
	predicted, err := t.predictWith(s.name, dev, t.rowsDev)
	if err == nil {
		s.fill(t.seenDev, predicted)
	}
	return err
}

// repeated returns a label for every word.
func repeated(label string, sentences []conllu.Sentence) []string {
	var all []string
	for i := range sentences {
		for range sentences[i].Words {
			all = append(all, label)
		}
	}
	return all
}

// learn trains the model of a stage, or of a fold, in a folder of that name, from a table. Training that was
// interrupted goes on. more sets what else it learns with, or is nil.
func (t *trainer) learn(ctx context.Context, name string, table, dev *table,
	more func(c *config.Config)) (StageResult, error) {
	dir := filepath.Join(t.dir, name)
	stage, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	watches := dev != nil && dev.sequences() > 0
	return t.train(ctx, name, func() (config.Config, error) {
		c, err := stageConfig(&t.config, stage, watches)
		if err != nil {
			return c, err
		}
		c.Columns, c.Train, c.Template = table.columnSetting(), filepath.Join(dir, "train.conll"),
			filepath.Join(dir, "template")
		if err := table.write(c.Train); err != nil {
			return c, err
		}
		if watches {
			c.Dev = filepath.Join(dir, "dev.conll")
			if err := dev.write(c.Dev); err != nil {
				return c, err
			}
		}
		if more != nil {
			more(&c)
		}
		return c, os.WriteFile(c.Template, []byte(template(stage)), 0o666)
	})
}

// readsRows has a stage that fills a field read rows of the encoder, if it does and there is one.
func (t *trainer) readsRows(s stage) func(c *config.Config) {
	return func(c *config.Config) {
		if s.rows && t.encoder != nil {
			t.readRows(c)
		}
	}
}

// trees trains the parser on what the stages before predict.
func (t *trainer) trees(ctx context.Context) error {
	if done, err := t.done(treesStage); done || err != nil {
		return err
	}
	dir := filepath.Join(t.dir, treesStage)
	r, err := t.train(ctx, treesStage, func() (config.Config, error) {
		c, err := stageConfig(&t.config, treesStage, t.dev != nil)
		if err != nil {
			return c, err
		}
		c.Train = filepath.Join(dir, "train.conllu")
		switch {
		case t.encoder != nil:
			t.readRows(&c)
		case c.Net == "linear": // others learn what to make of words and tags
			c.Template = filepath.Join(dir, "template")
			if err := os.WriteFile(c.Template, []byte(arcs.Builtin()+template(treesStage)), 0o666); err != nil {
				return c, err
			}
		}
		if err := writeTreebank(c.Train, asSeen(t.seen)); err != nil || t.dev == nil {
			return c, err
		}
		c.Dev = filepath.Join(dir, "dev.conllu")
		return c, writeTreebank(c.Dev, asSeen(t.seenDev))
	})
	if err != nil {
		return err
	}
	return t.finished(r)
}

// train trains in a folder: a run whose settings begin returns, or the one that is there.
func (t *trainer) train(ctx context.Context, name string, begin func() (config.Config, error)) (StageResult, error) {
	defer host.AtStage(filepath.ToSlash(name))()
	dir := filepath.Join(t.dir, name)
	var c config.Config
	var err error
	if _, begun := os.Stat(filepath.Join(dir, configFile)); begun == nil {
		c, err = training.ReadRun(dir)
	} else if err = os.MkdirAll(dir, 0o777); err == nil {
		if c, err = begin(); err == nil {
			c.Out = dir
			shared(&c, t.options)
		}
	}
	if err != nil {
		return StageResult{}, err
	}
	c.Device, c.Threads, c.Quiet = config.CPU, t.config.Threads, t.config.Quiet
	o := t.options
	o.Log = o.Log.With("stage", filepath.ToSlash(name))
	log, fold := o.Log, strings.Contains(filepath.ToSlash(name), "/")
	if fold { // as its stage but for a part of the sentences: a line is enough
		o.Log, c.Quiet = slog.New(warnings{log.Handler()}), true
	}
	result, err := together(ctx, c, o)
	if err != nil {
		return StageResult{}, fmt.Errorf("stage %s: %w", name, err)
	}
	if fold {
		log.Info("trained, to label the sentences left out",
			"passes", result.Passes, "ranks", result.Ranks, "seconds", fmt.Sprintf("%.1f", result.Seconds))
	}
	r := StageResult{Name: name, Passes: result.Passes, Kept: result.Kept.Pass, Seconds: result.Seconds,
		RelativeGap: result.Kept.RelativeGap}
	if result.Dev != nil {
		r.Dev = map[string]float64{}
		for _, measure := range []string{"token_accuracy", "uas", "las"} {
			if value := result.Dev.Get(measure); !math.IsNaN(value) {
				r.Dev[measure] = value
			}
		}
	}
	return r, nil
}

// warnings is a log handler that passes on warnings and errors, and drops the rest.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// finish lists the stages and evaluates the pipeline.
func (t *trainer) finish(ctx context.Context) (*Result, error) {
	m := manifest{Task: Task, Version: t.options.Version, Stages: t.stages,
		Several: slices.Sorted(maps.Keys(severalWords(t.gold)))}
	if t.encoder != nil {
		m.Encoder = &manifestEncoder{ID: t.encoder.ID(), Layers: t.config.EncoderLayers, Pieces: t.config.Pieces,
			Rows: t.config.EncoderRows}
		if t.encoder.Int8 {
			m.Encoder.Precision = t.config.EncoderPrecision
		}
		if t.config.EncoderByReference {
			m.Encoder.Reference = filepath.Base(t.encoder.Dir)
		}
	}
	m.Fingerprint = m.fingerprint()
	if err := writeJSON(filepath.Join(t.dir, listFile), &m); err != nil {
		return nil, err
	}
	p, err := Load(t.dir, "")
	if err != nil {
		return nil, err
	}
	r := &Result{Task: Task, Model: t.dir, Fingerprint: m.Fingerprint, Ranks: 1, Stages: t.progress.Stages}
	if t.options.Several() {
		r.Ranks = t.options.Ranks.Size()
	}
	for k := range r.Stages {
		s := &r.Stages[k]
		r.Seconds += s.Seconds
		if model := p.Model(s.Name); model != nil {
			s.Labels = model.Labels.Len()
		}
	}
	for _, data := range []struct {
		path string
		to   *conll18.Scores
	}{{t.config.Dev, &r.Dev}, {t.config.Test, &r.Test}} {
		if data.path == "" {
			continue
		}
		// which were said when training began
		gold, err := ReadTreebank(data.path, t.parses(), models.RemarksFor(t.config.Bad))
		if err != nil {
			return nil, err
		}
		if *data.to, err = p.Evaluate(ctx, gold, data.path,
			EvaluateOptions{Threads: t.config.Threads, GoldWords: p.stages[charactersStage] == nil}); err != nil {
			return nil, err
		}
	}
	return r, nil
}
