package ocr

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Letters are words in the layout of Taskar's OCR data (letter.data), with the fold of each word.
type Letters struct {
	*structured.Dataset
	Folds []int // [n]
}

// letterFields are the names of the columns before the pixels.
var letterFields = [...]string{"id", "letter", "next_id", "word_id", "position", "fold"}

// ReadLetters reads words in the layout of Taskar's letter.data: one line per letter with the tab-separated columns id,
// letter (a to z, or ? if unknown), next_id, word_id, position, fold and 128 pixels, row by row of 16 × 8, numbers from
// 0 to 1. next_id is the id of the next line, or -1 at the end of a word; positions in a word count from 1. Either all
// letters are known or none; without letters the data has no labels. Errors name the line. say decides on bad words.
func ReadLetters(r io.Reader, name string, say *remarks.Remarks) (*Letters, error) {
	in := host.NewLines(r, name)
	d := &structured.Dataset{Name: name, Alphabet: letters(), Dim: letterPixels, Offsets: []int{0}}
	l := &Letters{Dataset: d}
	var previous letterLine // the previous line of the current word
	inWord, unknown := false, 0
	skipping := false // to the end of a word that is left out
	for {
		text, ok := in.Next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var line letterLine
		var pixels []float32
		pixels, err := line.parse(in, text, nil)
		parsed := err == nil
		if skipping && (!parsed || line.position != 1) {
			skipping = !parsed || line.next != -1
			continue
		}
		skipping = false
		switch {
		case !parsed:
		case !inWord && line.position != 1:
			err = in.Bad("position %d at the beginning of word %d, expected 1", line.position, line.word)
		case !inWord:
		case line.id != previous.next:
			err = in.Bad("id %d, expected %d, the next_id of the line before", line.id, previous.next)
		case line.word != previous.word || line.fold != previous.fold:
			err = in.Bad("word_id %d in fold %d inside word %d in fold %d; a word ends with next_id -1",
				line.word, line.fold, previous.word, previous.fold)
		case line.position != previous.position+1:
			err = in.Bad("position %d in word %d, expected %d, one more than in the line before", line.position,
				line.word, previous.position+1)
		}
		if err != nil {
			if err = say.Bad(err); err != nil {
				return nil, err
			}
			if inWord {
				l.forgetLast()
			}
			if inWord = false; !parsed || line.position != 1 {
				skipping = !parsed || line.next != -1
				continue
			}
		}
		d.Features = append(d.Features, pixels...)
		if !inWord {
			d.IDs = append(d.IDs, strconv.Itoa(line.word))
			d.Lines = append(d.Lines, in.Number)
			l.Folds = append(l.Folds, line.fold)
		}
		if line.letter < 0 {
			unknown++
		}
		d.Labels = append(d.Labels, line.letter)
		if inWord = line.next != -1; !inWord {
			d.Offsets = append(d.Offsets, len(d.Labels))
		}
		previous = line
	}
	if in.Err() != nil {
		return nil, in.Err()
	}
	if inWord && say.Skips() {
		if err := say.Bad(in.Bad("the file ends inside word %d; a word ends with next_id -1", previous.word)); err != nil {
			return nil, err
		}
		l.forgetLast()
		inWord = false
	}
	if unknown > 0 && unknown < len(d.Labels) && say.Skips() {
		var err error
		if l, err = l.known(say); err != nil {
			return nil, err
		}
		d, unknown = l.Dataset, 0
	}
	switch {
	case len(d.Labels) == 0:
		return nil, structured.BadInput("%s: no letters, expected lines of %d tab-separated columns (letter.data)", name,
			len(letterFields)+letterPixels)
	case inWord:
		return nil, in.Bad("the file ends inside word %d; a word ends with next_id -1", previous.word)
	case unknown == len(d.Labels):
		d.Labels = nil
	case unknown > 0:
		return nil, structured.BadInput("%s: %d of %d letters are unknown (?), expected none or all",
			name, unknown, len(d.Labels))
	}
	return l, nil
}

// forgetLast forgets a word that has not ended.
func (l *Letters) forgetLast() {
	d, n := l.Dataset, l.Len()
	d.Labels, d.Features = d.Labels[:d.Offsets[n]], d.Features[:d.Offsets[n]*d.Dim]
	d.IDs, d.Lines, l.Folds = d.IDs[:n], d.Lines[:n], l.Folds[:n]
}

