// Package phrases draws sentences with trees of constituents: those of package dependencies, whose dependency trees
// become phrases by a few rules. A noun with what depends on it is a noun phrase; one with a preposition is inside a
// prepositional phrase; a verb has its objects in a verb phrase, beside its subject in a clause. Where phrases attach
// depends on the words, and some tags are wrong, so that no parser can be perfect.
package phrases

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/trees"
)

// Names are the names of the three sets.
var Names = []string{"train", "dev", "test"}

// DefaultSizes are how many sentences are drawn for each set where nothing says it.
func DefaultSizes() []int { return []int{1000, 300, 300} }

// Draw draws the sentences of one of the sets.
func Draw(sizes []int, set int, seed uint64) ([]*brackets.Node, error) {
	o := dependencies.DefaultOptions()
	o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
	o.Extraposition, o.Seed = 0, seed
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if sizes[set] == 0 {
		return nil, nil
	}
	b, err := o.Parts()[set].Treebank(nil)
	if err != nil {
		return nil, err
	}
	all := make([]*brackets.Node, b.Len())
	for i := range all {
		tree := b.Tree(i)
		if !trees.Projective(tree.Heads) {
			b.Projectivise()
			tree = b.Tree(i)
		}
		all[i] = sentence(b, i, tree)
	}
	return all, nil
}

// Write draws the three sets and writes them into dir as train.penn, dev.penn and test.penn.
func Write(dir string, sizes []int, seed uint64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for set, name := range Names {
		all, err := Draw(sizes, set, seed)
		if err != nil {
			return err
		}
		err = host.WriteFile(filepath.Join(dir, name+".penn"), func(w io.Writer) error {
			for _, tree := range all {
				if _, err := w.Write(append(tree.Append(nil), '\n')); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// words are a sentence with its dependency tree.
type words struct {
	form, tag  []string
	relation   []string
	dependents [][]int // of each word, in order
}

func sentence(b *treebank.Treebank, i int, tree trees.Tree) *brackets.Node {
	s := &words{form: b.Column(i, treebank.Form), tag: b.Column(i, treebank.UPOS), relation: make([]string, tree.Len()),
		dependents: make([][]int, tree.Len())}
	root := 0
	for t, head := range tree.Heads {
		s.relation[t], _, _ = strings.Cut(b.Names.Name(tree.Relations[t]), ":")
		if head == 0 {
			root = t
		} else {
			s.dependents[head-1] = append(s.dependents[head-1], t)
		}
	}
	return &brackets.Node{Label: "TOP", Children: []*brackets.Node{s.clause(root)}}
}

func (s *words) word(t int) *brackets.Node { return &brackets.Node{Label: s.tag[t], Word: s.form[t]} }

// has reports whether a word has a dependent with a relation, and returns it.
func (s *words) has(t int, relation string) (int, bool) {
	for _, d := range s.dependents[t] {
		if s.relation[d] == relation {
			return d, true
		}
	}
	return 0, false
}

func (s *words) phrase(t int) *brackets.Node {
	switch s.relation[t] {
	case "advcl", "ccomp", "acl", "xcomp", "csubj", "parataxis", "root":
		return s.clause(t)
	}
	switch s.tag[t] {
	case "VERB", "AUX":
		if len(s.dependents[t]) > 0 {
			return s.clause(t)
		}
	case "NOUN", "PROPN", "PRON":
		return s.nounPhrase(t)
	case "ADJ", "ADV", "NUM":
		if len(s.dependents[t]) > 0 {
			return s.flat(map[string]string{"ADJ": "ADJP", "ADV": "ADVP", "NUM": "QP"}[s.tag[t]], t, nil)
		}
	}
	if len(s.dependents[t]) > 0 {
		return s.flat("XP", t, nil)
	}
	return s.word(t)
}

// flat returns a constituent of a word and the phrases of its dependents but those that leave says.
func (s *words) flat(label string, t int, leave func(d int) bool) *brackets.Node {
	n := &brackets.Node{Label: label}
	placed := false
	for _, d := range s.dependents[t] {
		if leave != nil && leave(d) {
			continue
		}
		if d > t && !placed {
			n.Children, placed = append(n.Children, s.word(t)), true
		}
		n.Children = append(n.Children, s.phrase(d))
	}
	if !placed {
		n.Children = append(n.Children, s.word(t))
	}
	return n
}

// nounPhrase returns a noun phrase or, around it, a prepositional phrase.
func (s *words) nounPhrase(t int) *brackets.Node {
	d, ok := s.has(t, "case")
	if !ok || d != first(s, t) {
		return s.flat("NP", t, nil)
	}
	return &brackets.Node{Label: "PP", Children: []*brackets.Node{s.phrase(d), s.flat("NP", t, func(other int) bool {
		return other == d
	})}}
}

// first returns the first word of the phrase of t.
func first(s *words, t int) int {
	if d := s.dependents[t]; len(d) > 0 && d[0] < t {
		return first(s, d[0])
	}
	return t
}

// clause returns a clause: what comes before the verb phrase up to the subject, the verb phrase, and a sign at the end;
// inside of another constituent if a conjunction introduces it.
func (s *words) clause(t int) *brackets.Node {
	mark, marked := s.has(t, "mark")
	marked = marked && mark == first(s, t)
	subject, ok := s.has(t, "nsubj")
	outside := map[int]bool{}
	n := &brackets.Node{Label: "S"}
	for _, d := range s.dependents[t] {
		if marked && d == mark {
			outside[d] = true
		} else if ok && d <= subject && subject < t {
			outside[d] = true
			n.Children = append(n.Children, s.phrase(d))
		}
	}
	end := -1
	if all := s.dependents[t]; len(all) > 0 && s.tag[all[len(all)-1]] == "PUNCT" && all[len(all)-1] > t {
		end = all[len(all)-1]
		outside[end] = true
	}
	n.Children = append(n.Children, s.flat("VP", t, func(d int) bool { return outside[d] }))
	if end >= 0 {
		n.Children = append(n.Children, s.word(end))
	}
	if marked {
		return &brackets.Node{Label: "SBAR", Children: []*brackets.Node{s.phrase(mark), n}}
	}
	return n
}
