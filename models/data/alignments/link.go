package alignments

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Link joins two words of a sentence pair, numbered from 0.
type Link struct {
	Source, Target int32
	Sure           bool // else only possible
}

// linkForm is what a link looks like, for messages.
const linkForm = "source-target such as 0-1, or 0?1 or 0p1 for a possible link"

// parseLink parses i-j, i?j or ipj. It ignores a margin after a colon, as AppendLinks writes it. first is the number of
// the first word in the file.
func parseLink(text string, first int) (Link, error) {
	bad := func() (Link, error) { return Link{}, fmt.Errorf("link %.80q, expected %s", text, linkForm) }
	numbers := text
	if at := strings.IndexByte(text, ':'); at >= 0 {
		if _, err := strconv.ParseFloat(text[at+1:], 64); err != nil {
			return bad()
		}
		numbers = text[:at]
	}
	at := strings.IndexAny(numbers, "-?p")
	if at < 0 {
		return bad()
	}
	i, ok := parseWordNumber(numbers[:at])
	j, also := parseWordNumber(numbers[at+1:])
	if !ok || !also {
		return bad()
	}
	return Link{Source: int32(i - first), Target: int32(j - first), Sure: numbers[at] == '-'}, nil
}

// parseWordNumber parses digits; a number too large for a sentence becomes a number too large for any.
func parseWordNumber(digits string) (int, bool) {
	const most = 1<<31 - 1
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = most
	}
	return min(n, most), true
}

// inside returns an error if a link leaves a pair of n by m words.
func (l Link) inside(n, m, first int) error {
	for _, side := range []struct {
		name     string
		at, size int
	}{{"source", int(l.Source), n}, {"target", int(l.Target), m}} {
		if side.at < 0 || side.at >= side.size {
			hint := ""
			if first == 0 && side.at == side.size {
				hint = "; words are numbered from 0"
			}
			return fmt.Errorf("link %s: %s word %d, expected %d to %d%s", l.text(first), side.name, side.at+first,
				first, side.size-1+first, hint)
		}
	}
	return nil
}

// text returns the link in Pharaoh format.
func (l Link) text(first int) string { return string(l.append(nil, first)) }

func (l Link) append(to []byte, first int) []byte {
	mark := byte('?')
	if l.Sure {
		mark = '-'
	}
	to = append(strconv.AppendInt(to, int64(l.Source)+int64(first), 10), mark)
	return strconv.AppendInt(to, int64(l.Target)+int64(first), 10)
}

// normalised sorts links by source and target word in place, and removes repetitions. A link that is both sure and
// possible is sure.
func normalised(links []Link) []Link {
	slices.SortFunc(links, func(a, b Link) int {
		if c := cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target)); c != 0 || a.Sure == b.Sure {
			return c
		}
		if a.Sure {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(links, func(a, b Link) bool { return a.Source == b.Source && a.Target == b.Target })
}

// OfOutput returns the links of a matching as sure links: y[i] is 0 if source word i is unmatched, else 1 + its target
// word.
func OfOutput(y []int32) []Link {
	links := make([]Link, 0, len(y))
	for i, j := range y {
		if j > 0 {
			links = append(links, Link{int32(i), j - 1, true})
		}
	}
	return links
}
