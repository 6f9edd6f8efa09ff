package models

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/packed"
)

// sharedText is the parts of text files that several processes read, which train together. No process holds the text of
// all.
//
// First each process parses its range of the bytes of all files, and tells its peers the lengths, labels, weights and
// line numbers of the sequences there. Then all know which examples each process has (structured.Share), and each reads
// the lines of its own.
type sharedText struct {
	files         []rangedFile
	total, before int64 // bytes of all files, and of those before the next one
	next          int   // file
}

// rangedFile is a file of which each process reads a range.
type rangedFile struct {
	path     string
	size     int64
	begins   []beginning // of each process's range
	survey   *text.Survey
	examples int
}

// beginning is a place where a line begins.
type beginning struct {
	At     int64 // bytes before it
	Line   int   // its number, from 1
	Breaks int   // lines that end in the range that begins here
}

// sharedTextOf returns the parts of training files that peers read, for a run that may continue a model; nil if each
// reads all of them, as where bad sequences are left out: which there are is known once all is read.
func (s source) sharedTextOf(value string, from continuedModels) (*sharedText, error) {
	f := formats.Find(s.Format)
	refused := from.start != nil && !from.start.Extends(f.Numbered) // by one who has all
	if s.Peers.Size() == 1 || s.Remarks.Skips() || !f.Ranges || !s.task.Labels || refused {
		return nil, nil
	}
	x := &sharedText{}
	var mine []contents
	var failed error
	for _, path := range formats.Files(value) {
		c, err := contentsOf(path)
		if err != nil && failed == nil {
			failed = err
		}
		mine = append(mine, c)
		x.files = append(x.files, rangedFile{path: path, size: c.Size})
		x.total += c.Size
	}
	all, err := structured.AllGather(s.Peers, mine, failed)
	if err != nil {
		return nil, err
	}
	for process, theirs := range all {
		if len(theirs) != len(all[0]) {
			return nil, structured.BadInput("--train %s: rank %d finds %d files, and rank 0 %d: all ranks need the same files", value, process, len(theirs), len(all[0]))
		}
		for k, c := range theirs {
			if c != all[0][k] {
				return nil, structured.BadInput("%s: rank %d finds %d bytes with the checksum %08x, and rank 0 %d with %08x: all ranks need the same files", x.files[k].path, process, c.Size, c.Sum, all[0][k].Size, all[0][k].Sum)
			}
		}
	}
	if slices.ContainsFunc(mine, func(c contents) bool { return c.Size == 0 }) {
		return nil, nil
	}
	return x, nil
}

// sameKinds refuses processes whose training data are not of one format, or of which only some have development or test
// data: what there is decides when the processes speak to each other.
func sameKinds(c *config.Config, peers structured.Peers) error {
	kindOf := func(path string) string {
		if path == "" {
			return "no file"
		}
		return "a file"
	}
	mine := [3]string{"format " + c.Format, kindOf(c.Dev), kindOf(c.Test)}
	if _, pack := packed.Is(c.Train); pack {
		mine[0] = "a pack"
	}
	all, err := structured.AllGather(peers, mine, nil)
	if err != nil {
		return err
	}
	for k, given := range []string{"train " + c.Train, "dev " + c.Dev, "test " + c.Test} {
		for process, theirs := range all {
			if theirs[k] != all[0][k] {
				return structured.BadInput("--%s: rank %d finds %s, and rank 0 %s: all ranks need the same files", strings.TrimSpace(given), process, theirs[k], all[0][k])
			}
		}
	}
	return nil
}

// contents is what tells copies of a file apart: the size and the checksum (CRC-32C) of its text. Ranks on several
// machines may have their own copies, and each reads ranges only. The size is 0 if no ranges can be read.
type contents struct {
	Size int64
	Sum  uint32
}

// contentsOf reads a file as fast as the disk, or decompression, can.
func contentsOf(path string) (contents, error) {
	if file, err := host.IsFile(path); err != nil || !file {
		return contents{}, err
	}
	f, err := host.Open(path)
	if err != nil {
		return contents{}, err
	}
	defer f.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	size, err := io.Copy(sum, f)
	if err != nil { // the reader of the whole file says where, as in one process
		return contents{}, nil
	}
	return contents{Size: size, Sum: sum.Sum32()}, nil
}

