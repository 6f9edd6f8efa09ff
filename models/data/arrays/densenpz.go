package arrays

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Dense reads dense features from NumPy's npz archive, whose arrays are
//
//	features     [ΣT×D]  numbers of any precision or booleans, finite; they become float32
//	lengths      [n]     integers ≥ 0, the lengths T of the chains
//	labels       [ΣT]    integers from 0 to Y-1, or −100, as PyTorch has it, where any label may be right; or strings
//	label_names  [Y]     strings; optional, by default 0, 1, …, or the strings of labels in alphabetical order
//	mask         [ΣT]    booleans or integers; positions where it is false or 0 are left out; optional
//	words        [ΣT]    strings, for networks that read words, too; optional
//	weights      [n]     numbers ≥ 0, of the chains' losses in the objective; optional, by default 1
//
// The chains may also be padded to one length M: then features is [n×M×D], and mask, labels and words are [n×M]. The
// positions of a chain are the first of its row, as many as lengths says, or those where mask is true; one of the two
// arrays is enough.
type Dense struct {
	Dim       int                  // D if the training data determines it, else 0
	Alphabet  *structured.Alphabet // the known labels, which must contain label_names; nil means the file's own labels
	Unlabeled bool                 // ignore gold labels and weights: the array labels is optional
	Weighted  bool                 // read weights although gold labels are ignored
	// ReadFile reads all features once: they are finite, and what the archive's checksum says
	Checked  bool
	InMemory bool // ReadFile reads all features into memory, once
	Partial  bool // labels that are strings may be partial (text.ReadPartialLabels)

	Remarks *remarks.Remarks // on chains; nil refuses bad ones
	Strict  bool             // bad labels and weights are errors of the whole file, whatever Remarks leave out
}

// Read reads a data set: Features, Dim, Offsets, a column word if there are words and, unless Unlabeled, Labels. A
// chain may have length 0. Errors name the array, what it holds and what was expected.
func (c Dense) Read(r io.Reader, name string) (*structured.Dataset, error) {
	archive, err := openArchive(r, name)
	if err != nil {
		return nil, err
	}
	return c.read(denseReader{archive: archive, d: &structured.Dataset{Name: name, Alphabet: c.Alphabet, Dim: c.Dim},
		layout: &layout{}, faults: newFaults(c.Remarks)})
}

// ReadFile is Read of a file on disk whose features stay there, where np.savez wrote them in C order: the data set has
// a Source in place of Features, and the file stays open. A number that is not finite is then found when it is read,
// unless they are Checked. InMemory gives what Read does, without a copy of the file in memory.
func (c Dense) ReadFile(path string) (*structured.Dataset, error) {
	archive, f, err := openZip(path)
	if err != nil {
		return nil, err
	}
	in := denseReader{archive: archive, d: &structured.Dataset{Name: path, Alphabet: c.Alphabet, Dim: c.Dim},
		layout: &layout{}, faults: newFaults(c.Remarks)}
	if in.rows = storedFeatures(archive, f, c.Dim); in.rows != nil && (c.Checked || c.InMemory) {
		if c.InMemory {
			in.loaded = make([]float32, in.rows.Len()*in.rows.Width())
		}
		if !in.rows.sound(archive, in.loaded) {
			in.rows, in.loaded = nil, nil // Read says what is wrong
		}
	}
	if in.rows != nil {
		in.layout.takes(in.rows)
	}
	d, err := c.read(in)
	if err != nil || d.Source == nil {
		return d, errors.Join(err, f.Close())
	}
	return d, nil
}

// storedFeatures returns the features of an archive on disk, if they can stay there; nil if they are to be read, or
// refused, as a whole.
func storedFeatures(archive *zip.Reader, f sizedFile, dim int) *Rows {
	for _, z := range archive.File {
		if strings.TrimSuffix(z.Name, ".npy") == "features" && z.Method != zip.Store {
			return nil
		}
	}
	rows, err := rowsOf(archive, f, "features")
	if err != nil || rows == nil || len(rows.shape) > 2 || dim > 0 && rows.shape[len(rows.shape)-1] != dim {
		return nil
	}
	return rows
}

func (c Dense) read(in denseReader) (*structured.Dataset, error) {
	d := in.d
	if err := in.features(); err != nil {
		return nil, err
	}
	if err := in.positions(); err != nil {
		return nil, err
	}
	in.faults.place(d.Offsets, in.layout.keep)
	if err := in.words(); err != nil {
		return nil, err
	}
	faults := in.faults
	if c.Strict {
		in.faults = nil
	}
	if !c.Unlabeled {
		if err := in.labels(c.Partial); err != nil {
			return nil, err
		}
		if n := in.unknown(); n > 0 && n == len(d.Labels) {
			return nil, structured.BadInput("%s: all labels are −100, which is none, expected some others", d.Name)
		}
	}
	if !c.Unlabeled || c.Weighted {
		if err := in.weights(); err != nil {
			return nil, err
		}
	}
	if faults == nil {
		return d, nil
	}
	return c.Remarks.Keep(d, faults.keeps)
}

