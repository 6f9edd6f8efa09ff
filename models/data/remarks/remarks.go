// Package remarks collects what readers of data say about single examples: which are bad and left out, and what was
// done to others.
package remarks

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// Remarks are those of one run. Nil remarks refuse bad examples, and forget what they are told. Several goroutines may
// add to them.
type Remarks struct {
	skip bool

	mu   sync.Mutex
	bad  []string // why examples are left out
	made List
}

// A Remark is something that a reader did to examples, or decided about lines of text.
type Remark struct {
	Level slog.Level // a warning is about what the user should know
	What  string     // says it of several
	Times int
	First string // which was the first
}

// List holds remarks in the order in which they came up, each once.
type List []Remark

// Add adds remarks on later examples.
func (l *List) Add(more ...Remark) {
	for _, m := range more {
		if k := slices.IndexFunc(*l, func(r Remark) bool { return r.What == m.What }); k >= 0 {
			(*l)[k].Times += m.Times
		} else {
			*l = append(*l, m)
		}
	}
}

// New returns empty remarks. With skip, bad examples are left out; without, one is an error.
func New(skip bool) *Remarks { return &Remarks{skip: skip} }

// Skips reports whether bad examples are left out.
func (r *Remarks) Skips() bool { return r != nil && r.skip }

// Apart returns remarks like r that are forgotten, for what is read before it is read again.
func (r *Remarks) Apart() *Remarks { return New(r.Skips()) }

// Bad decides on an example that is bad. It returns nil, and keeps the reason, if the example is to be left out. Errors
// that are no bad input always come back.
func (r *Remarks) Bad(err error) error {
	if !r.Skips() || !structured.IsBadInput(err) || errors.Is(err, context.Canceled) {
		return err
	}
	r.LeftOut(err.Error())
	return nil
}

// Keep returns the data without the examples for which check has an error that leaves them out. None that is left is
// bad input.
func (r *Remarks) Keep(d *structured.Dataset, check func(i int) error) (*structured.Dataset, error) {
	kept, first, err := r.keep(d, check)
	if err == nil && kept.Len() == 0 {
		err = first
	}
	return kept, err
}

// KeepPart is Keep of a part of the data, of which none need be left.
func (r *Remarks) KeepPart(d *structured.Dataset, check func(i int) error) (*structured.Dataset, error) {
	kept, _, err := r.keep(d, check)
	return kept, err
}

func (r *Remarks) keep(d *structured.Dataset, check func(i int) error) (kept *structured.Dataset, first, err error) {
	var keep []int
	for i := range d.Len() {
		err := check(i)
		if err == nil {
			keep = append(keep, i)
			continue
		}
		if first == nil {
			first = err
		}
		if err = r.Bad(err); err != nil {
			return nil, first, err
		}
	}
	if len(keep) == d.Len() {
		return d, first, nil
	}
	if d.IDs == nil { // the others keep their numbers
		d.IDs = make([]string, d.Len())
		for i := range d.IDs {
			d.IDs[i] = strconv.Itoa(i)
		}
	}
	return d.Subset(keep), first, nil
}

// AllBad is the error of a file all of whose examples are left out, with the reason for the first.
func AllBad(path, first string) error {
	return structured.BadInput("%s: every example is bad; the first: %s", path, first)
}

// LeftOut adds the reasons for which examples were left out elsewhere.
func (r *Remarks) LeftOut(reasons ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.bad = append(r.bad, reasons...)
	r.mu.Unlock()
}

// Reasons returns why examples were left out.
func (r *Remarks) Reasons() []string {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bad)
}

// Done keeps what was done to an example: what says it of several, place which it is.
func (r *Remarks) Done(what, place string) { r.Add(Remark{slog.LevelInfo, what, 1, place}) }

// Doubt is Done of what the user should know.
func (r *Remarks) Doubt(what, place string) { r.Add(Remark{slog.LevelWarn, what, 1, place}) }

// Add adds remarks that came up elsewhere, such as on a part of a file.
func (r *Remarks) Add(more ...Remark) {
	if r == nil || len(more) == 0 {
		return
	}
	r.mu.Lock()
	r.made.Add(more...)
	r.mu.Unlock()
}

// Made returns the remarks on examples that are not left out.
func (r *Remarks) Made() List {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

// mostListed is how many of the examples that are left out are listed.
const mostListed = 100

// Log writes the remarks to a log and forgets them: how many examples are left out and why, and a line for each thing
// that was done to others.
func (r *Remarks) Log(log *slog.Logger) {
	if r == nil {
		return
	}
	r.mu.Lock()
	bad, all := r.bad, r.made
	r.bad, r.made = nil, nil
	r.mu.Unlock()
	for _, m := range all {
		log.Log(context.Background(), m.Level, m.What, "times", m.Times, "first", m.First)
	}
	if len(bad) == 0 {
		return
	}
	for _, reason := range bad[:min(len(bad), mostListed)] {
		log.Warn("left out", "reason", reason)
	}
	about := []any{"examples", len(bad)}
	if more := len(bad) - mostListed; more > 0 {
		about = append(about, "not_listed", more)
	}
	log.Warn("bad examples are left out", about...)
}

// What is decided about lines of text. Comments can be settled by hand.
const (
	Header   = "the first line names the columns, and is no token; --comments none makes it one"
	Comments = "lines that start with # are comments, and no tokens; --comments none makes them tokens"
	Guessed  = "lines that start with # are taken for comments, for no token has their labels; --comments none makes them tokens"
	Doubtful = "lines that start with # are taken for tokens, though no other token has their labels; --comments # makes them comments"
	Outside  = "words without a label in MISC are outside entities (O)"
	Labels   = "a column holds labels where the file has none; if they are its labels, --columns says which columns it has"
	Merged   = "entities that touch another one of their type are read as one with it, for --scheme io does not tell them apart"
	Brackets = "labels mark entities with brackets, as OntoNotes does, and are read as tags: (X* as B-X, * inside of X as I-X, and * outside as O"
	Failed   = "parses that failed, (()), are not counted, and their sentences are left out, as by EVALB"
	Foreign  = "a column has no value that training saw there; --columns says which column is which"
)

// What is done to images and what is annotated in them.
const (
	Turned = "images were turned upright, as their EXIF orientation says; sizes, boxes and masks " +
		"mean the upright image"
	TurnedMask  = "masks have the size of their image as its file stores it, and were turned upright with it"
	Elsewhere   = "images are not where their annotations say, and were found under another name"
	ObjectMasks = "masks have two values: the smaller is background, and 255 is the object, not void; " +
		"--void 255 makes it void"
	NoArea    = "annotated boxes without area were left out; --strict refuses them"
	TurnedBox = "annotations give the size of the image as its file stores it; their boxes are turned upright with " +
		"the image, and predicted boxes back"
)
