package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/predictions/rawtext"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// rawText holds the flags for input that is raw text.
type rawText struct {
	on, lines, presegmented, pretokenised, inline bool
}

func (t *rawText) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&t.on, "text", false, "the input is raw text, for models that tag or parse words: split it into sentences and tokens, by what a pipeline has learned, else by Unicode's rules (annex 29); an empty line ends a paragraph")
	flags.BoolVar(&t.lines, "lines", false, "with --text: every line ends a paragraph, and is answered at once")
	flags.BoolVar(&t.presegmented, "presegmented", false, "the input is text with a sentence on every line: split it into tokens alone; implies --text and --lines")
	flags.BoolVar(&t.pretokenised, "pretokenised", false, "the input is text that is split already: every line is a sentence, and blanks separate its tokens; implies --text and --lines")
	flags.BoolVar(&t.inline, "inline", false, `with --text: print the text with its entities marked, [Rome](LOC); \ goes before [, ] and \ of the text; labels that are no entity tags mark every token`)
}

// imply turns on what flags imply, and returns the one that asks for raw text.
func (t *rawText) imply() (asked string, err error) {
	switch {
	case t.presegmented && t.pretokenised:
		return "", structured.BadInput("--pretokenised takes every line as a sentence, too: leave --presegmented out")
	case t.presegmented:
		asked = "--presegmented"
	case t.pretokenised:
		asked = "--pretokenised"
	default:
		return "--text", nil
	}
	t.on, t.lines = true, true
	return asked, nil
}

// given says what of the splitting of the text is given, for a pipeline.
func (t *rawText) given() pipelines.Given {
	switch {
	case t.pretokenised:
		return pipelines.GivenTokens
	case t.presegmented:
		return pipelines.GivenSentences
	case t.lines:
		return pipelines.GivenLines
	}
	return pipelines.GivenParagraphs
}

// refusals refuses flags that do not go with the flags for raw text.
func (t *rawText) refusals(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	asked, err := t.imply()
	if err != nil {
		return err
	}
	if !t.on {
		for _, name := range []string{"lines", "inline"} {
			if given(name) {
				return structured.BadInput("--%s is for raw text: add --text", name)
			}
		}
		return nil
	}
	for _, refused := range [][2]string{
		{"format", "raw text has no format"}, {"columns", "raw text has no columns"}, {"comments", "raw text has no columns"}, {"label", "raw text has no columns"},
		{"dense", "raw text has no tokens yet that features could belong to"}, {"links", "raw text is not pairs of sentences"},
		{"boxes", "raw text is not images"}, {"images", "raw text is not images"}, {"masks", "raw text is not images"}, {"void", "raw text is not images"}, {"mask-values", "raw text is not images"},
		{"force", "raw text has no labels to keep"}, {"truncate", "it is for cuts"},
	} {
		if given(refused[0]) {
			return structured.BadInput("--%s has no use with %s: %s", refused[0], asked, refused[1])
		}
	}
	if input, _ := cmd.Flags().GetString("input"); input == builtin {
		return structured.BadInput("--input builtin is drawn data; %s needs a file of text, or - for standard input", asked)
	}
	if !t.inline {
		return nil
	}
	for _, name := range []string{"json", "spans", "nbest", "confidence", "score", "marginals", "entropy", "picture"} {
		if given(name) {
			if name == "json" || name == "spans" || name == "picture" {
				return structured.BadInput("--inline prints the text with marks and nothing else; --%s is another form; leave one of the two out", name)
			}
			return structured.BadInput("--inline prints the text with marks and nothing else; --%s needs another form of output, such as --json", name)
		}
	}
	return nil
}

// input opens the input of u; its name is for messages.
func (t *rawText) input(u *modelFlags) (in io.ReadCloser, name string, rules tokens.Rules, err error) {
	rules = tokens.Rules{Splitter: tokens.Unicode{}, Lines: t.lines, Whole: t.presegmented || t.pretokenised}
	if t.pretokenised {
		rules.Splitter = tokens.Blanks{}
	}
	in, err = u.open()
	return in, host.NameOf(u.Path), rules, err
}

// predict labels the input of u.
func (t *rawText) predict(ctx context.Context, u *modelFlags, m *models.Model, w io.Writer, o predictions.Options, asJSON bool) (err error) {
	r, err := rawtext.NewReader(m)
	if err != nil {
		return err
	}
	in, name, rules, err := t.input(u)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return r.Predict(ctx, in, name, w, rawtext.Options{Options: o, Rules: rules, JSON: asJSON, Inline: t.inline, Whole: u.device != "cpu"})
}

// draw draws the predicted trees of a few sentences, which of several ranks rank 0 alone does.
func (t *rawText) draw(ctx context.Context, u *modelFlags, m *models.Model, picture string) (err error) {
	r, err := rawtext.NewReader(m)
	if err != nil || !u.leads() {
		return err
	}
	in, name, rules, err := t.input(u)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	d, err := r.Read(in, name, rules)
	if err != nil {
		return err
	}
	return m.Draw(ctx, d, picture)
}

// noRawText is the refusal of raw text by verbs that need labels.
func noRawText(path string) error {
	return structured.BadInput("%s needs gold labels, which raw text does not have: give it one token per line with its label. dsp predict --text labels raw text", path)
}