// known returns the words whose letters are all known.
func (l *Letters) known(say *remarks.Remarks) (*Letters, error) {
	var keep []int
	some := &Letters{}
	for i, fold := range l.Folds {
		if slices.Contains(l.Gold(i), -1) {
			if err := say.Bad(structured.BadInput("%s: an unknown letter (?), and those of other words are known",
				l.Where(i))); err != nil {
				return nil, err
			}
			continue
		}
		keep, some.Folds = append(keep, i), append(some.Folds, fold)
	}
	some.Dataset = l.Subset(keep)
	return some, nil
}

// letterLine is a line without its pixels; letter is -1 if unknown.
type letterLine struct {
	letter                         int32
	id, next, word, position, fold int
}

// parse parses a line and appends its pixels.
func (l *letterLine) parse(in *host.Lines, text []byte, pixels []float32) ([]float32, error) {
	const columns = len(letterFields) + letterPixels
	text = bytes.TrimRight(text, "\t ")
	if n := bytes.Count(text, []byte{'\t'}) + 1; n != columns {
		return pixels, in.Bad("%d columns, expected %d (id letter next_id word_id position fold and %d "+
			"pixels, tab-separated)",
			n, columns, letterPixels)
	}
	for c := range columns {
		var field []byte
		field, text, _ = bytes.Cut(text, []byte{'\t'})
		if c >= len(letterFields) {
			x, ok := host.Decimal(string(field), 32)
			if !ok || !(x >= 0 && x <= 1) {
				p := c - len(letterFields)
				return pixels, in.Bad("pixel p_%d_%d is %q, expected a number from 0 to 1", p/letterCols, p%letterCols, field)
			}
			pixels = append(pixels, float32(x))
			continue
		}
		if letterFields[c] == "letter" {
			switch {
			case len(field) == 1 && field[0] >= 'a' && field[0] <= 'z':
				l.letter = int32(field[0] - 'a')
			case string(field) == "?":
				l.letter = -1
			default:
				return pixels, in.Bad("letter %q, expected a to z, or ? where it is not known", field)
			}
			continue
		}
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return pixels, in.Bad("%s is %q, expected an integer", letterFields[c], field)
		}
		*[...]*int{&l.id, nil, &l.next, &l.word, &l.position, &l.fold}[c] = n
	}
	return pixels, nil
}

// Split holds out a fold: its words are the test set, those of all other folds the training set. (Taskar et al. 2003
// trained on one fold and tested on the nine others; swap the two sets for that.)
func (l *Letters) Split(fold int) (train, test *structured.Dataset, err error) {
	var in, out []int
	lo, hi := math.MaxInt, math.MinInt
	for i, f := range l.Folds {
		lo, hi = min(lo, f), max(hi, f)
		if f == fold {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	if len(out) == 0 || len(in) == 0 {
		return nil, nil, structured.BadInput("%s: holding out fold %d leaves %d training and %d test words; its "+
			"folds go from %d to %d",
			l.Name, fold, len(in), len(out), lo, hi)
	}
	return l.Subset(in), l.Subset(out), nil
}

// WriteLetters writes d, words of 128 features in [0,1] labelled a to z, in the layout that ReadLetters reads, all in
// one fold. Without labels it writes ? as the letters.
func WriteLetters(w io.Writer, d *structured.Dataset, fold int) error {
	if d.Dim != letterPixels {
		return fmt.Errorf("%s: %d features per position, expected the %d pixels of a letter", d.Name, d.Dim, letterPixels)
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i := range d.Len() {
		lo, hi := d.Offsets[i], d.Offsets[i+1]
		for t := lo; t < hi; t++ {
			letter, next := "?", t+2
			if d.Labels != nil {
				letter = d.Alphabet.Name(d.Labels[t])
			}
			if t == hi-1 {
				next = -1
			}
			line = fmt.Appendf(line[:0], "%d\t%s\t%d\t%d\t%d\t%d", t+1, letter, next, i+1, t-lo+1, fold)
			for _, x := range d.Features[t*letterPixels : (t+1)*letterPixels] {
				line = strconv.AppendFloat(append(line, '\t'), float64(x), 'g', -1, 32)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