// fault returns an error about a position, or keeps it if its example is left out.
func (in denseReader) fault(position int, err error) error {
	return in.faults.at(in.d.Offsets, position, err)
}

// unknown returns the number of labels that are not known.
func (in denseReader) unknown() (n int) {
	for _, l := range in.d.Labels {
		if l < 0 && in.d.LabelSets[-1-l] == nil {
			n++
		}
	}
	return n
}

// Texts reads an array of n strings from the content of an npz archive; found is false without it.
func Texts(content []byte, file, name string, n int) (texts []string, found bool, err error) {
	archive, err := openArchive(bytes.NewReader(content), file)
	if err != nil {
		return nil, false, err
	}
	found, err = readNPY(archive, file, name, func(a *npyArray) (err error) {
		if err := a.expect("[lines]", 1, "US", "strings"); err != nil {
			return err
		}
		if texts, err = a.texts(); err == nil && len(texts) != n {
			err = a.bad(" has %d entries, expected %d, one per line", len(texts), n)
		}
		return err
	})
	return texts, found, err
}

// openArchive reads a whole npz archive: its directory is at its end.
func openArchive(r io.Reader, name string) (*zip.Reader, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, structured.BadInput("%s: %w", name, err)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, notArchive(name, err)
	}
	return archive, nil
}

// notArchive is the error for a file that is no npz archive, because of err.
func notArchive(name string, err error) error {
	if errors.Is(err, zip.ErrFormat) {
		return structured.BadInput("%s: not a zip archive, or one that is cut short; expected an npz archive", name)
	}
	return structured.BadInput("%s: %w, expected an npz archive", name, err)
}

type denseReader struct {
	archive *zip.Reader
	d       *structured.Dataset
	layout  *layout   // of chains; nil where features cannot be padded
	rows    *Rows     // features that are read as they are on disk, or nil
	loaded  []float32 // of rows, where they do not stay there; or nil
	faults  *faults   // of examples that are left out; nil: a fault is an error
}

// array reads a required array.
func (in denseReader) array(name, shape string, read func(*npyArray) error) error {
	found, err := readNPY(in.archive, in.d.Name, name, read)
	if err == nil && !found {
		err = structured.BadInput("%s: no array %s, expected %s", in.d.Name, name, shape)
	}
	return err
}

func (in denseReader) features() error {
	switch {
	case in.loaded != nil:
		in.d.Features, in.d.Dim = in.loaded, in.rows.width
		return nil
	case in.rows != nil:
		in.d.Source, in.d.Dim = in.rows, in.rows.width
		return nil
	}
	x, err := in.matrix("features", "position", in.d.Dim)
	if err != nil {
		return err
	}
	if len(x.values) == 0 {
		return structured.BadInput("%s: features has shape %v, expected at least one position", in.d.Name, x.shape)
	}
	in.d.Features, in.d.Dim = x.values, x.shape[1]
	return nil
}

// denseMatrix is a matrix of finite numbers.
type denseMatrix struct {
	values []float32
	shape  []int
}

