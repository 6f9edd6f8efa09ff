package alignments

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Separator stands between the sides of a pair, and before its links, with blanks around it or without.
const Separator = "|||"

const lineForm = "source words ||| target words, and optionally ||| links"

// Reader reads sentence pairs from text, one pair per line:
//
//	das haus ||| the house ||| 0-0 1-1
//
// Words are separated by spaces or tabs, and their bytes are kept as they are. There are no comments: # is a word. An
// empty line is an error, because it would shift the pairs against other files; a pair has at least one word on either
// side.
//
// Links are a third field, or stand in a file of their own with one line per pair, where an empty line is a pair
// without links. They are in Pharaoh format: i-j for a sure link, i?j or ipj for a possible one, source word first,
// counted from 0.
type Reader struct {
	// Unlabeled accepts pairs without links, and any text in the place of links. The corpus still has links if they are
	// valid throughout the file.
	Unlabeled bool

	First int // number of the first word in links: 0, or 1 as in some gold files
	Line  int // number of the first line, if only a part of a file is read; 0 means 1

	Remarks *remarks.Remarks // on pairs; nil refuses bad ones
}

// Read reads pairs whose links, if any, are a third field. Errors are structured.BadInput and name the line.
func (o Reader) Read(r io.Reader, name string) (*Corpus, error) {
	p := &pairReader{Reader: o, lines: host.NewLines(r, name), c: &Corpus{Name: name},
		strict: o.Remarks.Skips() && !o.Unlabeled}
	if err := p.read(); err != nil {
		return nil, err
	}
	switch c := p.c; {
	case p.fault == nil && p.linked > 0: // known links
	case p.fault == nil && !o.Unlabeled:
		return nil, structured.BadInput("%s: no links, expected lines of source words ||| target words ||| links, or a "+
			"file of links beside it", name)
	case o.Unlabeled:
		c.Links, c.LinksAt = nil, nil
	default:
		return nil, p.fault
	}
	return p.c, nil
}

// ReadWithLinks reads pairs from r and their links from a file beside it. Errors are structured.BadInput and name the
// line.
func (o Reader) ReadWithLinks(r io.Reader, name string, links io.Reader, linksName string) (*Corpus, error) {
	p := &pairReader{Reader: o, lines: host.NewLines(r, name), c: &Corpus{Name: name}, beside: linksName}
	if err := p.read(); err != nil {
		return nil, err
	}
	if p.fault != nil {
		return nil, p.fault
	}
	c, err := o.readLinks(p.c, p.leftOut, host.NewLines(links, linksName), linksName)
	if err != nil {
		if !o.Unlabeled {
			return nil, err
		}
		p.c.Links, p.c.LinksAt = nil, nil
		return p.c, nil
	}
	return c, nil
}

// ReadLinks reads a file with one line of links per pair, for instance predictions for c. It returns the links of each
// pair.
func (o Reader) ReadLinks(c *Corpus, r io.Reader, name string) ([][]Link, error) {
	with := &Corpus{Name: c.Name, Words: c.Words, Offsets: c.Offsets, Sources: c.Sources}
	o.Remarks = nil // links of other pairs are of no use
	with, err := o.readLinks(with, nil, host.NewLines(r, name), name)
	if err != nil {
		return nil, err
	}
	all := make([][]Link, c.Len())
	for i := range all {
		all[i] = with.LinksOf(i)
	}
	return all, nil
}

// AreLinks reports whether a line holds links and nothing else.
func AreLinks(line string) bool {
	fields := words(line)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(field string) bool {
		_, err := parseLink(field, 0)
		return err != nil
	})
}

// ReadLinksAlone reads a file with one line of links per pair, of sentences that nobody knows: any number is a word's.
func (o Reader) ReadLinksAlone(r io.Reader, name string) ([][]Link, error) {
	lines := host.NewLines(r, name)
	var all [][]Link
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		links, err := o.parseLinks(string(line), math.MaxInt, math.MaxInt)
		if err != nil {
			return nil, lines.Bad("%w", err)
		}
		all = append(all, normalised(links))
	}
	return all, lines.Err()
}

// readLinks reads a line of links for every pair of c, and for pairs of its file that are left out: leftOut tells of
// each line whether that is one. It returns c without the pairs whose links are bad.
func (o Reader) readLinks(c *Corpus, leftOut map[int]bool, lines *host.Lines, name string) (*Corpus, error) {
	c.Links, c.LinksAt = nil, []int{0}
	i, all := 0, c.Len()+len(leftOut)
	var keep []int
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		if lines.Number > all {
			return nil, lines.Bad("a line more than expected: %s has %d pairs", c.Name, all)
		}
		if leftOut[lines.Number] {
			continue
		}
		n, m := c.Size(i)
		links, err := o.parseLinks(string(line), n, m)
		if err == nil {
			keep = append(keep, i)
		} else if err = o.Remarks.Bad(lines.Bad("%w", err)); err != nil {
			return nil, err
		}
		c.AddLinks(links)
		i++
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if i < c.Len() {
		return nil, structured.BadInput("%s: ends after line %d, expected %d lines, one per pair of %s", name,
			lines.Number, all, c.Name)
	}
	if len(keep) < c.Len() {
		if len(keep) == 0 {
			return nil, structured.BadInput("%s: no pair is left", c.Name)
		}
		return c.Some(keep), nil
	}
	return c, nil
}