// sequences is what a process tells of its range of a file.
type sequences struct {
	Columns        []string
	Lengths, Lines []int
	Labels         []int32
	Names          []string  // of labels; where labels may be known in part, the cells of their column
	Places         []string  // where each cell occurs first
	Weights        []float64 // nil: all are 1
	Remarks        remarks.List
	Between        [][2]int // positions inside of sequences, and how many lines are before each that are no tokens
}

// read reads the next file, path: all of its examples without their text. whole reads all of it, for its mistakes.
func (x *sharedText) read(s source, path string, whole func() error) (*structured.Dataset, error) {
	file := &x.files[x.next]
	file.survey = s.survey
	x.next++
	f, err := host.OpenAt(path)
	var mine beginning
	var end int64
	if err == nil {
		defer f.Close()
		mine, end, err = x.rangeOf(s.Peers, f, file.size)
	}
	x.before += file.size
	if file.begins, err = structured.AllGather(s.Peers, mine, badFile(err)); err != nil {
		return nil, err
	}
	line := 1
	for k := range file.begins {
		file.begins[k].Line = line
		line += file.begins[k].Breaks
	}
	found, err := s.parse(f, mine.At, end, file.begins[s.Peers.Rank()].Line, path)
	all, err := structured.AllGather(s.Peers, found, err)
	if err != nil {
		return nil, err
	}
	d, err := s.joinSequences(path, all)
	if err != nil {
		return nil, err
	}
	if file.examples = d.Len(); file.examples == 0 || d.Alphabet.Len() == 0 { // which may be an error that the reader of the whole file knows best
		return d, whole()
	}
	return d, nil
}

// rangeOf returns where the range of this process begins and ends in the next file.
func (x *sharedText) rangeOf(peers structured.Peers, f io.ReaderAt, size int64) (mine beginning, end int64, err error) {
	bound := func(process int) (int64, error) {
		at := x.total/int64(peers.Size())*int64(process) - x.before
		if process == peers.Size() {
			at = size
		}
		return text.AfterBlank(f, size, min(at, size))
	}
	if mine.At, err = bound(peers.Rank()); err != nil {
		return mine, 0, err
	}
	if end, err = bound(peers.Rank() + 1); err != nil {
		return mine, 0, err
	}
	mine.Breaks, err = text.CountLines(io.NewSectionReader(f, mine.At, end-mine.At))
	return mine, end, err
}

// parse reads what others need to know of a range of a file.
func (s source) parse(f io.ReaderAt, from, to int64, line int, path string) (sequences, error) {
	x := sequences{}
	var names structured.Alphabet
	if formats.Find(s.Format).Numbered && s.hashBits == 0 { // attributes are checked, and forgotten: it takes no dictionary
		s.minCount, s.hashBits = 1, 1
	}
	partial := s.partial()
	s.Labels = s.Labels && !partial
	s.each = func(d *structured.Dataset) error {
		if d.ColumnNames != nil {
			x.Columns = d.ColumnNames
		}
		x.Weights = appendWeights(x.Weights, len(x.Lengths), d.Weights, d.Len())
		x.Lines = append(x.Lines, d.Lines...)
		x.addLinesBetween(d)
		for i := range d.Len() {
			x.Lengths = append(x.Lengths, d.Length(i))
		}
		if partial {
			x.addCells(d, &names)
			return nil
		}
		for _, l := range d.Labels {
			x.Labels = append(x.Labels, names.Intern(d.Alphabet.Name(l)))
		}
		return nil
	}
	s.Remarks = remarks.New(false)
	_, err := s.readRange(f, from, to, line, path)
	x.Remarks = s.Remarks.Made()
	if x.Names = names.Names(); errors.Is(err, host.ErrNoTokens) {
		err = nil // others may have some
	}
	return x, err
}

