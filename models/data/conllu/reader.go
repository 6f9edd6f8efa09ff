package conllu

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Reader reads sentences one by one.
type Reader struct {
	lines *host.Lines
	say   *remarks.Remarks // on sentences; nil refuses bad ones
	last  []byte           // the line that was read last
}

// newReader returns a reader of r, whose name is for messages.
func newReader(r io.Reader, name string) *Reader { return &Reader{lines: host.NewLines(r, name)} }

// ReadAll reads all sentences of r. A file without any is bad input.
func ReadAll(r io.Reader, name string) ([]Sentence, error) { return readAll(r, name, nil) }

func readAll(r io.Reader, name string, say *remarks.Remarks) ([]Sentence, error) {
	in := newReader(r, name)
	in.say = say
	all, err := in.rest()
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, structured.BadInput("%s: %w, expected lines of the %d columns %s", name, host.ErrNoTokens, FieldCount,
			strings.Join(FieldNames[:], " "))
	}
	return all, nil
}

// ReadChunk reads the sentences of a piece of a file, whose first line has that number. There may be none. say decides
// on bad ones.
func ReadChunk(piece []byte, name string, line int, say *remarks.Remarks) ([]Sentence, error) {
	in := newReader(bytes.NewReader(piece), name)
	in.say = say
	in.lines.Number = line - 1
	return in.rest()
}

// rest reads all sentences that are left.
func (r *Reader) rest() ([]Sentence, error) {
	var all []Sentence
	for {
		s, ok, err := r.Next()
		if err != nil || !ok {
			return all, err
		}
		all = append(all, *s)
	}
}

// ReadFile reads all sentences of a file, which may be compressed. say decides on bad ones.
func ReadFile(path string, say *remarks.Remarks) ([]Sentence, error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, say)
}

// Next returns the next sentence; false at the end. Comments without words after them are dropped. Lines that are not
// CoNLL-U are bad input: they have ten columns, none of them empty, and words are numbered from 1. HEAD and DEPREL may
// hold anything.
func (r *Reader) Next() (*Sentence, bool, error) {
	for {
		s, ok, err := r.sentence()
		if err == nil || r.lines.Err() != nil {
			return s, ok, err
		}
		if err = r.say.Bad(err); err != nil {
			return nil, false, err
		}
		for line := r.last; !text.IsBlank(line); { // the rest of the sentence
			line, _ = r.lines.Next()
		}
	}
}

func (r *Reader) sentence() (*Sentence, bool, error) {
	s := &Sentence{}
	covered := 0 // words that the latest multiword token has, or had
	for {
		line, ok := r.lines.Next()
		r.last = line
		if !ok {
			if err := r.lines.Err(); err != nil {
				return nil, false, err
			}
			return s, len(s.Words) > 0, r.complete(s, covered)
		}
		switch {
		case text.IsBlank(line):
			if len(s.Words) > 0 || covered > 0 { // complete refuses a token without its words
				return s, true, r.complete(s, covered)
			}
			*s = Sentence{}
		case line[0] == '#' && len(s.Words) == 0 && len(s.Before) == 0 && covered == 0:
			s.Comments = append(s.Comments, string(line))
		case line[0] == '#':
			return nil, false, r.lines.Bad("comment %q between the words of a sentence, expected it before them", clip(line))
		default:
			if s.Line == 0 {
				s.Line = r.lines.Number
			}
			if err := r.add(s, string(line), &covered); err != nil {
				return nil, false, err
			}
		}
	}
}

// complete refuses a sentence whose last token has words that it lacks.
func (r *Reader) complete(s *Sentence, covered int) error {
	if covered > len(s.Words) {
		return r.lines.Bad("the sentence ends after word %d, expected the words up to %d of its last multiword token",
			len(s.Words), covered)
	}
	return nil
}

// add adds the line of a word, a multiword token or an empty node.
func (r *Reader) add(s *Sentence, line string, covered *int) error {
	if !utf8.ValidString(line) {
		return r.lines.Bad("the line is not UTF-8")
	}
	fields := strings.Split(line, "\t")
	if len(fields) != FieldCount {
		return r.lines.Bad("%s, expected the %d of CoNLL-U, separated by tabs: %s", columnCount(len(fields)), FieldCount,
			strings.Join(FieldNames[:], " "))
	}
	if k := slices.Index(fields, ""); k >= 0 {
		return r.lines.Bad("column %d (%s) is empty, expected _ for nothing", k+1, FieldNames[k])
	}
	id, next := fields[ID], len(s.Words)+1
	if id == strconv.Itoa(next) {
		w := Word{Fields: [FieldCount]string(fields)}
		s.Words = append(s.Words, w)
		if next > *covered {
			s.Tokens = append(s.Tokens, Token{Form: fields[Form], Misc: fields[Misc], First: next - 1, Last: next - 1})
			*covered = next
		}
		return nil
	}
	if from, to, ok := strings.Cut(id, "-"); ok && from == strconv.Itoa(next) {
		last, err := strconv.Atoi(to)
		if err != nil || last < next || last > next+maxWords || strconv.Itoa(last) != to {
			return r.lines.Bad("id %q, expected %d-%d or a larger last word", id, next, next+1)
		}
		if *covered >= next {
			return r.lines.Bad("multiword token %s overlaps the one before, which has the words up to %d", id, *covered)
		}
		s.Tokens = append(s.Tokens,
			Token{Form: fields[Form], Misc: fields[Misc], First: next - 1, Last: last - 1, Multi: true})
		*covered = last
		return nil
	}
	if after, number, ok := strings.Cut(id, "."); ok && after == strconv.Itoa(next-1) {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			if next == 1 {
				s.Before = append(s.Before, line)
			} else {
				w := &s.Words[next-2]
				w.After = append(w.After, line)
			}
			return nil
		}
	}
	return r.lines.Bad("id %q, expected %d, a multiword token such as %d-%d or an empty node such as %d.1", id,
		next, next, next+1, next-1)
}

// maxWords bounds the words of a token.
const maxWords = 1 << 10

// clip shortens a line for a message.
func clip(line []byte) string {
	const most = 60
	if letters := []rune(string(line)); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return string(line)
}

func columnCount(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}
