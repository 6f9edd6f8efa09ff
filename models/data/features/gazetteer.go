package features

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Gazetteer is a list of names of one or more words, each of one or more types. Names are found in text without regard
// to case.
type Gazetteer struct {
	words structured.Alphabet // in lower case
	next  pairs               // a prefix tree: (node, word) → node; node 0 is the root
	nodes []gazetteerNode
	types structured.Alphabet
	sets  [][]int32 // of types, sorted; set 0 is empty
}

type gazetteerNode struct {
	parent, word int32
	set          int32 // of the types of the name that ends here
}

// NewGazetteer returns an empty gazetteer.
func NewGazetteer() *Gazetteer {
	return &Gazetteer{nodes: []gazetteerNode{{}}, sets: [][]int32{nil}}
}

// Read adds the names of a file: one per line, its words separated by spaces, with its type after a tab. Names without
// a type get the default one. name is the file's name for messages. Errors are bad input, with file and line.
func (g *Gazetteer) Read(r io.Reader, name, defaultType string) error {
	lines, before := host.NewLines(r, name), len(g.nodes)
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		entry, kind, typed := bytes.Cut(bytes.TrimRight(line, " \t"), []byte("\t"))
		if len(entry) == 0 && !typed {
			continue
		}
		if !typed {
			kind = []byte(defaultType)
		}
		if err := g.add(string(kind), string(entry)); err != nil {
			return lines.Bad("%w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if before == 1 && len(g.nodes) == 1 {
		return structured.BadInput("%s: no names, expected one per line, with its type after a tab", name)
	}
	return nil
}

func (g *Gazetteer) add(kind, entry string) error {
	words := strings.Fields(strings.ToLower(entry))
	switch {
	case kind == "" || strings.ContainsAny(kind, "\t|"):
		return structured.BadInput("type %q, expected a name without tabs and |", kind)
	case len(words) == 0:
		return structured.BadInput("no name before the type %q", kind)
	}
	node := int32(0)
	for _, word := range words {
		to := g.next.at(node, g.words.Add(word))
		if *to == unseen {
			*to = int32(len(g.nodes))
			g.nodes = append(g.nodes, gazetteerNode{parent: node, word: g.words.Index(word)})
		}
		node = *to
	}
	g.nodes[node].set = g.with(g.nodes[node].set, g.types.Add(kind))
	return nil
}

// with returns the number of a set with one more type.
func (g *Gazetteer) with(set, kind int32) int32 {
	at, has := slices.BinarySearch(g.sets[set], kind)
	if has {
		return set
	}
	wanted := slices.Insert(slices.Clone(g.sets[set]), at, kind)
	for k, have := range g.sets {
		if slices.Equal(have, wanted) {
			return int32(k)
		}
	}
	g.sets = append(g.sets, wanted)
	return int32(len(g.sets) - 1)
}

// Len returns the number of names, each counted once per type.
func (g *Gazetteer) Len() int {
	n := 0
	for _, node := range g.nodes {
		n += len(g.sets[node.set])
	}
	return n
}

// cells returns, for each word, the types of the names that it is part of, in the form B-person|I-place: B for the
// first word of a name, I for the others. Of each type it takes the longest name at a word that no earlier name of that
// type covers.
func (g *Gazetteer) cells(words []string) []string {
	numbers := make([]int32, len(words))
	for t, word := range words {
		numbers[t] = g.words.Index(strings.ToLower(word))
	}
	cells := make([]string, len(words))
	until := make([]int, g.types.Len()) // where the last name of each type ends
	length := make([]int, g.types.Len())
	for t := range words {
		var found []int32 // types
		node := int32(0)
		for end := t; end < len(words) && numbers[end] >= 0; {
			if node = g.next.get(node, numbers[end]); node < 0 {
				break
			}
			end++
			for _, kind := range g.sets[g.nodes[node].set] {
				if length[kind] == 0 {
					found = append(found, kind)
				}
				length[kind] = end - t
			}
		}
		slices.Sort(found)
		for _, kind := range found {
			if t >= until[kind] {
				until[kind] = t + length[kind]
				for s := t; s < until[kind]; s++ {
					tag := "I-"
					if s == t {
						tag = "B-"
					}
					if cells[s] != "" {
						tag = "|" + tag
					}
					cells[s] += tag + g.types.Name(kind)
				}
			}
			length[kind] = 0
		}
	}
	return cells
}

// Pack returns the gazetteer as text: a line per type with its names, separated by tabs.
func (g *Gazetteer) Pack() []byte {
	members := make([][]string, g.types.Len())
	for i, node := range g.nodes {
		for _, kind := range g.sets[node.set] {
			members[kind] = append(members[kind], g.entry(int32(i)))
		}
	}
	return appendGroups(nil, g.types.Names(), func(k int) []string { return members[k] })
}

// entry returns the name that ends at a node.
func (g *Gazetteer) entry(node int32) string {
	var words []string
	for ; node != 0; node = g.nodes[node].parent {
		words = append(words, g.words.Name(g.nodes[node].word))
	}
	slices.Reverse(words)
	return strings.Join(words, " ")
}

// UnpackGazetteer returns the gazetteer that Pack wrote.
func UnpackGazetteer(packed string) (*Gazetteer, error) {
	g := NewGazetteer()
	return g, eachGroup(packed, g.add)
}
