package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
)

// tagged returns data of one sequence with these tags.
func tagged(tags ...string) *structured.Dataset {
	d := &structured.Dataset{Name: "x.conll", Offsets: []int{0, len(tags)}, Lines: []int{1}, Columns: [][]string{tags},
		Alphabet: structured.NewAlphabet()}
	for _, tag := range tags {
		d.Labels = append(d.Labels, d.Alphabet.Add(tag))
	}
	return d
}

func tagsOf(d *structured.Dataset) (all []string) {
	for _, l := range d.Labels {
		all = append(all, d.Alphabet.Name(l))
	}
	return all
}

// Tags get the order of the structure and keep their names; the longest segment decides the model's, if nothing else
// does.
func TestSegmentsAreNumbered(t *testing.T) {
	c := config.Default()
	c.Structure = "segments"
	d := tagged("O", "I-b", "B-a", "I-a", "I-a", "O", "B-b")
	before := tagsOf(d)
	if change, err := prepareSegments(&c, d); err != nil || change != nil {
		t.Fatal(change, err)
	}
	if want := []string{"B-b", "I-b", "B-a", "I-a", "O"}; !slices.Equal(d.Alphabet.Names(), want) ||
		!slices.Equal(tagsOf(d), before) {
		t.Errorf("%v, %v", d.Alphabet.Names(), tagsOf(d))
	}
	if decideLength(&c, d); c.MaxLength != 3 {
		t.Errorf("--max-length %d", c.MaxLength)
	}
	if form := tagOutput(c, inputs.Inputs{}, d.Alphabet.Len()).Form; form.Parts[1].Width != 3*3 ||
		form.Structure.Name() != "segmentation" {
		t.Errorf("%+v", form)
	}
}

// Segments that are too long are refused, with their line, or split.
func TestOverlongSegments(t *testing.T) {
	c := config.Default()
	c.Structure, c.MaxLength = "segments", 2
	tags := []string{"O", "B-a", "I-a", "I-a", "I-a", "I-a", "O", "B-a", "I-a"}
	if _, err := prepareSegments(&c, tagged(tags...)); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "x.conll:2: a segment B-a of 5 tokens, expected at most 2") {
		t.Error(err)
	}
	c.Overlong = "split"
	d := tagged(tags...)
	change, err := prepareSegments(&c, d)
	if want := []string{"O", "B-a", "I-a", "B-a", "I-a", "B-a", "O", "B-a", "I-a"}; err != nil || change == nil ||
		!slices.Equal(tagsOf(d), want) {
		t.Errorf("%v, %v, %v", tagsOf(d), change, err)
	}
}

func TestSegmentsRefuse(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"--partial is for --structure chain": func(c *config.Config) { c.Partial = true },
		"leave out --scheme bioes":           func(c *config.Config) { c.Scheme = "bioes" },
		"--constraints iob2 has no effect":   func(c *config.Config) { c.Constraints = "iob2" },
		"--edges position: segments have":    func(c *config.Config) { c.Edges = "position" },
	} {
		c := config.Default()
		c.Task, c.Train, c.Format, c.Structure = "tag", "x", "conll", "segments"
		if err := Validate(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := Validate(c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

// A teacher's tags are taken as they are, so each segment must begin with a tag B-x, alone or before its I-x: others
// are refused by line, with the tag that belongs there. Sequences that are not labelled in full are not looked at.
func TestSegmentsOfATeacherBegin(t *testing.T) {
	c := config.Default()
	c.Structure, c.Teacher = "segments", "runs/teacher"
	number := map[string]int32{"B-a": 0, "I-a": 1, "B-b": 2, "I-b": 3, "O": 4}
	of := func(tags ...string) *structured.Dataset {
		d := tagged(tags...)
		d.Alphabet = structured.NewAlphabet()
		for _, name := range []string{"B-a", "I-a", "B-b", "I-b", "O"} {
			d.Alphabet.Add(name)
		}
		for k, tag := range tags {
			d.Labels[k] = number[tag]
		}
		return d
	}
	for want, d := range map[string]*structured.Dataset{
		"": of("B-a", "I-a", "I-a", "B-a", "B-b", "I-b", "O", "O", "B-b", "O"),
		"x.conll:1: I-b begins a segment, expected B-b": of("I-b"),
		"x.conll:2: I-a begins a segment, expected B-a": of("O", "I-a"),
		"x.conll:3: I-b begins a segment, expected B-b": of("B-a", "I-a", "I-b"),
		"x.conll:2: I-b begins a segment, expected B-b": of("B-a", "I-b"),
	} {
		_, err := prepareSegments(&c, d)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", tagsOf(d), err, want)
		}
	}
	partial := of("I-b", "O")
	partial.Labels[1], partial.LabelSets = -1, [][]int32{{2, 4}}
	if _, err := prepareSegments(&c, partial); err != nil {
		t.Error(err)
	}
}
