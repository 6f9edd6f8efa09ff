package uai

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// words reads a file word by word and knows the line of each.
type words struct {
	path string
	from *bufio.Reader
	line int    // of the last word
	next int    // line that is read next
	word []byte // the last word
	err  error  // of reading
}

func newWords(r io.Reader, path string) *words {
	return &words{path: path, from: bufio.NewReaderSize(r, 1<<16), line: 1, next: 1}
}

// longestWord bounds what is held of a file that is no text.
const longestWord = 1024

// read reads the next word; false at the end.
func (w *words) read() bool {
	w.word = w.word[:0]
	for {
		c, size, err := w.from.ReadRune()
		switch {
		case err != nil:
			if err != io.EOF {
				w.err = err
			}
			return len(w.word) > 0
		case unicode.IsSpace(c):
			if len(w.word) > 0 {
				_ = w.from.UnreadRune() // cannot fail after ReadRune
				return true
			}
			if c == '\n' {
				w.next++
			}
		case c == utf8.RuneError && size == 1 || len(w.word) > longestWord:
			w.line = w.next
			return true
		default:
			w.line = w.next
			w.word = utf8.AppendRune(w.word, c)
		}
	}
}

// bad returns a bad-input error at the last word.
func (w *words) bad(format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{w.path, w.line}, args...)...)
}

// must reads the next word. what says what is expected.
func (w *words) must(what string) error {
	if w.read() {
		return nil
	}
	if err := w.damage(); err != nil {
		return err
	}
	w.line = w.next
	return w.bad("the file ends here, expected %s", what)
}

// damage returns the error that ended the reading, such as that of a compressed file that was cut, with the line of it;
// nil if there is none.
func (w *words) damage() error {
	if w.err == nil {
		return nil
	}
	w.line = w.next
	return w.bad("%w", w.err)
}

// end returns an error if anything follows, or the file is damaged. what is the last thing that was read.
func (w *words) end(what string) error {
	if w.read() {
		return w.bad("%.40q after %s, expected the end of the file", w.word, what)
	}
	return w.damage()
}

// count reads a whole number between least and most.
func (w *words) count(what string, least, most int) (int, error) {
	if err := w.must(what); err != nil {
		return 0, err
	}
	return w.number(what, least, most)
}

// number parses the last word as count does.
func (w *words) number(what string, least, most int) (int, error) {
	n, err := strconv.Atoi(string(w.word))
	if err != nil || n < least || n > most {
		if most == math.MaxInt32 {
			return 0, w.bad("%.40q, expected %s: a whole number of at least %d", w.word, what, least)
		}
		return 0, w.bad("%.40q, expected %s: a whole number from %d to %d", w.word, what, least, most)
	}
	return n, nil
}

// weight reads a number that is not negative, and returns its natural logarithm, −∞ for 0. The number itself may be
// beyond the range of float64.
func (w *words) weight(what string) (log float64, err error) {
	if err := w.must(what); err != nil {
		return 0, err
	}
	log, ok := logOf(string(w.word))
	if !ok {
		return 0, w.bad("%.40q, expected %s: a finite number of at least 0", w.word, what)
	}
	return log, nil
}

// leastNormal is the least float64 with all its digits. Smaller ones have fewer, and Go's math.Log in assembly takes
// them for 2⁻¹⁰²³.
const leastNormal = 0x1p-1022

// logOf returns the natural logarithm of a number in decimal text, and whether there is one. Numbers that float64
// rounds to 0, to few digits or to infinity have all their digits here: those before the exponent, moved to a range
// that float64 has, and the exponent count by themselves.
func logOf(text string) (float64, bool) {
	if strings.ContainsAny(text, "_xX") { // which Go reads, and no other program that reads these files
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && x >= leastNormal && !math.IsInf(x, 1):
		return math.Log(x), true
	case err != nil && !errors.Is(err, strconv.ErrRange), err == nil && (math.IsNaN(x) || math.IsInf(x, 0)):
		return 0, false
	}
	digits, power, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	whole, part, _ := strings.Cut(digits, ".")
	significant := strings.TrimLeft(whole+part, "0")
	switch {
	case significant == "":
		return math.Inf(-1), true
	case text[0] == '-':
		return 0, false
	}
	exponent := 0.0
	if power != "" {
		if exponent, err = strconv.ParseFloat(power, 64); err != nil {
			return 0, false
		}
	}
	exponent += float64(len(significant) - len(part)) // of ten, for 0.significant
	x, err = strconv.ParseFloat("0."+significant, 64)
	return math.Log(x) + exponent*math.Ln10, err == nil
}