// addLinesBetween adds the lines inside of sequences of d that are no tokens.
func (x *sequences) addLinesBetween(d *structured.Dataset) {
	if d.Layout == nil || len(d.Layout.Before) == 0 {
		return
	}
	for i := range d.Len() {
		for t := d.Offsets[i] + 1; t < d.Offsets[i+1]; t++ {
			if n := strings.Count(d.LinesBefore(t, false), "\n"); n > 0 {
				x.Between = append(x.Between, [2]int{len(x.Labels) + t, n})
			}
		}
	}
}

// addCells adds the cells of the labels of d, which are empty where d has no such column.
func (x *sequences) addCells(d *structured.Dataset, cells *structured.Alphabet) {
	column := d.Column(text.LabelColumn)
	for i := range d.Len() {
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			cell := ""
			if column != nil {
				cell = column[t]
			}
			k := cells.Intern(cell)
			if int(k) == len(x.Places) {
				x.Places = append(x.Places, d.WhereToken(i, t-d.Offsets[i]))
			}
			x.Labels = append(x.Labels, k)
		}
	}
}

// appendWeights appends the weights of n examples to those of the examples before; nil weights are 1.
func appendWeights(to []float64, before int, weights []float64, n int) []float64 {
	if to == nil && weights == nil {
		return nil
	}
	if to == nil {
		to = slices.Repeat([]float64{1}, before)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	return append(to, weights...)
}

// readRange reads the bytes from to to−1 of a file, where the line of that number begins.
func (s source) readRange(f io.ReaderAt, from, to int64, line int, path string) (*structured.Dataset, error) {
	if s.line = line; from > 0 {
		s.start = io.NewSectionReader(f, 0, to)
	}
	return s.readFrom(io.NewSectionReader(f, from, to-from), path)
}

// joinSequences returns the examples of a file without their text.
func (s source) joinSequences(path string, all []sequences) (*structured.Dataset, error) {
	d := &structured.Dataset{Name: path, Offsets: []int{0}, Labels: []int32{}, Lines: []int{}}
	names, places := structured.NewAlphabet(), []string(nil)
	for _, x := range all {
		for k, name := range x.Names {
			if int(names.Add(name)) == len(places) && s.partial() {
				places = append(places, x.Places[k])
			}
		}
		if d.ColumnNames == nil && x.Columns != nil {
			d.ColumnNames, d.Columns = x.Columns, make([][]string, len(x.Columns))
		}
	}
	if !s.partial() {
		names = structured.NewAlphabet(slices.Sorted(slices.Values(names.Names()))...)
	}
	for _, x := range all {
		s.Remarks.Add(x.Remarks...)
		d.Weights = appendWeights(d.Weights, d.Len(), x.Weights, len(x.Lengths))
		d.Lines = append(d.Lines, x.Lines...)
		for _, between := range x.Between {
			if d.Layout == nil {
				d.Layout = &structured.Layout{}
			}
			d.Layout.Set(d.Positions()+between[0], strings.Repeat("\n", between[1]))
		}
		for _, n := range x.Lengths {
			d.Offsets = append(d.Offsets, d.Positions()+n)
		}
		for _, l := range x.Labels {
			d.Labels = append(d.Labels, names.Index(x.Names[l]))
		}
	}
	d.Alphabet = names
	switch has := slices.Contains(d.ColumnNames, text.LabelColumn); {
	case !s.partial() || !has && d.Len() == 0:
	case has:
		return d, text.NumberPartialLabels(d, names.Names(), d.Labels, s.labels, func(cell int) string { return places[cell] })
	case s.optional:
		forgetLabels(d, s.labels)
	default:
		return d, text.ReadPartialLabels(d, nil) // there is no such column
	}
	return d, nil
}

// readOwn gives this process its share of all examples, and reads their text, or their attributes.
func (x *sharedText) readOwn(s source, raw *Raw) error {
	d, from := raw.Train, raw.continued
	d.Columns = nil
	raw.share = raw.shareOf(s.config, s.Peers)
	known, least := from.dictionary(), max(1, s.minCount)
	s.hashBits = from.hashBits(s.hashBits)
	numbered := formats.Find(s.Format).Numbered
	s.minCount = 1 // other processes may have the rest
	own, err := x.examples(s, d, raw.share.First, raw.share.Last)
	if err == nil && own == nil {
		own = s.noExamples(d, numbered)
	}
	if _, err = structured.AllGather(s.Peers, 0, err); err != nil {
		return err
	}
	own.Name, raw.own = d.Name, own
	raw.share.Label(own, d)
	if !numbered {
		return nil
	}
	err = s.Peers.NumberAttributes(own, known, least)
	d.Dictionary = own.Dictionary
	return err
}

// examples reads the text, or the attributes, of examples first to last−1 of all examples d, with what the source makes
// of them; nil if there are none.
func (x *sharedText) examples(s source, d *structured.Dataset, first, last int) (*structured.Dataset, error) {
	s.Labels = s.Labels && !s.partial() // sets of labels are no names
	var sets []*structured.Dataset
	before := 0 // examples of the files so far
	for k := range x.files {
		file := &x.files[k]
		lo, hi := max(first-before, 0), min(last-before, file.examples)
		if lo < hi {
			set, err := file.examplesOf(s, d, before, lo, hi)
			if err != nil {
				return nil, err
			}
			sets = append(sets, set)
		}
		before += file.examples
	}
	if len(sets) == 0 {
		return nil, nil
	}
	if s.inputs.Dictionary == nil {
		union.Attributes(nil, 1, sets)
	}
	return union.Join(sets)
}

// noExamples returns data without examples, like d, which have attributes or not.
func (s source) noExamples(d *structured.Dataset, attributes bool) *structured.Dataset {
	none := &structured.Dataset{Offsets: []int{0}, ColumnNames: d.ColumnNames}
	for range d.ColumnNames {
		none.Columns = append(none.Columns, []string{})
	}
	if !attributes {
		return none
	}
	none.Attributes, none.Dictionary = &structured.Sparse{Offsets: []int{0}}, &structured.Dictionary{HashBits: s.hashBits}
	if s.hashBits == 0 {
		none.Dictionary.Node = structured.NewAlphabet()
	}
	return none
}

// examplesOf reads examples lo to hi−1 of the file, the first of which is example before of d.
func (file *rangedFile) examplesOf(s source, d *structured.Dataset, before, lo, hi int) (*structured.Dataset, error) {
	s.survey, s.Remarks = file.survey, nil // which were made when all was read
	f, err := host.OpenAt(file.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from, err := file.at(f, d.Lines[before+lo])
	to := file.size
	switch {
	case err != nil:
	case formats.Find(s.Format).Numbered: // the next one may begin with its weight, before its first line
		if to, err = file.at(f, d.Lines[before+hi-1]); err == nil {
			to, err = text.AfterBlank(f, file.size, to+1)
		}
	case hi < file.examples:
		to, err = file.at(f, d.Lines[before+hi])
	}
	if err != nil {
		return nil, badFile(err)
	}
	own, err := s.readRange(f, from, to, d.Lines[before+lo], file.path)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(own.Lines, d.Lines[before+lo:before+hi]) || own.Positions() != d.Offsets[before+hi]-d.Offsets[before+lo] {
		return nil, structured.BadInput("%s: the file has changed while it was read", file.path)
	}
	own.Labels, own.LabelSets, own.Alphabet, own.Weights, own.Layout = nil, nil, nil, nil, nil // d has them
	return own, nil
}

// at returns where a line begins in the file.
func (file *rangedFile) at(f io.ReaderAt, line int) (int64, error) {
	from := file.begins[0]
	for _, b := range file.begins {
		if b.Line <= line && b.At < file.size { // a range at the end of the file begins with no line
			from = b
		}
	}
	bytes, err := text.BytesOf(io.NewSectionReader(f, from.At, file.size-from.At), line-from.Line)
	return from.At + bytes, err
}

// badFile makes an error of a file bad input.
func badFile(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return structured.BadInput("%w", err)
}
