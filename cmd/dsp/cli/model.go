package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// builtin stands for drawn data where a verb expects a data file.
const builtin = "builtin"

// modelFlags holds the flags that all verbs with a --model share.
type modelFlags struct {
	models.Request // of the data; Partial is for some only
	model, device  string
	bad            string // what becomes of bad examples
	encoder        encoderFolder
	taggers        taggers // of verbs with --tagger
	sharing                // of verbs with --ranks

	stop func() // releases the device
}

// addFlags adds the flags that name the model and how to read data.
func (u *modelFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&u.model, "model", "", "`MODEL` file, or the folder of a run")
	u.encoder.addFlag(cmd)
	flags.StringVar(&u.Format, "format", "", "layout of the data: `"+strings.Join(formats.Names(), "|")+
		"`; empty: the model's, or recognised from the file")
	flags.StringVar(&u.Columns, "columns", "", "columns of conll data, such as `word=0,label=-1`; empty: the model's")
	flags.StringVar(&u.Comments, "comments", "", "what lines of conll data start with that are comments, wherever they "+
		"stand, `PREFIX|none`; empty: the model's")
	flags.StringVar(&u.Label, "label", "", "label of conllu data: `upos|xpos|feats|deprel|misc[:KEY]`; empty: the model's")
	flags.Var(&fileList{to: &u.Dense}, "dense", "npz `FILE` with the dense features of the tokens, for models that read them beside words")
	flags.Var(&fileList{to: &u.Boxes}, "boxes", "`FILE` with candidate boxes in COCO's format of results, for models "+
		"that choose among candidates; empty: sliding windows")
	flags.Var(&fileList{to: &u.Images}, "images", "`DIR` of the images, for coco and voc data; empty: beside the annotations")
	flags.Var(&fileList{to: &u.Links}, "links", "`FILE` with the gold links of sentence pairs, one line per pair, if "+
		"they are not in the data file")
	flags.Var(&fileList{to: &u.Masks}, "masks", "`DIR` of the masks of a folder of images, for models that label pixels")
	flags.StringVar(&u.Void, "void", "", "value in masks that counts nowhere, `auto|none|VALUE`; empty: the model's")
	flags.StringVar(&u.Values, "mask-values", "", "values of the labels in masks, in order, `auto|V,V,...`; empty: the model's")
	flags.IntVar(&u.MaxWords, "max-words", 0, "longest sentence, in words `N`; 0: 1,000,000, or 5,000 for trees and "+
		"links, whose memory grows with its square")
	flags.IntVar(&u.Threads, "threads", 0, "number `N` of threads; it does not change the results; 0: all cores")
	flags.StringVar(&u.device, "device", "cpu", "where to compute: `cpu|cuda[:N]`; N is the number of the GPU, from 0; a "+
		"GPU reads the data in one piece, and its scores differ from the CPU's in the last digits")
	flags.StringVar(&u.bad, "bad", models.RefuseBad, "bad examples in the data: refuse the file, or leave them out and "+
		"list them: `refuse|skip`")
	complete(cmd, "bad", models.RefuseBad, models.SkipBad)
	complete(cmd, "format", formats.Names()...)
	complete(cmd, "device", "cpu", "cuda")
}

// check refuses values that flags do not have.
func (u *modelFlags) check() error {
	switch {
	case u.MaxWords < 0:
		return structured.BadInput("--max-words %d: expected 0 or more", u.MaxWords)
	case u.Threads < 0:
		return structured.BadInput("--threads %d: expected 0 or more", u.Threads)
	}
	return settings.OneOf("--bad", u.bad, []string{models.RefuseBad, models.SkipBad})
}

