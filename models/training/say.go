package training

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/structured"
)

// sayData says what a training reads, and warns of what is odd about it.
func sayData(log *slog.Logger, c *config.Config, data *models.Data) {
	about := []any{"training", data.Train.Name, "examples", data.Train.Len(), "positions", data.Train.Positions()}
	if n := data.Train.Alphabet.Len(); n > 0 {
		about = append(about, "labels", n)
	}
	log.Info("data", about...)
	if describe := tasks.Of(c).Describe; describe != nil {
		for _, d := range data.Sets() {
			x := describe(d)
			log.Info(x.Message, x.Values...)
		}
	}
	for _, d := range data.Sets() {
		sayUnknown(log, data.Train.Alphabet, d)
	}
	if x := data.Change; x != nil {
		log.Info(x.Message, x.Values...)
	}
	if x := data.Choice; x != nil {
		log.Info(x.Message, x.Values...)
	}
	if x := data.Vectors; x != nil {
		log.Info("vectors of words", "file", c.Vectors, "vectors", x.InFile, "kept", x.Kept, "dimension", x.Dim,
			"frozen", c.Freeze,
			"tokens_with_vector", fmt.Sprintf("%.1f %%", 100*float64(x.Found)/float64(max(1, x.Tokens))),
			"memory", fmt.Sprintf("%.1f MiB", float64(x.Bytes)/(1<<20)))
	}
	for _, x := range data.Encoded {
		about := []any{"data", x.Data, "words", x.Words, "file", orNone(x.File)}
		if x.Found {
			about = append(about, "found", "there")
		} else {
			about = append(about, "pieces", x.Pieces, "seconds", fmt.Sprintf("%.1f", x.Took.Seconds()))
		}
		if x.Long > 0 {
			about = append(about, "sentences_in_windows", x.Long)
		}
		log.Info("rows of the encoder", about...)
	}
	ignored, example := unnamedColumns(data.Train)
	given := c.Given.Has("columns")
	if d := formats.Find(c.Format).DefaultColumns; c.Columns != d && d != "" && !given && c.Template == "" && c.Init == "" && c.Prior == "" {
		about := []any{"columns", c.Columns}
		if ignored != "" {
			about = append(about, "not_read", ignored)
		}
		log.Info("parts of speech are recognised, and attributes read them; --columns names other columns, or leaves them out",
			about...)
	} else if ignored != "" && c.Template == "" && !given && c.Init == "" && c.Prior == "" { // they read what their model reads
		// A template may read columns by number, and who names columns leaves out the others.
		log.Warn("columns without a name are not read; --columns names them: attributes read word and pos, a --template or a network reads any",
			"columns", ignored, "for_example", "--columns "+example)
	}
	if !c.Partial && formats.Find(c.Format).Tokens && data.Train.Alphabet.Index(text.AnyLabel) >= 0 {
		log.Warn("label " + text.AnyLabel +
			" is learned like any other label; with --partial it means that the label is unknown")
	}
	if odd, found := oddFeatures(data.Train); found {
		log.Warn("features have very different scales", "found", odd)
	}
}

// sayProblem says what was made of the data that the settings leave open.
func sayProblem(log *slog.Logger, c *config.Config, data *models.Data, p *Problem) {
	if c.Features == "auto" && c.Template == "" && c.Init == "" && p.model.Template != nil && tasks.Of(c).Labels {
		if set, why := inputs.BuiltinSet(data.Train.Alphabet); set == p.config.Features {
			log.Info("attributes of tokens", "features", set, "why", why)
		}
	}
	if e := p.model.Encoder; e != nil && c.EncoderLayers == "auto" && e.States() < encoders.UsualLayers {
		log.Info("the encoder has few layers: its rows are the mean of all hidden states", "hidden_states", e.States())
	}
	unread := unreadColumns(data.Train, p.model.Template)
	if len(unread) > 0 && c.Template == "" && c.Given.Has("columns") && p.model.Vocab == nil {
		log.Info("built-in attributes do not read these columns; --template reads any",
			"columns", strings.Join(unread, ","), "features", p.config.Features)
	}
	if s := p.model.Started; s != nil {
		log.Info("training continues a model", "from", s.From, "weights", strings.Join(s.Weights, " "),
			"drawn_anew", orNone(strings.Join(s.Drawn, " ")), "zero_at_first", orNone(strings.Join(s.Zero, " ")),
			"new_labels", orNone(structured.SomeOf(s.NewLabels)), "new_weights", s.NewWeights)
	}
}

// sayUnknown warns of gold labels that the training data lacks: no model can predict them.
func sayUnknown(log *slog.Logger, known *structured.Alphabet, d *structured.Dataset) {
	u := models.UnknownLabels(d, known)
	if u.Count == 0 {
		return
	}
	log.Warn("labels that the training data lacks count as errors", "data", d.Name,
		"labels", structured.SomeOf(u.Names), "times", u.Count, "first", u.First)
	if known := otherTags(known, u.Names); len(known) > 0 {
		log.Info("the training data has other tags of these types, as files of IOB1 do: --scheme iob2 learns all tags of a type",
			"tags", structured.SomeOf(known))
	}
}

// otherTags returns the known labels that differ from one of the unknown ones in the letter before the dash alone:
// I-PER for B-PER.
func otherTags(known *structured.Alphabet, unknown []string) (tags []string) {
	types := map[string]bool{}
	for _, name := range unknown {
		if letter, kind, dash := strings.Cut(name, "-"); dash && len(letter) == 1 {
			types[kind] = true
		}
	}
	for _, name := range known.Names() {
		if letter, kind, dash := strings.Cut(name, "-"); dash && len(letter) == 1 && types[kind] {
			tags = append(tags, name)
		}
	}
	return tags
}

// orNone returns a text for the log.
func orNone(text string) string { return cmp.Or(text, "none") }
