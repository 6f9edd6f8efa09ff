// Package brackets reads and writes trees of constituents as the Penn Treebank does, in brackets:
//
//	(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))
//
// A tree becomes the output of a constituents.Tree and back without loss: labels of the same words, one above the
// other, are joined to one with + between them (TOP+S), and trees of any number of children stay as they are.
package brackets

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Node is a constituent with its children or, at the bottom, a word with its tag as the label. A parse that failed,
// (()) or () as parsers write it for EVALB, has neither.
type Node struct {
	Label    string
	Word     string // of a node without children
	Children []*Node
}

// top is the label of a top node without one, as files of the Penn Treebank have it.
const top = "TOP"

// Read reads trees, and lines before them that begin with #, which are comments. It hands the trees to yield, each with
// the line that it begins in. path is for messages, and line the number of the first line.
func Read(r io.Reader, path string, line int, yield func(tree *Node, line int) error) error {
	_, err := newParser(r, path, line).trees(yield)
	return err
}

// trees hands all trees to yield, each once a closing bracket too many would have been found. Of an error it tells the
// line in which the tree begins that it is about.
func (p *parser) trees(yield func(tree *Node, line int) error) (begin int, err error) {
	var read *Node
	var at int
	flush := func() error {
		if read == nil {
			return nil
		}
		tree := read
		read = nil
		return yield(tree, at)
	}
	for {
		token, err := p.next()
		begin = p.line
		if err != nil || token != ")" {
			if err := flush(); err != nil {
				return at, err
			}
		}
		switch {
		case err == io.EOF:
			return begin, nil
		case err != nil:
			return begin, err
		case strings.HasPrefix(token, "#"): // a comment to the end of the line
			if err := p.skipLine(); err != nil {
				return begin, err
			}
			continue
		case token != "(":
			return begin, p.wrong(token, "the opening bracket of a tree")
		}
		tree, err := p.node(1)
		if err != nil {
			return begin, err
		}
		if tree.Word != "" {
			tree = &Node{Label: top, Children: []*Node{tree}}
		}
		if tree.Label == "" {
			tree.Label = top
		}
		read, at = tree, begin
	}
}

// Failed reports whether the tree is that of a parse that failed.
func (n *Node) Failed() bool { return n.Children == nil && n.Word == "" }

// parser splits text into brackets and what stands between them.
type parser struct {
	in    *bufio.Reader
	path  string
	line  int
	ahead string // a token that was put back
}

// mostNested bounds how deeply brackets are nested, so that no file can exhaust the stack.
const mostNested = 10_000

func newParser(r io.Reader, path string, line int) *parser {
	return &parser{in: bufio.NewReaderSize(r, 1<<16), path: path, line: max(1, line)}
}

func (p *parser) wrong(found, expected string) error {
	return structured.BadInput("%s:%d: found %q, expected %s", p.path, p.line, found, expected)
}

func (p *parser) next() (string, error) {
	if p.ahead != "" {
		token := p.ahead
		p.ahead = ""
		return token, nil
	}
	var token strings.Builder
	for {
		c, err := p.in.ReadByte()
		switch {
		case err == io.EOF && token.Len() > 0:
			return token.String(), nil
		case err != nil && err != io.EOF:
			return "", structured.BadInput("%s:%d: %w", p.path, p.line, err)
		case err != nil:
			return "", err
		case isSpace(c) && token.Len() == 0:
			if c == '\n' {
				p.line++
			}
			continue
		case isSpace(c), (c == '(' || c == ')') && token.Len() > 0:
			_ = p.in.UnreadByte()
			return token.String(), nil
		case c == '(' || c == ')':
			return string(c), nil
		}
		token.WriteByte(c)
	}
}

// isSpace reports whether c separates tokens. Spaces beyond ASCII may be words, or inside of them.
func isSpace(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 }

// skipLine skips the rest of a line.
func (p *parser) skipLine() error {
	for {
		switch c, err := p.in.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return structured.BadInput("%s:%d: %w", p.path, p.line, err)
		case c == '\n':
			p.line++
			return nil
		}
	}
}

// inside is next inside of a tree, which must not end there.
func (p *parser) inside() (string, error) {
	token, err := p.next()
	if err == io.EOF {
		return "", structured.BadInput("%s:%d: the file ends inside of a tree, expected its closing bracket", p.path, p.line)
	}
	return token, err
}

