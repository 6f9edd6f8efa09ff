package text

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// NoComments is the value of Conll.Comments that makes every line a token.
const NoComments = "none"

// hash begins comments where nothing else is said.
const hash = "#"

// Survey is what a file in columns shows as a whole, by which Conll tells comments from tokens that start with #.
type Survey struct {
	labels   map[string]bool // of lines that are tokens for sure
	shapes   map[string]bool // of these labels
	comments bool            // some line can be nothing but a comment

	outside bool // of CoNLL-U: words without a label are outside entities
}

// SurveyOf returns what known labels show where no file can be looked through.
func SurveyOf(labels *structured.Alphabet) *Survey {
	s := &Survey{labels: map[string]bool{}, shapes: map[string]bool{}}
	if labels != nil {
		for _, name := range labels.Names() {
			s.add(name)
		}
	}
	return s
}

func (s *Survey) add(label string) {
	if !s.labels[label] {
		s.labels[label] = true
		s.shapes[labelShape(label)] = true
	}
}

// labelShape returns a label with A, a and 0 for runs of capitals, other letters and digits. Entity tags look alike in
// all notations.
func labelShape(label string) string {
	for _, outside := range []string{"O", "o"} {
		if label == outside || chains.EntityTags(structured.NewAlphabet(label, outside)) {
			return "B-"
		}
	}
	var shape []rune
	for _, r := range label {
		switch {
		case unicode.IsUpper(r):
			r = 'A'
		case unicode.IsLetter(r):
			r = 'a'
		case unicode.IsDigit(r):
			r = '0'
		}
		if n := len(shape); n == 0 || shape[n-1] != r {
			shape = append(shape, r)
		}
	}
	return string(shape)
}

// verdict is what a line that starts with # is, at the border of a sentence.
type verdict int

const (
	isToken    verdict = iota
	isDoubtful         // a token, but a comment would look alike
	isGuessed          // a comment, but a token would look alike
	isComment
)

// judge says what a line with # in front of or behind a sentence is. Lines that do not have the columns of the others,
// "# key = value" and marks of documents are comments. A label that tokens have makes a token. Any other label makes a
// comment, unless it looks like those of tokens in a file that has no comments for sure.
func (h *conllHead) judge(line string, fields []string) verdict {
	if len(fields) != len(h.roles) || hasEmpty(fields) || isKeyed(line) || marksDocument(line) {
		return isComment
	}
	s, label := h.Survey, h.labelOf(fields)
	switch {
	case s == nil || label == "" || s.labels[label]:
		return isToken
	case s.comments || len(s.labels) > 0 && !s.shapes[labelShape(label)]:
		return isGuessed
	}
	return isDoubtful
}

// labelOf returns the label in the columns of a line, "" where the file has none.
func (h *conllHead) labelOf(fields []string) string {
	if h.label < 0 || h.label >= len(h.roles) || h.roles[h.label] != LabelColumn {
		return ""
	}
	return fields[h.label]
}

func hasEmpty(fields []string) bool {
	for _, field := range fields {
		if field == "" {
			return true
		}
	}
	return false
}

// isKeyed reports whether a line is "# key = value", as in CoNLL-U.
func isKeyed(line string) bool {
	rest, ok := strings.CutPrefix(line, hash+" ")
	key, _, is := strings.Cut(rest, " = ")
	return ok && is && key != "" && !strings.ContainsAny(key, blanks)
}

// marksDocument reports whether a line begins or ends a document, as in CoNLL-2012.
func marksDocument(line string) bool {
	rest, ok := strings.CutPrefix(line, hash+"begin document")
	if !ok {
		rest, ok = strings.CutPrefix(line, hash+"end document")
	}
	return ok && (rest == "" || strings.IndexByte(blanks, rest[0]) >= 0)
}

// byHand reports whether someone has said which lines are comments, and whether line is one.
func (c *Conll) byHand(line string) (said, comment bool) {
	switch c.Comments {
	case "":
		return false, false
	case NoComments:
		return true, false
	}
	return true, strings.HasPrefix(line, c.Comments)
}

// LookThrough surveys a file. It returns nil where no line starts with #, and where Comments says which lines are
// comments; mistakes in the file are for Read to find. It opens the file twice where some line does.
func (c Conll) LookThrough(open func() (io.ReadCloser, error), name string) (*Survey, error) {
	if c.Comments != "" {
		return nil, nil
	}
	found := false
	err := through(open, func(r io.Reader) error {
		for in := newBlocks(r, name); !found; {
			b, more, err := in.next()
			if !more || err != nil {
				return nil
			}
			found = strings.HasPrefix(b.text, hash) || strings.Contains(b.text, "\n"+hash)
		}
		return nil
	})
	if !found || err != nil {
		return nil, err
	}
	s := SurveyOf(c.Alphabet)
	return s, through(open, func(r io.Reader) error {
		s.look(c, newBlocks(r, name))
		return nil
	})
}

// through opens a file, and closes it after read.
func through(open func() (io.ReadCloser, error), read func(r io.Reader) error) error {
	r, err := open()
	if err != nil {
		return err
	}
	err = read(r)
	return errors.Join(err, r.Close())
}

// look adds what the lines of a file show.
func (s *Survey) look(c Conll, in *blocks) {
	h := &conllHead{Conll: c.withColumns()}
	if ok, err := h.read(in); !ok || err != nil {
		return // which Read says
	}
	var fields []string
	var held []string // lines with # inside of a sentence, which may end there
	token := func(line string) {
		if fields = h.split(fields[:0], line); len(fields) == len(h.roles) {
			if label := h.labelOf(fields); label != "" {
				s.add(label)
			}
		}
	}
	border := func(line string) {
		if fields = h.split(fields[:0], line); len(fields) != len(h.roles) || isKeyed(line) {
			s.comments = true
		}
	}
	for {
		b, more, err := in.next()
		if !more || err != nil {
			return
		}
		inside := false
		end := func() {
			for _, line := range held {
				border(line)
			}
			held, inside = held[:0], false
		}
		for number, line := range b.lines() {
			switch {
			case IsBlank(line) || docStart(line):
				end()
			case h.isHeader(number):
			case !strings.HasPrefix(line, hash):
				for _, before := range held {
					token(before)
				}
				held, inside = held[:0], true
				token(line)
			case inside:
				held = append(held, line)
			default:
				border(line)
			}
		}
		end()
	}
}

// remark counts a line.
func (p *place) remark(to *remarks.List, level slog.Level, what, line string) {
	const most = 60
	if letters := []rune(line); len(letters) > most {
		line = string(letters[:most]) + "…"
	}
	to.Add(remarks.Remark{Level: level, What: what, Times: 1, First: fmt.Sprintf("%s:%d: %s", p.file, p.line, line)})
}
