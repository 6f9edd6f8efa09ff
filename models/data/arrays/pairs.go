package arrays

import (
	"io"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// Pairs reads dense features of pairs of items from NumPy's npz archive, whose arrays are
//
//	features  [Σ n·m × D]     numbers of any precision or booleans, finite; row i·m+j of an example is its source item i with its target item j
//	sizes     [examples × 2]  integers ≥ 1: n, the number of source items, and m, the number of target items
//	links     [L × 3 or 4]    integers: example, i, j and, optionally, 1 for a sure and 0 for a possible link; by default all are sure
//	words     [Σ (n+m)]       strings: the source items' names, then the target items', of every example; optional
type Pairs struct {
	Dim       int  // D if the training data determines it, else 0
	Unlabeled bool // ignore gold links: the array links is optional

	// that leave bad examples out; nil refuses them. Errors of what says where examples begin and end are of the whole
	// file
	Remarks *remarks.Remarks

	Strict bool // bad links are errors of the whole file, whatever Remarks leave out

	// Sizes are n and m of every example, if another file determines them; then the array sizes is optional, and links
	// are ignored.
	Sizes [][2]int
}

// PairArrays are the contents of an archive of pairs.
type PairArrays struct {
	Features []float32
	Dim      int
	Sizes    [][2]int
	Links    [][4]int      // example, i, j, sure, in the order of the file; nil if Unlabeled
	Words    []string      // or nil
	Faults   map[int]error // of the examples that are to be left out
}

// Read reads an archive. Errors are structured.BadInput and name the array, what it holds and what was expected.
func (c Pairs) Read(r io.Reader, name string) (*PairArrays, error) {
	archive, err := openArchive(r, name)
	if err != nil {
		return nil, err
	}
	in := pairReader{denseReader{archive: archive, d: &structured.Dataset{Name: name, Dim: c.Dim},
		faults: newFaults(c.Remarks)}, &PairArrays{}}
	if in.faults != nil {
		in.a.Faults = in.faults.examples
	}
	if err := in.features(); err != nil {
		return nil, err
	}
	in.a.Features, in.a.Dim = in.d.Features, in.d.Dim
	if err := in.sizes(c.Sizes); err != nil {
		return nil, err
	}
	if c.Sizes != nil {
		return in.a, nil
	}
	if err := in.names(); err != nil {
		return nil, err
	}
	if c.Unlabeled {
		return in.a, nil
	}
	if c.Strict {
		in.faults = nil
	}
	return in.a, in.links()
}

type pairReader struct {
	denseReader
	a *PairArrays
}

// matrix reads integers with two axes, row by row.
func (a *npyArray) matrix() ([]int, error) {
	values, err := a.ints()
	if err == nil && a.fortran {
		values = transposed(values, a.shape[1], a.shape[0])
	}
	return values, err
}

// sizes reads the examples' sizes and compares them with the features and, if known is not nil, with another file.
func (in pairReader) sizes(known [][2]int) error {
	const shape = "[examples × 2], the numbers of source and target items"
	read := func(a *npyArray) error {
		if err := a.expect(shape, 2, "iu", "integers"); err != nil {
			return err
		}
		if a.shape[1] != 2 {
			return a.bad(" has shape %v, expected %s", a.shape, shape)
		}
		values, err := a.matrix()
		if err != nil {
			return err
		}
		if known != nil && len(known) != a.shape[0] {
			return a.bad(" has %d rows, expected %d, one per pair of the text", a.shape[0], len(known))
		}
		for e := range a.shape[0] {
			size := [2]int{values[2*e], values[2*e+1]}
			const most = 1 << 20 // items
			if min(size[0], size[1]) < 1 || max(size[0], size[1]) > most {
				err := a.bad("[%d] is %v, expected numbers from 1 to %d", e, size, most)
				if min(size[0], size[1]) == 0 && max(size[0], size[1]) <= most { // which has no rows
					err = in.faults.of(e, err)
				}
				if err != nil {
					return err
				}
			}
			if known != nil && known[e] != size {
				return a.bad("[%d] is %v, expected %v words as in the text", e, size, known[e])
			}
			in.a.Sizes = append(in.a.Sizes, size)
		}
		return nil
	}
	var err error
	if known == nil {
		err = in.array("sizes", shape, read)
	} else {
		_, err = readNPY(in.archive, in.d.Name, "sizes", read)
		in.a.Sizes = known
	}
	if err != nil {
		return err
	}
	rows, sum := len(in.a.Features)/in.a.Dim, 0
	offsets := []int{0}
	for e, size := range in.a.Sizes {
		sum += size[0] * size[1]
		if offsets = append(offsets, sum); sum > rows {
			return structured.BadInput("%s: features has %d rows, expected more: the first %d examples have %d pairs",
				in.d.Name, rows, e+1, sum)
		}
	}
	if sum != rows {
		return structured.BadInput("%s: features has %d rows, expected %d, one per pair", in.d.Name, rows, sum)
	}
	in.faults.place(offsets, nil)
	return nil
}

func (in pairReader) links() error {
	const shape = "[links × 3 or 4]: example, source item, target item, and 1 if sure or 0 if possible"
	return in.array("links", shape, func(a *npyArray) error {
		if err := a.expect(shape, 2, "iu", "integers"); err != nil {
			return err
		}
		columns := a.shape[1]
		if columns != 3 && columns != 4 {
			return a.bad(" has shape %v, expected %s", a.shape, shape)
		}
		values, err := a.matrix()
		if err != nil {
			return err
		}
		in.a.Links = make([][4]int, 0, a.shape[0])
		for k := range a.shape[0] {
			link := [4]int{3: 1}
			copy(link[:], values[k*columns:(k+1)*columns])
			if e := link[0]; e < 0 || e >= len(in.a.Sizes) {
				return a.bad("[%d] is of example %d, expected 0 to %d", k, e, len(in.a.Sizes)-1)
			}
			if err := in.checkLink(a, k, link); err == nil {
				in.a.Links = append(in.a.Links, link)
			} else if err = in.faults.of(link[0], err); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkLink checks link k, whose example is there.
func (in pairReader) checkLink(a *npyArray, k int, link [4]int) error {
	for side, what := range []string{"source", "target"} {
		if at, n := link[1+side], in.a.Sizes[link[0]][side]; at < 0 || at >= n {
			return a.bad("[%d] is of %s item %d of example %d, expected 0 to %d", k, what, at, link[0], n-1)
		}
	}
	if link[3] != 0 && link[3] != 1 {
		return a.bad("[%d] has %d in its last column, expected 1 if sure or 0 if possible", k, link[3])
	}
	return nil
}

// names reads the items' names.
func (in pairReader) names() error {
	_, err := readNPY(in.archive, in.d.Name, "words", func(a *npyArray) error {
		if err := a.expect("[items]", 1, "US", "strings"); err != nil {
			return err
		}
		items, offsets := 0, []int{0}
		for _, size := range in.a.Sizes {
			items += size[0] + size[1]
			offsets = append(offsets, items)
		}
		if a.shape[0] != items {
			return a.bad(" has %d entries, expected %d, one per source and target item", a.shape[0], items)
		}
		words, err := a.texts()
		if err != nil {
			return err
		}
		for k, word := range words {
			if word == "" {
				if err := in.faults.at(offsets, k, a.bad("[%d] is empty, expected a word", k)); err != nil {
					return err
				}
			}
		}
		in.a.Words = words
		return nil
	})
	return err
}