// parseLinks parses the links of a pair of n by m words. It never returns nil without an error.
func (o Reader) parseLinks(text string, n, m int) ([]Link, error) {
	links := []Link{}
	for _, field := range words(text) {
		l, err := parseLink(field, o.First)
		if err == nil {
			err = l.inside(n, m, o.First)
		}
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

// pairReader reads a file of pairs.
type pairReader struct {
	Reader
	lines  *host.Lines
	c      *Corpus
	beside string              // file of links, or ""
	known  structured.Alphabet // one copy of every word
	linked int                 // pairs with links so far

	strict  bool         // a pair without good links is bad
	leftOut map[int]bool // the pairs that are left out, counted from 1
	fault   error        // the first error about links
}

func (p *pairReader) read() error {
	p.lines.Number = max(0, p.Line-1)
	p.c.Offsets = []int{0}
	for line, ok := p.lines.Next(); ok; line, ok = p.lines.Next() {
		if err := p.pair(string(line)); err != nil {
			if err = p.Remarks.Bad(p.lines.Bad("%w", err)); err != nil {
				return err
			}
			if p.leftOut == nil {
				p.leftOut = map[int]bool{}
			}
			p.leftOut[p.c.Len()+len(p.leftOut)+1] = true
		}
	}
	if err := p.lines.Err(); err != nil {
		return err
	}
	if p.c.Len() == 0 {
		return structured.BadInput("%s: %w, expected lines of %s", p.c.Name, host.ErrNoTokens, lineForm)
	}
	return nil
}

// pair reads a line. It returns errors about the words, and keeps errors about links in p.fault.
func (p *pairReader) pair(line string) error {
	parts := sections(line)
	switch {
	case len(parts) == 1 && len(words(line)) == 0:
		return fmt.Errorf("an empty line, expected %s", lineForm)
	case len(parts) == 1:
		return fmt.Errorf("no %s, expected %s", Separator, lineForm)
	case len(parts) > 3:
		return fmt.Errorf("%d fields, expected %s", len(parts), lineForm)
	}
	source, target := words(parts[0]), words(parts[1])
	switch {
	case len(source) == 0:
		return fmt.Errorf("no source words before %s, expected at least one", Separator)
	case len(target) == 0:
		return fmt.Errorf("no target words after %s, expected at least one", Separator)
	case p.likeLinks(target, source):
		return fmt.Errorf("the target words %.80q look like links, expected %s", strings.TrimSpace(parts[1]), lineForm)
	}
	if p.strict && p.beside == "" {
		if len(parts) < 3 {
			return fmt.Errorf("no links, expected a third field")
		}
		if _, err := p.parseLinks(parts[2], len(source), len(target)); err != nil {
			return err
		}
	}
	c := p.c
	for _, side := range [][]string{source, target} {
		for k, word := range side {
			side[k] = p.known.Name(p.known.Intern(word))
		}
	}
	c.Add(source, target, nil)
	c.Lines = append(c.Lines, p.lines.Number)
	p.links(parts[2:], len(source), len(target))
	return nil
}

// likeLinks reports whether all words of the target look like links of words of the source, and are not words of the
// source, as the score of a match would be.
func (p *pairReader) likeLinks(target, source []string) bool {
	same := true
	for _, word := range target {
		l, err := parseLink(word, p.First)
		if err != nil || l.Source < 0 || int(l.Source) >= len(source) {
			return false
		}
		same = same && slices.Contains(source, word)
	}
	return !same
}

// links reads the third field, if there is one, of a pair of n by m words.
func (p *pairReader) links(third []string, n, m int) {
	has := len(third) > 0
	fault := func(format string, args ...any) {
		if p.fault == nil {
			p.fault = p.lines.Bad(format, args...)
		}
	}
	switch pairs := p.c.Len() - 1; {
	case p.beside != "":
		if has {
			fault("links here and in %s, expected one of them", p.beside)
		}
		return
	case has != (p.linked > 0) && pairs > 0:
		if has {
			fault("links, but the lines before have none")
		} else {
			fault("no links, expected a third field as in the lines before")
		}
		return
	case !has:
		return
	}
	links, err := p.parseLinks(third[0], n, m)
	if err != nil {
		fault("%w", err)
		links = nil
	}
	p.linked++
	p.c.AddLinks(links)
}