// load reads the model.
func (u *modelFlags) load(ctx context.Context) (*models.Model, error) {
	if u.model == "" {
		return nil, structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run")
	}
	if err := u.check(); err != nil {
		return nil, err
	}
	u.Remarks = models.RemarksFor(u.bad)
	m, err := u.encoder.read(u.model)
	if err != nil {
		return nil, err
	}
	if m.Unfinished > 0 {
		slog.Warn("the run is not finished: these are the weights of its checkpoint; dsp train --resume continues it",
			"run", u.model, "pass", m.Unfinished)
	}
	if err := u.taggers.first(m, &u.encoder); err != nil {
		return nil, err
	}
	if err := u.encoder.check(u.model); err != nil {
		return nil, err
	}
	if err := u.checkMaxWords(m); err != nil {
		return nil, err
	}
	m.MaxWords = u.MaxWords
	m.OnTruncated(func(times int) {
		slog.Warn("cuts are exact only for edges that favour equal labels: others were truncated, and the labels may not be "+
			"the best", "times", times)
	})
	m.OnUnlike(func(data string, u models.Unlike) { slog.Warn(u.Message, append([]any{"data", data}, u.Values...)...) })
	m.OnBounds(sayBounds)
	m.OnExpectedF1(sayExpectedF1)
	u.Threads = u.ownThreads(u.Threads)
	if u.stop, err = m.Use(u.ownDevice(u.device)); err != nil {
		return m, err
	}
	return m, u.share(ctx, train.FingerprintOf(m.W), m.ShareWith)
}

// checkMaxWords refuses --max-words where the model or the data have no sentences.
func (u *modelFlags) checkMaxWords(m *models.Model) error {
	if u.MaxWords == 0 {
		return nil
	}
	if !tasks.Of(&m.Config).TakesSetting(tasks.WordsSetting) {
		return structured.BadInput("--max-words %d has no effect: the model's task %s reads no sentences", u.MaxWords,
			m.Config.Task)
	}
	format := cmp.Or(u.Format, m.Config.Format)
	if format != builtin && !formats.Find(format).TakesSetting(tasks.WordsSetting) {
		return structured.BadInput("--max-words %d has no effect with --format %s, which has no sentences", u.MaxWords,
			format)
	}
	return nil
}

// sayBounds says how far outputs may be from the best ones.
func sayBounds(s predictions.Bounds) {
	about := "outputs may not be the best"
	if s.Decoded {
		about = "alpha-expansion finds labels that may not be the best"
	}
	about += fmt.Sprintf(": %d of %d outputs are proven to be the best ones", s.Outputs-s.Unproven, s.Outputs)
	values := []any{"score", fmt.Sprintf("%.9g", s.Score)}
	if math.IsInf(s.Bound, 1) {
		values = append(values, "bound", "none")
	} else {
		values = append(values, "bound", fmt.Sprintf("%.9g", s.Bound), "gap", fmt.Sprintf("%.3g", s.Gap()))
	}
	slog.Info(about, values...)
}

// sayExpectedF1 says what entities were chosen by.
func sayExpectedF1(f models.ExpectedF1) {
	slog.Info("entities are those with the largest expected F1",
		"expected_f1", fmt.Sprintf("%.4g", f.F1), "threshold", fmt.Sprintf("%.4g", f.Threshold))
}

// close releases what load acquired.
func (u *modelFlags) close() {
	if u.stop != nil {
		u.stop()
	}
}

// read reads the model and the data; flag is the name of the flag that gives the data.
func (u *modelFlags) read(ctx context.Context, flag string, needLabels bool) (*models.Model, *structured.Dataset, error) {
	m, err := u.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, err := u.readFor(ctx, m, flag, needLabels)
	return m, d, err
}

// readFor reads data for a model, until ctx ends.
func (u *modelFlags) readFor(ctx context.Context, m *models.Model, flag string,
	needLabels bool) (*structured.Dataset, error) {
	if u.Path == "" {
		return nil, noData(flag)
	}
	r := u.Request
	r.Labels = needLabels
	return u.readWith(ctx, func() (*structured.Dataset, error) { return m.ReadData(r) })
}

// readWith reads data whole, the same on all ranks.
func (u *modelFlags) readWith(ctx context.Context, read func() (*structured.Dataset, error)) (*structured.Dataset, error) {
	if err := u.shareInput(ctx); err != nil {
		return nil, err
	}
	d, err := host.Await(ctx, read)
	if err != nil {
		return nil, err
	}
	u.Remarks.Log(slog.Default())
	return d, u.onData(ctx, d)
}

