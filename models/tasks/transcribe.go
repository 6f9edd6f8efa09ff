package tasks

import (
	"maps"
	"strconv"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// transcribeSettings are those of --task transcribe alone.
type transcribeSettings struct {
	Height  int    `yaml:"height" min:"1" help:"pixels that images of lines are scaled to; chosen from the training images: their median height, 16 to 32"`
	Frame   int    `yaml:"frame" min:"1" help:"columns of pixels of a frame, which shows one symbol at most"`
	Symbols string `yaml:"symbols" values:"characters|words" help:"what a text is a string of: characters, or words with blanks between them"`
}

// Task transcribe reads lines of text. What a line reads is known, and not where.
var _ = builtin(Task{
	Name:     "transcribe",
	Outputs:  "strings",
	Summary:  "what a line of text or sound reads, from frames without labels of their own",
	Takes:    []string{"difficulty"},
	Formats:  []string{formats.NPZ, formats.Images}, // images alone, to predict on
	Settings: transcribeSettings{Height: 16, Frame: 2, Symbols: "characters"},
	Check:    checkTranscribe,
	Complete: func(c *config.Config) {
		if c.Net == "auto" {
			c.Net = "cnn"
		}
		chooseHeight(c)
		if c.Net == "cnn" && c.Window == 0 && len(c.Channels) > 0 {
			c.Window = 3 // frames are no images of letters, however many numbers they have
		}
		if c.Net == "cnn" && len(c.Channels) == 0 && c.Window == 0 {
			c.Window, c.Channels = lineWindow, []int{lineChannels, lineChannels}
			if !c.Gives("dropout") && config.MethodTakes("dropout", c) {
				c.Dropout = lineDropout
			}
		}
	},
	FileFormat: formats.Lines,
	Draw:       drawLines,
	Examples: func() settings.Sizes {
		o := ocr.DefaultTextLines()
		return settings.Sizes{o.Train, o.Dev, o.Test}
	},
	Read: readLines,
	CheckData: func(_ *config.Config, d *structured.Dataset, _ int) error {
		return transcripts.Frames{}.CheckData(d)
	},
	Fit: func(c *config.Config, _ inputs.Training) (inputs.Inputs, error) {
		return inputs.Inputs{Features: c.Features}, nil
	},
	Output: func(_ config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels + 1, Form: transcripts.Form(labels)}
	},
	Net:           func(graph.Input) string { return "cnn" },
	LogLikelihood: func(config.Config, inputs.Inputs) bool { return true },
	Request:       Lines,
	Printing: func(c *config.Config, o *predictions.Options) {
		o.Spaced = LineReader(c).Words
	},
	Layout: func(names *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout {
		return predictions.Transcripts(names, o, asJSON)
	},
	Compare:  func(*structured.Alphabet, *structured.Dataset, bool) Comparison { return &transcriptComparison{} },
	Review:   review.Transcripts,
	Describe: describeLines,
	Picture:  drawLinePicture,
	Metrics: []Metric{
		{"cer", "character accuracy", func(m *structured.Metrics) float64 { return 1 - m.Get("cer") }, characterShare},
		{"lines", "lines right", func(m *structured.Metrics) float64 { return m.Get("line_accuracy") },
			share("line_accuracy", "lines")},
	},
	Result: "character error is the number of symbols to change, insert and delete, per symbol; lines is the share of " +
		"lines that are right as a whole",
	Columns: []Column{{"character error", "cer"}, {"lines", "line_accuracy"}},
})

// The layers of the network on lines where nothing else is asked for: a symbol is recognised by what is beside it, too.
// Drawn lines are read better with dropout (docs/guide/transcribing.md).
const (
	lineWindow, lineChannels = 7, 64
	lineDropout              = 0.3
)

// Images are scaled to the median height of the training images within these bounds, where nothing else is asked for:
// more pixels are read better, up to a point, and cost more (docs/guide/transcribing.md).
const leastHeight, mostHeight = 16, 32

// chooseHeight sets the height of frames where it is open.
func chooseHeight(c *config.Config) {
	if c.Format != formats.Lines || c.Train == "" || c.Init != "" || c.Prior != "" || c.TaskSettings["height"] != "" {
		return
	}
	if height := lines.MedianHeight(formats.Files(c.Train)...); height > 0 {
		own := settings.Texts{"height": strconv.Itoa(max(leastHeight, min(height, mostHeight)))}
		maps.Copy(own, c.TaskSettings)
		c.TaskSettings = own
	}
}

// describeLines says how large the images are, and what they are scaled to.
func describeLines(d *structured.Dataset) *Change {
	values := []any{"data", d.Name, "lines", d.Len()}
	if s, ok := d.TaskData.(*lines.Set); ok {
		values = append(values, "median_height", s.Median, "scaled_to", s.Height)
	}
	return &Change{"lines of text", values}
}

// maxFrame bounds the height and the columns of a frame.
const maxFrame = 1024

func checkTranscribe(c config.Config) error {
	own, def := Own(&c).(*transcribeSettings), Of(&c).Settings.(transcribeSettings)
	switch {
	case own.Height > maxFrame || own.Frame > maxFrame:
		return structured.BadInput("--%s height=%d,frame=%d: expected at most %d", config.OwnSettingsName,
			own.Height, own.Frame, maxFrame)
	case c.Format == formats.NPZ && (own.Height != def.Height || own.Frame != def.Frame):
		return structured.BadInput("--%s height and frame say how images become frames, and --format npz has "+
			"frames; leave them out", config.OwnSettingsName)
	case c.Loss != "auto" && c.Loss != "crf":
		return structured.BadInput("--loss %s: which frame shows which symbol is not known, so no loss of frames can be "+
			"added; --task transcribe has the likelihood of what lines read (crf, which is CTC)", c.Loss)
	case c.Teacher != "":
		return structured.BadInput("--teacher %s: its marginals say which frame shows which symbol, and --task transcribe "+
			"learns what lines read; leave it out", c.Teacher)
	}
	return nil
}

// characterShare is 1 − the character error rate: the gold symbols, less one for each change. A string may need more
// changes than it has symbols.
func characterShare(m *structured.Metrics, _ []string) []Share {
	symbols := m.Get("symbols")
	return []Share{{symbols - m.Get("replaced") - m.Get("inserted") - m.Get("deleted"), symbols}}
}

// LineReader returns the reader of --task transcribe, which makes frames as the settings say.
func LineReader(c *config.Config) lines.Reader {
	own := Own(c).(*transcribeSettings)
	return lines.Reader{Height: own.Height, Columns: own.Frame, Words: own.Symbols == "words"}
}

// readLines reads images of lines or arrays of frames.
func readLines(c *config.Config, s Source) (*structured.Dataset, error) {
	r := LineReader(c)
	r.Remarks = s.Remarks
	read := func() (*structured.Dataset, error) { return r.ReadFolder(s.Path, s.Labels, !s.Unlabeled) }
	if s.Format == formats.NPZ {
		read = func() (*structured.Dataset, error) { return r.ReadArrays(s.Path, s.Labels, !s.Unlabeled, s.Dim) }
	}
	d, err := read()
	if err != nil || !s.Remarks.Skips() || d.Readings == nil || s.Unlabeled {
		return d, err
	}
	return s.Remarks.Keep(d, func(i int) error { return transcripts.CheckLine(d, i) })
}

// drawLines draws lines of handwriting-like letters.
func drawLines(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	o := ocr.DefaultTextLines()
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	o.Difficulty, o.Seed = c.Difficulty, c.Seed
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	r := LineReader(c)
	var names *structured.Alphabet
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		*to = r.Lines("drawn lines ("+ocr.LineSets[k]+")", names, func(add func(id string, m *images.Image, text string)) {
			for _, l := range o.Set(k) {
				add(l.Name, images.Of(l.Image), l.Text)
			}
		})
		if k == 0 {
			names = train.Alphabet
		}
	}
	return train, dev, test, nil
}

// transcriptComparison compares strings.
type transcriptComparison struct{ evaluator transcripts.Evaluator }

func (c *transcriptComparison) Add(d *structured.Dataset, i int, y []int32) {
	c.evaluator.Add(d.Readings[i], y)
}

func (c *transcriptComparison) measures() structured.Metrics { return c.evaluator.Metrics().General() }

func (c *transcriptComparison) Report() Report { return &TranscriptReport{c.evaluator.Metrics()} }

// TranscriptReport is the Report of strings.
type TranscriptReport struct{ transcripts.Metrics }

func (r *TranscriptReport) General() structured.Metrics { return r.Metrics.General() }

func (r *TranscriptReport) Text(ReportOptions) string { return r.Table() }