// node reads what follows an opening bracket.
func (p *parser) node(depth int) (*Node, error) {
	if depth > mostNested {
		return nil, structured.BadInput("%s:%d: brackets are nested more than %d deep", p.path, p.line, mostNested)
	}
	n := &Node{}
	token, err := p.inside()
	if err != nil {
		return nil, err
	}
	if token == ")" {
		if depth == 1 {
			return n, nil // (), a parse that failed
		}
		return nil, p.wrong(token, "a label, and a word or brackets")
	}
	if token == "(" && depth == 1 { // (()) is one as well
		if p.ahead, err = p.inside(); err != nil {
			return nil, err
		}
		if p.ahead == ")" {
			p.ahead = ""
			if token, err = p.inside(); err == nil && token != ")" {
				err = p.wrong(token, "the closing bracket of (()), a parse that failed")
			}
			return n, err
		}
	}
	if token != "(" {
		n.Label = token
		if token, err = p.inside(); err != nil {
			return nil, err
		}
	} else if depth > 1 {
		return nil, p.wrong(token, "a label: only the outermost brackets may lack one")
	}
	if token != "(" && token != ")" {
		n.Word = token
		token, err = p.inside()
		if err == nil && token != ")" {
			err = p.wrong(token, "the closing bracket of the word "+n.Word)
		}
		return n, err
	}
	for ; token == "("; token, err = p.inside() {
		child, err := p.node(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, child)
	}
	switch {
	case err != nil:
		return nil, err
	case token != ")":
		return nil, p.wrong(token, "a bracket: a constituent has words in brackets, with their tags")
	case len(n.Children) == 0:
		return nil, p.wrong(token, "a word or brackets after the label "+n.Label)
	}
	return n, nil
}

// escaped writes brackets in words as the Penn Treebank does.
var escaped = strings.NewReplacer("(", "-LRB-", ")", "-RRB-")

// Append appends the tree in a line, without its end.
func (n *Node) Append(text []byte) []byte {
	text = append(append(text, '('), escaped.Replace(n.Label)...)
	if n.Children == nil {
		text = append(append(text, ' '), escaped.Replace(n.Word)...)
	}
	for _, c := range n.Children {
		text = c.Append(append(text, ' '))
	}
	return append(text, ')')
}

// Plain returns the tree as parsers are trained on it: without empty words (-NONE-) and what has nothing else, and with
// labels without functions and numbers (NP-SBJ-1, NP=2; of several with | between them, each). It is nil if nothing is
// left.
func (n *Node) Plain() *Node {
	if n.Children == nil {
		if n.Label == "-NONE-" || n.Failed() {
			return nil
		}
		return n
	}
	labels := strings.Split(n.Label, separator)
	for k, label := range labels {
		if at := strings.IndexAny(label, "-="); at > 0 {
			labels[k] = label[:at]
		}
	}
	plain := &Node{Label: strings.Join(labels, separator)}
	for _, c := range n.Children {
		if c = c.Plain(); c != nil {
			plain.Children = append(plain.Children, c)
		}
	}
	if plain.Children == nil {
		return nil
	}
	return plain
}

// Words appends the words of the tree and their tags.
func (n *Node) Words(words, tags []string) ([]string, []string) {
	if n.Children == nil {
		return append(words, n.Word), append(tags, n.Label)
	}
	for _, c := range n.Children {
		words, tags = c.Words(words, tags)
	}
	return words, tags
}

var (
	escape   = strings.NewReplacer(`\`, `\\`, "+", `\+`)
	unescape = strings.NewReplacer(`\\`, `\`, `\+`, "+")
)

// Joined joins the labels of the same words, the outermost first.
func Joined(labels []string) string {
	escaped := make([]string, len(labels))
	for k, l := range labels {
		escaped[k] = escape.Replace(l)
	}
	return strings.Join(escaped, "+")
}

// Split is the inverse of Joined.
func Split(name string) []string {
	var labels []string
	from := 0
	for at := 0; at < len(name); at++ {
		switch name[at] {
		case '\\':
			at++
		case '+':
			labels, from = append(labels, unescape.Replace(name[from:at])), at+1
		}
	}
	return append(labels, unescape.Replace(name[from:]))
}

// Output returns the output [n·n] of a constituents.Tree for a tree of n words. number numbers joined labels.
func (n *Node) Output(words int, number func(name string) int32) []int32 {
	y := make([]int32, words*words)
	at := 0
	var visit func(n *Node)
	visit = func(n *Node) {
		var labels []string
		for n.Children != nil {
			labels = append(labels, n.Label)
			if len(n.Children) > 1 {
				break
			}
			n = n.Children[0]
		}
		first := at
		if n.Children == nil {
			at++
		}
		for _, c := range n.Children {
			visit(c)
		}
		if labels != nil {
			y[first*words+at-1] = 1 + number(Joined(labels))
		}
	}
	visit(n)
	return y
}

// FromOutput returns the tree of an output, with the words and their tags.
func FromOutput(y []int32, words, tags []string, names *structured.Alphabet) *Node {
	n := len(words)
	var build func(i, j int) *Node
	build = func(i, j int) *Node {
		var children []*Node
		if i == j {
			children = []*Node{{Label: tags[i], Word: words[i]}}
		}
		for first := i; i < j && first <= j; {
			last := constituents.LastOf(y, n, first, j, i)
			children = append(children, build(first, last))
			first = last + 1
		}
		l := y[i*n+j]
		if l == 0 {
			return children[0] // a word
		}
		for _, label := range slices.Backward(Split(names.Name(l - 1))) {
			children = []*Node{{Label: label, Children: children}}
		}
		return children[0]
	}
	if n == 0 {
		return nil
	}
	return build(0, n-1)
}