// shareInput gives all ranks what comes on standard input, if that is read.
func (u *modelFlags) shareInput(ctx context.Context) error {
	for _, path := range []string{u.Path, u.Dense, u.Links, u.Boxes} {
		if slices.Contains(formats.Files(path), "-") {
			return u.input(ctx)
		}
	}
	return nil
}

// readGiven reads data to be predicted, with what is known of their outputs.
func (u *modelFlags) readGiven(ctx context.Context, m *models.Model,
	o predictions.Options) (*structured.Dataset, error) {
	return u.readWith(ctx, func() (*structured.Dataset, error) { return m.ReadGiven(u.Request, o) })
}

// open opens the input, which of several ranks rank 0 alone does.
func (u *modelFlags) open() (io.ReadCloser, error) {
	if !u.leads() {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return host.Open(u.Path)
}

// noData is the error for data that no flag gives.
func noData(flag string) error {
	return structured.BadInput("no data: give %s FILE, or %s builtin for the drawn words, trees, sentence pairs, lines, "+
		"scenes or graphs", flag, flag)
}

// encoderFolder is where the encoder is of models that refer to one (train --encoder-by-reference).
type encoderFolder struct {
	path   string // empty: where the model's run says, or beside the model
	used   bool   // a model that was read refers to an encoder
	others bool   // other models are read after the first, which may; the last one checks
}

func (e *encoderFolder) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.path, "encoder", "", encoderHelp)
}

// encoderHelp is the help of --encoder.
const encoderHelp = "`DIR` of the encoder, or with it inside, of models that keep only its name; empty: where the run " +
	"had it, or beside the model"

func (e *encoderFolder) source() encoded.Source { return encoded.Source{Folder: e.path} }

// read reads a model.
func (e *encoderFolder) read(path string) (*models.Model, error) {
	m, err := models.LoadWith(path, e.source())
	if err == nil {
		e.sees(m)
	}
	return m, err
}

// sees notes whether a model that was read refers to an encoder.
func (e *encoderFolder) sees(m *models.Model) {
	if m.Encoder != nil && m.Encoder.ByReference {
		e.used = true
	}
}

// load reads the only model.
func (e *encoderFolder) load(path string) (*models.Model, error) {
	m, err := e.read(path)
	if err != nil {
		return nil, err
	}
	return m, e.check(path)
}

// check refuses a folder that no model needs.
func (e *encoderFolder) check(path string) error {
	if e.path != "" && !e.used && !e.others {
		return structured.BadInput("--encoder %s has no effect: %s refers to no encoder (train --encoder-by-reference)",
			e.path, path)
	}
	return nil
}

// loadPipeline reads a pipeline.
func (e *encoderFolder) loadPipeline(path string) (*pipelines.Pipeline, error) {
	p, err := pipelines.Load(path, e.path)
	if err != nil {
		return nil, err
	}
	e.used = p.Refers()
	return p, e.check(path)
}

// taggers are models that label words before another model reads them: [COLUMN=]MODEL each.
type taggers []string

func (t *taggers) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar((*[]string)(t), "tagger", nil, "`[COLUMN=]MODEL` labels the words first, and its labels "+
		"replace the column that the model reads beside the words, such as upos of a parser; may be repeated")
}

// first has the taggers label the words of all that m reads. The encoders of those that refer to one are in a folder.
func (t taggers) first(m *models.Model, encoders *encoderFolder) error {
	by := map[string]*models.Model{}
	for _, value := range t {
		column, path := models.ParseTagger(value)
		if by[column] != nil {
			return structured.BadInput("--tagger %s: another --tagger fills this column, too; name the columns: --tagger "+
				"COLUMN=MODEL", value)
		}
		var err error
		if by[column], err = encoders.read(path); err != nil {
			return err
		}
	}
	return m.TagFirst(by)
}
