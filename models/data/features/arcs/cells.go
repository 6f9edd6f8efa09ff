package arcs

import (
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Columns are the input columns of a data set: cell c of token t is Cells[c][t].
type Columns struct {
	Name  string   // of the file, for messages
	Names []string // of the columns
	Cells [][]string
}

// memoryBound limits the bytes that the cells of a column may take, approximately; above it the extractor clears its
// cache.
const memoryBound = 16 << 20

// cells caches the values of the functions of a column's cells, as hashes; 0 means that a function has no value.
type cells struct {
	name      string
	source    []string // the data
	views     []int    // view of each function
	functions []function
	known     map[string]int // where the values of a cell begin in values
	values    []uint64
	bytes     int
}

// at returns the values of all functions for a cell. The next call overwrites them.
func (c *cells) at(cell string) []uint64 {
	if at, ok := c.known[cell]; ok {
		return c.values[at : at+len(c.functions)]
	}
	if c.known == nil || c.bytes > memoryBound {
		c.known, c.values, c.bytes = map[string]int{}, c.values[:0], 0
	}
	at := len(c.values)
	for _, f := range c.functions {
		value, ok := f.apply(cell)
		if ok {
			c.values = append(c.values, textHash(value))
		} else {
			c.values = append(c.values, 0)
		}
	}
	c.known[strings.Clone(cell)] = at
	c.bytes += len(cell) + 64 + 8*len(c.functions)
	return c.values[at:]
}

// mark names the cell at a position beyond the ends of a sentence of n tokens. Position −1, the root, is _B-1.
func mark(position, n int) string {
	if position < 0 {
		return "_B" + strconv.Itoa(position)
	}
	return "_B+" + strconv.Itoa(position-n+1)
}

// sentence holds the values of the views in a sentence.
type sentence struct {
	n      int
	lo     int        // its first token in the data
	values [][]uint64 // per view: values of tokens −pad to n+pad−1, 0 for no value
	gaps   []gap
	marks  [2][]uint64 // the marks before and after a sentence
}

// load loads tokens lo to hi-1 of the data.
func (s *sentence) load(m *machine, lo, hi int) {
	s.n, s.lo = hi-lo, lo
	for k := len(s.marks[0]); k < m.pad; k++ {
		s.marks[0] = append(s.marks[0], textHash(mark(-1-k, 0)))
		s.marks[1] = append(s.marks[1], textHash(mark(k, 0)))
	}
	if s.values == nil {
		s.values = make([][]uint64, len(m.views))
		s.gaps = make([]gap, len(m.gaps))
	}
	for v := range s.values {
		s.values[v] = vec.Grow(s.values[v], s.n+2*m.pad)
	}
	for _, c := range m.columns {
		for k, v := range c.views {
			values := s.values[v]
			for i := range m.pad {
				values[m.pad-1-i], values[m.pad+s.n+i] = 0, 0
				if c.functions[k].total {
					values[m.pad-1-i], values[m.pad+s.n+i] = s.marks[0][i], s.marks[1][i]
				}
			}
		}
		for i, cell := range c.source[lo:hi] {
			for k, value := range c.at(cell) {
				s.values[c.views[k]][m.pad+i] = value
			}
		}
	}
	for g := range s.gaps {
		s.gaps[g].load(&m.gaps[g], s.values[m.gaps[g].view][m.pad:m.pad+s.n])
	}
}

// fold returns the hash of the taps' values around a token, or 0 if one of them has no value.
func (s *sentence) fold(m *machine, h uint64, taps []tap, position int) uint64 {
	for _, tap := range taps {
		value := s.values[tap.view][m.pad+position+tap.row]
		if value == 0 {
			return 0
		}
		h = fold(h, value)
	}
	return max(1, h)
}
