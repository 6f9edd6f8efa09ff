package text

import (
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Places says where the tokens of an example are in its text.
type Places struct {
	ranges [][2]int64 // [T] in characters, the end exclusive; nil if unknown
	text   []rune     // of the example, or nil
	from   int64      // where text begins
	words  []string   // [T], or nil
}

// PlacesOf returns the places of the tokens of example i: those of d.Ranges, or what CoNLL-U says, TokenRange=start:end
// in the last column or else where the words occur in the comment "# text = …". The words of a multiword token have its
// range.
func PlacesOf(d *structured.Dataset, i int) Places {
	lo, hi := d.Offsets[i], d.Offsets[i+1]
	var p Places
	if words := d.Column("word"); words != nil {
		p.words = words[lo:hi]
	} else if len(d.Columns) > 0 {
		p.words = d.Columns[0][lo:hi]
	}
	switch {
	case d.Ranges != nil && hi > lo && d.Ranges[lo][0] >= 0:
		p.ranges = d.Ranges[lo:hi]
	case IsConllu(d.ColumnNames) && hi > lo:
		p.readConllu(d, i)
	}
	return p
}

// Range returns where the tokens first to last begin and end in the text, in characters; ok is false if that is
// unknown.
func (p *Places) Range(first, last int) (start, end int, ok bool) {
	if p.ranges == nil {
		return 0, 0, false
	}
	return int(p.ranges[first][0]), int(p.ranges[last][1]), true
}

// Text returns the text of the tokens first to last, "" if it is unknown. Where there is no text it joins the words,
// with spaces between them unless they are known to touch.
func (p *Places) Text(first, last int) string {
	if start, end, ok := p.Range(first, last); ok && p.text != nil {
		if lo, hi := start-int(p.from), end-int(p.from); 0 <= lo && lo <= hi && hi <= len(p.text) {
			return string(p.text[lo:hi])
		}
	}
	if p.words == nil {
		return ""
	}
	var b strings.Builder
	for t := first; t <= last; t++ {
		if t > first && (p.ranges == nil || p.ranges[t-1][1] != p.ranges[t][0]) {
			b.WriteByte(' ')
		}
		b.WriteString(p.words[t])
	}
	return b.String()
}

// surface is a word or a multiword token of CoNLL-U: words first to last.
type surface struct {
	form, misc  string
	first, last int
}

// readConllu finds the text and the ranges in what a CoNLL-U file says of example i.
func (p *Places) readConllu(d *structured.Dataset, i int) {
	tokens := p.surfaces(d, i)
	p.ranges = make([][2]int64, len(p.words))
	if p.tokenRanges(tokens) {
		p.from = p.ranges[0][0]
		if end := int(p.ranges[len(p.ranges)-1][1] - p.from); end > len(p.text) ||
			!startsWith(p.text, []rune(tokens[0].form)) {
			p.text = nil // of something else
		}
		return
	}
	if p.text == nil || !p.align(tokens) {
		p.ranges, p.text = nil, nil
	}
}

// surfaces returns the tokens as they stand in the text, and keeps the text that a comment gives.
func (p *Places) surfaces(d *structured.Dataset, i int) []surface {
	lo, misc := d.Offsets[i], d.Columns[len(conlluColumns)-1]
	var tokens []surface
	covered := -1 // by a multiword token
	for t := range p.words {
		for line := range strings.Lines(d.LinesBefore(lo+t, t == 0)) {
			line = strings.TrimRight(line, "\r\n")
			if t == 0 && strings.HasPrefix(line, "#") {
				if key, value, ok := strings.Cut(line[1:], "="); ok && strings.TrimSpace(key) == "text" {
					p.text = []rune(strings.TrimSpace(value))
				}
				continue
			}
			fields := strings.Split(line, "\t")
			from, to, ok := strings.Cut(fields[0], "-")
			if !ok || len(fields) < len(conlluColumns) || from != strconv.Itoa(t+1) {
				continue
			}
			if last, err := strconv.Atoi(to); err == nil && last > t && last <= len(p.words) {
				tokens = append(tokens, surface{fields[1], fields[len(conlluColumns)-1], t, last - 1})
				covered = last - 1
			}
		}
		if t > covered {
			tokens = append(tokens, surface{p.words[t], misc[lo+t], t, t})
		}
	}
	return tokens
}

// tokenRanges takes the ranges from TokenRange of every token; it returns false if some token has none.
func (p *Places) tokenRanges(tokens []surface) bool {
	for _, k := range tokens {
		from, to, ok := strings.Cut(valueIn(k.misc, "TokenRange"), ":")
		start, wrong := strconv.ParseInt(from, 10, 64)
		end, bad := strconv.ParseInt(to, 10, 64)
		if !ok || wrong != nil || bad != nil || start < 0 || end < start {
			return false
		}
		p.set(k, start, end)
	}
	return true
}

// align finds the tokens in the text, one after the other; it returns false if some token is not where it should be.
func (p *Places) align(tokens []surface) bool {
	at := 0
	for _, k := range tokens {
		form := []rune(k.form)
		for at < len(p.text) && !startsWith(p.text[at:], form) &&
			(p.text[at] == ' ' || p.text[at] == '\u00a0' || p.text[at] == '\t') {
			at++
		}
		if !startsWith(p.text[at:], form) {
			return false
		}
		p.set(k, int64(at), int64(at+len(form)))
		at += len(form)
	}
	return true
}

func (p *Places) set(k surface, start, end int64) {
	for t := k.first; t <= k.last; t++ {
		p.ranges[t] = [2]int64{start, end}
	}
}

func startsWith(text, form []rune) bool {
	if len(text) < len(form) {
		return false
	}
	for k, r := range form {
		if text[k] != r {
			return false
		}
	}
	return true
}
