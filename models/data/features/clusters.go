package features

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Clusters are hierarchical clusters of words (Brown et al. 1992): each word has a path of bits from the root of a
// binary tree. Words with a long prefix of their paths in common are similar.
type Clusters struct {
	words structured.Alphabet
	path  []int32 // of each word
	paths structured.Alphabet
}

// ReadClusters reads clusters in the format of Liang's program: a line per word, with the path, a tab, the word and,
// optionally, a tab and the word's count. name is the file's name for messages. Errors are bad input, with file and
// line.
func ReadClusters(r io.Reader, name string) (*Clusters, error) {
	c, lines := &Clusters{}, host.NewLines(r, name)
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		fields := bytes.Split(bytes.TrimRight(line, " \t"), []byte("\t"))
		if len(fields) == 1 && len(fields[0]) == 0 {
			continue
		}
		if len(fields) != 2 && len(fields) != 3 {
			return nil, lines.Bad("%d columns, expected a path of bits, a word and its count, separated by tabs", len(fields))
		}
		path, word := string(fields[0]), string(fields[1])
		if len(fields) == 3 {
			if _, err := strconv.ParseUint(string(fields[2]), 10, 64); err != nil {
				return nil, lines.Bad("count %q, expected a number", fields[2])
			}
		}
		if err := c.add(path, word); err != nil {
			return nil, lines.Bad("%w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if c.words.Len() == 0 {
		return nil, structured.BadInput("%s: no clusters, expected lines of a path of bits, a word and its "+
			"count, separated by tabs", name)
	}
	return c, nil
}

func (c *Clusters) add(path, word string) error {
	switch {
	case path == "" || strings.Trim(path, "01") != "":
		return structured.BadInput("path %q, expected bits such as 0110", path)
	case word == "":
		return structured.BadInput("no word after the path %s", path)
	case c.words.Index(word) >= 0:
		return structured.BadInput("the word %q again; its path was %s", word, c.paths.Name(c.path[c.words.Index(word)]))
	}
	c.words.Add(word)
	c.path = append(c.path, c.paths.Add(path))
	return nil
}

// Len returns the number of words.
func (c *Clusters) Len() int { return c.words.Len() }

// Path returns the path of a word, or of the word in lower case; it is empty for other words.
func (c *Clusters) Path(word string) string {
	at := c.words.Index(word)
	if at < 0 {
		at = c.words.Index(strings.ToLower(word))
	}
	if at < 0 {
		return ""
	}
	return c.paths.Name(c.path[at])
}

func (c *Clusters) cells(words []string) []string {
	cells := make([]string, len(words))
	for t, word := range words {
		cells[t] = c.Path(word)
	}
	return cells
}

// Pack returns the clusters as text: a line per path with its words, separated by tabs.
func (c *Clusters) Pack() []byte {
	members := make([][]string, c.paths.Len())
	for i, path := range c.path {
		members[path] = append(members[path], c.words.Name(int32(i)))
	}
	return appendGroups(nil, c.paths.Names(), func(k int) []string { return members[k] })
}

// UnpackClusters returns the clusters that Pack wrote.
func UnpackClusters(packed string) (*Clusters, error) {
	c := &Clusters{}
	return c, eachGroup(packed, c.add)
}
