package text

import (
	"io"
	"iter"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// misc is the name of the last column of CoNLL-U. As a label it is what stands there without a key.
const misc = "misc"

// outside is the tag of words outside entities.
const outside = "O"

// miscItems yields where the items are that the last column of CoNLL-U lists: "key=value", or a value without a key. A
// bar separates items, and so does a blank in front of a "key=value".
func miscItems(list string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := 0
		for end := 0; end <= len(list); end++ {
			bar := end == len(list) || list[end] == '|'
			if !bar && (list[end] != ' ' && list[end] != '\t' || !startsWithKey(list[end+1:])) {
				continue
			}
			item := list[from:end]
			start := from + len(item) - len(strings.TrimLeft(item, " \t"))
			if !yield(start, start+len(strings.TrimSpace(item))) {
				return
			}
			from = end + 1
		}
	}
}

// startsWithKey reports whether a text begins with "key=".
func startsWithKey(text string) bool {
	end := strings.IndexAny(text, " \t=|")
	return end > 0 && text[end] == '='
}

// valueIn returns the value of a key in the last column of CoNLL-U, and with an empty key the first value that has
// none; "_" if there is no such value.
func valueIn(list, key string) string {
	if from, to := placeIn(list, key); to > from {
		return list[from:to]
	}
	return noLabel
}

// placeIn returns where the value of a key is in the last column of CoNLL-U, and with an empty key the first value that
// has none; from and to are equal if there is none.
func placeIn(list, key string) (from, to int) {
	for from, to := range miscItems(list) {
		switch name, value, keyed := strings.Cut(list[from:to], "="); {
		case keyed && key != "" && name == key && value != "":
			return to - len(value), to
		case !keyed && key == "" && name != "":
			return from, to
		}
	}
	return 0, 0
}

// WithValue returns the last column of CoNLL-U with another value of a key or, with an empty key, another value without
// one, in its place; where there is none, as its last item.
func WithValue(list, key, value string) string {
	if from, to := placeIn(list, key); to > from {
		return list[:from] + value + list[to:]
	}
	if key != "" {
		value = key + "=" + value
	}
	if list == noLabel || list == "" {
		return value
	}
	return list + "|" + value
}

// HasValue reports whether the last column of CoNLL-U has a value of a key.
func HasValue(list, key string) bool { return valueIn(list, key) != noLabel }

// miscKey returns the key of labels in the last column, "" for those without one; ok is false for labels in another
// column.
func miscKey(label string) (key string, ok bool) {
	name, key, _ := strings.Cut(label, ":")
	return key, name == misc
}

// LookThrough surveys a file whose labels stand in the last column, where words may lack one: if the others, and those
// of known, are entity tags, such words are outside entities. It returns nil for other labels; mistakes in the file are
// for Read to find.
func (c Conllu) LookThrough(open func() (io.ReadCloser, error), name string,
	known *structured.Alphabet) (*Survey, error) {
	key, ok := miscKey(c.Label)
	if !ok {
		return nil, nil
	}
	labels := structured.NewAlphabet(outside)
	err := through(open, func(r io.Reader) error {
		for in := newBlocks(r, name); ; {
			b, more, err := in.next()
			if !more || err != nil {
				return nil
			}
			for _, line := range b.lines() {
				fields := strings.Split(line, "\t")
				if len(fields) != len(conlluColumns) || line[0] == '#' || strings.ContainsAny(fields[0], "-.") {
					continue
				}
				if value := valueIn(fields[len(fields)-1], key); value != noLabel {
					labels.Intern(value)
				}
			}
		}
	})
	if known != nil {
		for _, label := range known.Names() {
			labels.Add(label)
		}
	}
	return &Survey{outside: chains.EntityTags(labels)}, err
}
