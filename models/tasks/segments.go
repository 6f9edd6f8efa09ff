package tasks

import (
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
)

// Sequences that are divided into segments (--structure segments). Files have them as entity tags. Numbered tags have
// the order of segments.Segments: B-x, I-x for each type, then O, whose segments are single tokens.

// bySegments reports whether tags are predicted as segments.
func bySegments(c *config.Config) bool { return c.Structure == "segments" }

// segmentScheme is the scheme of tags that shows where segments begin.
const segmentScheme = "iob2"

func checkTags(c config.Config) error {
	if err := checkLabels(c); err != nil || !bySegments(&c) {
		return err
	}
	switch {
	case c.Partial:
		return structured.BadInput("--structure segments needs known tags; --partial is for --structure chain")
	case c.Scheme != "keep" && c.Scheme != segmentScheme:
		return structured.BadInput("--structure segments reads tags of any scheme and predicts them in %s; leave out "+
			"--scheme %s (dsp predict --scheme converts what it writes)", segmentScheme, c.Scheme)
	case c.Constraints != "none":
		return structured.BadInput("--constraints %s has no effect on segments, whose tags always keep their scheme",
			c.Constraints)
	case c.SegmentLoss == "segments" && (len(c.LabelWeights) > 0 || c.LossByLength):
		return structured.BadInput("--segment-loss segments counts segments; --label-weights and --loss-by-length are " +
			"for --segment-loss tags")
	case c.Edges != nets.EdgesTransition:
		return structured.BadInput("--edges %s: segments have transitions; the others are for --structure chain", c.Edges)
	}
	return nil
}

// completeSegments makes readers convert tags to the scheme that shows where segments begin.
func completeSegments(c *config.Config) {
	if bySegments(c) && c.Scheme == "keep" {
		c.Scheme = segmentScheme
	}
}

func tagOutput(c config.Config, in inputs.Inputs, labels int) nets.Output {
	if bySegments(&c) {
		form := segments.Form
		if c.SegmentLoss == "segments" {
			form = segments.CountedForm
		}
		with := segments.Optional{Ends: c.SegmentEnds, Whole: in.Dictionary != nil && in.Dictionary.Segment != nil}
		return nets.Output{Labels: labels, Form: form(labels, max(1, c.MaxLength), with)}
	}
	return labelOutput(c, in, labels)
}

// tagLoss counts wrong tags, or wrong segments.
func tagLoss(c *config.Config, labels *structured.Alphabet) (structured.TaskLoss, error) {
	if bySegments(c) && c.SegmentLoss == "segments" {
		return segments.Count{Tags: labels.Len()}, nil
	}
	return hamming(c, labels)
}

// prepareSegments numbers the tags of the training data in the order that the structure has, and refuses or splits
// segments that are too long. The tags of a teacher are in that order, and data may have them in part.
func prepareSegments(c *config.Config, train *structured.Dataset) (*Change, error) {
	if !bySegments(c) {
		return nil, nil
	}
	if c.Teacher != "" {
		if err := checkBegins(train); err != nil {
			return nil, err
		}
	} else if err := orderTags(c, train); err != nil {
		return nil, err
	}
	if c.MaxLength == 0 {
		return nil, nil
	}
	split := 0
	for i := range train.Len() {
		if train.Partial(i) {
			continue
		}
		tags := train.Gold(i)
		var err error
		segments.Each(slices.Clone(tags), func(s segments.Segment) {
			length := s.Last - s.First + 1
			switch {
			case length <= c.MaxLength || err != nil:
				return
			case c.Overlong == "refuse":
				err = structured.BadInput("%s: a segment %s of %d tokens, expected at most %d (--max-length); "+
					"--overlong split divides it",
					train.WhereToken(i, s.First), train.Alphabet.Name(tags[s.First]), length, c.MaxLength)
				return
			}
			split++
			for t := s.First + c.MaxLength; t <= s.Last; t += c.MaxLength {
				tags[t] = 2 * s.Label
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if split == 0 {
		return nil, nil
	}
	return &Change{"segments of the training data longer than --max-length were split", []any{"segments", split}}, nil
}

// checkBegins refuses segments of d, whose tags are those of a teacher, that do not begin with a tag B-x.
func checkBegins(d *structured.Dataset) error {
	for i := range d.Len() {
		if d.Partial(i) {
			continue
		}
		tags := d.Gold(i)
		for t, l := range tags {
			if inside := l%2 == 1 && l != segments.Outside(d.Alphabet.Len()); inside &&
				(t == 0 || tags[t-1] != l && tags[t-1] != l-1) {
				return structured.BadInput("%s: %s begins a segment, expected %s: with --teacher, tags are in the "+
					"scheme of its labels, %s",
					d.WhereToken(i, t), d.Alphabet.Name(l), d.Alphabet.Name(l-1), segmentScheme)
			}
		}
	}
	return nil
}

// orderTags numbers the tags of d such that a label's tags follow each other, and O is the last.
func orderTags(c *config.Config, d *structured.Dataset) error {
	types, _ := chains.EntityTypes(d.Alphabet)
	ordered := structured.NewAlphabet()
	for _, x := range types {
		ordered.Add(tagName('B', x))
		ordered.Add(tagName('I', x))
	}
	ordered.Add("O")
	if names := d.Alphabet.Names(); slices.Equal(names, ordered.Names()) {
		return nil
	} else if at := slices.Index(names, "O"); c.Init+c.Prior != "" && at >= 0 && at < len(names)-1 {
		return structured.BadInput("%s: label %s is none of the model's, and a model of segments takes no new ones", d.Name,
			names[at+1])
	}
	number := make([]int32, d.Alphabet.Len())
	for l, name := range d.Alphabet.Names() {
		number[l] = ordered.Index(name)
	}
	d.Labels = slices.Clone(d.Labels)
	for t, l := range d.Labels {
		d.Labels[t] = number[l]
	}
	d.Alphabet = ordered
	return nil
}

// tagName returns the tag of a type, which may be empty.
func tagName(part byte, typ string) string {
	if typ == "" {
		return string(part)
	}
	return string(part) + "-" + typ
}

// decideLength makes the longest segment of the training data the longest one of the model.
func decideLength(c *config.Config, train *structured.Dataset) {
	if bySegments(c) && c.MaxLength == 0 {
		c.MaxLength = segments.Longest(train)
	}
}