// matrix reads a required matrix with a row of features for each thing of a kind; known is the number of features,
// or 0.
func (in denseReader) matrix(name, kind string, known int) (x denseMatrix, err error) {
	shape := "[" + kind + "s × features]"
	err = in.array(name, shape, func(a *npyArray) (err error) {
		if err := in.layout.flatten(a); err != nil {
			return err
		}
		if err := a.expect(shape, 2, numeric, "numbers"); err != nil {
			return err
		}
		x.shape = a.shape
		switch columns := a.shape[1]; {
		case columns == 0:
			return a.bad(" has shape %v, expected at least one feature", a.shape)
		case known > 0 && known != columns:
			return a.bad(" has %d features per %s, expected %d as in the training data", columns, kind, known)
		}
		if x.values, err = a.floats(); err != nil {
			return err
		}
		for i, v := range x.values {
			if v-v != 0 { // NaN or ±∞
				row := i / a.shape[1]
				if err := in.faults.row(row,
					a.bad("[%d,%d] is %v, expected a finite number (in float32)", row, i%a.shape[1], v)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return x, err
}

func (in denseReader) words() error {
	_, err := readNPY(in.archive, in.d.Name, "words", func(a *npyArray) error {
		if err := in.layout.expect(a, "US", "strings"); err != nil {
			return err
		}
		words, err := a.texts()
		if err != nil {
			return err
		}
		words = kept(in.layout, words)
		for k, word := range words {
			if word == "" {
				if err := in.fault(k, a.bad("[%d] is empty, expected a word", k)); err != nil {
					return err
				}
			}
		}
		in.d.Columns, in.d.ColumnNames = [][]string{words}, []string{text.WordColumn}
		return nil
	})
	return err
}

// labelNames reads the names of the labels, if the archive has them.
func (in denseReader) labelNames() (names []string, named bool, err error) {
	named, err = readNPY(in.archive, in.d.Name, "label_names", func(a *npyArray) (err error) {
		if err := a.expect("[labels]", 1, "US", "strings"); err != nil {
			return err
		}
		if names, err = a.texts(); err != nil {
			return err
		}
		for i, n := range names {
			if at := slices.Index(names, n); at < i {
				return a.bad("[%d] and [%d] are both %q", at, i, n)
			}
		}
		return nil
	})
	return names, named, err
}

func (in denseReader) labels(partial bool) error {
	names, named, err := in.labelNames()
	if err != nil {
		return err
	}
	return in.array("labels", "[positions]", func(a *npyArray) error {
		if err := in.layout.expect(a, "iuUS", "integers or strings"); err != nil {
			return err
		}
		if a.isText() {
			texts, err := a.texts()
			if err != nil {
				return err
			}
			texts = kept(in.layout, texts)
			for k, label := range texts {
				if label == "" {
					if err := in.fault(k, a.bad("[%d] is empty, expected a label", k)); err != nil {
						return err
					}
				}
			}
			if partial {
				known := in.d.Alphabet
				if known == nil && named {
					known = structured.NewAlphabet(names...)
				}
				return text.PartialLabels(in.d, texts, known)
			}
			labels, names, err := in.numberNames(a, texts, names)
			if err != nil {
				return err
			}
			return in.setLabels(a, labels, names, ignored)
		}
		labels, err := a.ints()
		if err != nil {
			return err
		}
		labels = kept(in.layout, labels)
		if slices.Contains(labels, ignored) {
			in.d.LabelSets = [][]int32{nil} // −1 is any label
		}
		const most = 1 << 20 // labels, where only the largest number tells
		if !named {
			if names, err = in.numbers(a, labels, most); err != nil {
				return err
			}
		}
		return in.setLabels(a, labels, names, ignored)
	})
}

// ignored is the label of positions that PyTorch's losses ignore.
const ignored = -100

func (in denseReader) weights() error {
	_, err := readNPY(in.archive, in.d.Name, "weights", func(a *npyArray) error {
		if err := a.expect("[chains]", 1, numeric, "numbers"); err != nil {
			return err
		}
		weights, err := a.weights(in.faults.of)
		if err != nil {
			return err
		}
		if len(weights) != in.d.Len() {
			return a.bad(" has %d entries, expected %d, one per chain", len(weights), in.d.Len())
		}
		in.d.Weights = weights
		return nil
	})
	return err
}

// numbers returns the names 0, 1, … for labels without names.
func (in denseReader) numbers(a *npyArray, labels []int, most int) ([]string, error) {
	if in.d.Alphabet != nil {
		return in.d.Alphabet.Names(), nil
	}
	y := 0
	for i, l := range labels {
		if l >= most {
			return nil, a.bad("[%d] is %d, expected less than %d", i, l, most)
		}
		y = max(y, l+1)
	}
	names := make([]string, y)
	for l := range names {
		names[l] = strconv.Itoa(l)
	}
	return names, nil
}

// numberNames returns the numbers of labels that are given by name, −1 for an empty one, and the names that are
// numbered: those given, or else those of the data set's alphabet, or else those of the labels in alphabetical order.
func (in denseReader) numberNames(a *npyArray, labels, names []string) ([]int, []string, error) {
	if names == nil && in.d.Alphabet != nil {
		names = in.d.Alphabet.Names()
	}
	if names == nil {
		names = slices.Clone(labels)
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	}
	number := map[string]int{"": -1}
	for l, name := range names {
		number[name] = l
	}
	numbers := make([]int, len(labels))
	for i, name := range labels {
		l, known := number[name]
		if !known {
			if err := in.fault(i,
				a.bad("[%d] is %q, which is not one of the known ones: %s", i, name, structured.SomeOf(names))); err != nil {
				return nil, nil, err
			}
		}
		numbers[i] = l
	}
	return numbers, names, nil
}

// setLabels translates the file's label numbers into those of the alphabet. unknown becomes −1, an unknown label, where
// the data set has label sets.
func (in denseReader) setLabels(a *npyArray, labels []int, names []string, unknown int) error {
	d := in.d
	if d.Alphabet == nil {
		d.Alphabet = structured.NewAlphabet(names...)
	}
	d.Labels = make([]int32, len(labels))
	for i, l := range labels {
		if l == unknown && d.LabelSets != nil {
			d.Labels[i] = -1
			continue
		}
		if l < 0 || l >= len(names) {
			if err := in.fault(i, a.bad("[%d] is %d, expected 0 to %d", i, l, len(names)-1)); err != nil {
				return err
			}
			continue
		}
		if d.Labels[i] = d.Alphabet.Index(names[l]); d.Labels[i] < 0 {
			if err := in.fault(i, a.bad("[%d] is %d, %q, which is not one of the known ones: %s", i, l, names[l],
				structured.SomeOf(d.Alphabet.Names()))); err != nil {
				return err
			}
		}
	}
	return nil
}
