package encoded

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Options say how rows are computed and where they are kept.
type Options struct {
	Threads int
	Folder  string   // of a file that keeps them and is found again; empty: memory
	Console *os.File // shows a progress bar if it is a terminal, and lets the log say how far it is if not; or nil

	Peers structured.Peers // have the same data, and compute the rows of some sentences each
}

// Report says what Apply did.
type Report struct {
	Data                string
	Words, Pieces, Long int    // Long sentences were read in several windows
	File                string // that keeps the rows; empty: memory
	Found               bool   // the file was there
	Took                time.Duration
}

// batchPieces is how many pieces a worker encodes at a time.
const batchPieces = 2048

// Apply adds the rows of its words to the dense inputs of d, unless it has them: after the dense inputs that it has. If
// the encoder is trained, it gives d their pieces instead.
func (r *Reader) Apply(d *structured.Dataset, o Options) (Report, error) {
	report := Report{Data: d.Name, Words: d.Positions()}
	if r.Tuned != nil && d.Pieces != nil || r.Tuned == nil && d.Encoder == r.ID() {
		return report, nil
	}
	words := d.Column(text.WordColumn)
	if words == nil {
		return report, structured.BadInput("%s: an encoder reads words, and no column of the data is named %s; "+
			"name it with --columns", d.Name, text.WordColumn)
	}
	begun := time.Now()
	if r.Tuned != nil {
		err := r.cutPieces(d, words, o, &report)
		report.Took = time.Since(begun)
		return report, err
	}
	all, err := r.rowsOf(d, words, o, &report)
	if err != nil {
		return report, err
	}
	all.addTo(d)
	d.Encoder = r.ID()
	report.Took = time.Since(begun)
	return report, nil
}

// rowsOf returns the rows of the words of d, from a file if there is one.
func (r *Reader) rowsOf(d *structured.Dataset, words []string, o Options, report *Report) (*rows, error) {
	all := r.newRows(d, words)
	found, err := false, error(nil)
	if o.Folder != "" {
		if about, err := os.Stat(o.Folder); err == nil && !about.IsDir() {
			return nil, structured.BadInput("--encoder-cache %s: this is a file; expected a folder", o.Folder)
		}
		report.File = all.path(o.Folder)
		found, err = all.open(report.File)
	}
	report.Found, err = all.foundByAll(d.Name, found, o.Peers, err)
	if err != nil || report.Found {
		return all, err
	}
	if found { // others need help
		return all, r.computeAll(d, words, o, report, nil, func(int, []float32) error { return nil })
	}
	if o.Folder == "" {
		if err := host.CheckMemory(fmt.Sprintf("rows of the encoder for the %d words of %s", len(words), d.Name),
			float64(all.bytes())); err != nil {
			return nil, err
		}
		return all, all.keep(func(write use) error { return r.computeAll(d, words, o, report, nil, write) })
	}
	if err := os.MkdirAll(o.Folder, 0o777); err != nil {
		return nil, structured.BadInput("--encoder-cache: %w", err)
	}
	compute := func(has []bool, write use) error { return r.computeAll(d, words, o, report, has, write) }
	if o.Peers.Size() == 1 {
		err = all.writeOn(report.File, compute)
	} else { // all processes compute the same rounds
		err = all.write(report.File, func(write use) error { return compute(nil, write) })
	}
	if err != nil {
		return nil, err
	}
	if found, err := all.open(report.File); err != nil || !found {
		return nil, fmt.Errorf("%s: cannot read the rows back: %w", report.File, err)
	}
	return all, nil
}

// computeAll computes the rows of the words of d, but for sentences of which has [words], if it is not nil, says that
// their rows are there.
func (r *Reader) computeAll(d *structured.Dataset, words []string, o Options, report *Report,
	has []bool, write use) error {
	sentences, err := r.cutAll(d, words, o.Threads)
	if err != nil {
		return err
	}
	for _, s := range sentences {
		report.Pieces += len(s.ids)
		if len(s.ids) > r.most {
			report.Long++
		}
	}
	left := sentences
	if has != nil {
		left = slices.DeleteFunc(slices.Clone(sentences), func(s sentence) bool { return s.in(has) })
		if n := len(sentences) - len(left); n > 0 {
			slog.Info("rows of an earlier run are there", "data", d.Name, "texts", n, "of", len(sentences))
		}
	}
	return r.encodeAll(d, left, o, piecesOf(left), write)
}

func (r *Reader) newRows(d *structured.Dataset, words []string) *rows {
	return &rows{n: len(words), width: r.Width(), half: r.Half, fingerprint: r.fingerprint(d, words)}
}

// Keep writes the dense inputs of some examples of d, which are the rows of its words, to the file in a folder where
// Apply finds them for data with the words of these examples. So a part of data that have rows needs no work of the
// encoder.
func (r *Reader) Keep(d *structured.Dataset, examples []int, folder string) (file string, err error) {
	if d.Encoder != r.ID() || d.Dim != r.Width() {
		return "", fmt.Errorf("encoded: %s has no rows of this encoder alone", d.Name)
	}
	words := &structured.Dataset{Name: d.Name, Offsets: d.Offsets, Columns: d.Columns, ColumnNames: d.ColumnNames}
	part := words.Subset(examples)
	all := r.newRows(part, part.Column(text.WordColumn))
	file = all.path(folder)
	if _, err := os.Stat(file); err == nil { // Apply sees whether it is right
		return file, nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", structured.BadInput("--encoder-cache: %w", err)
	}
	return file, all.write(file, func(write use) error {
		var values []float32
		for k, i := range examples {
			values = vec.Grow(values, d.Length(i)*d.Dim)
			if err := d.ReadFeatures(values, i); err != nil {
				return err
			}
			if err := write(part.Offsets[k], values); err != nil {
				return err
			}
		}
		return nil
	})
}

// fingerprint identifies the rows of the words of d.
func (r *Reader) fingerprint(d *structured.Dataset, words []string) string {
	h := sha256.New()
	var buf []byte
	flush := func(least int) {
		if len(buf) >= least {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	buf = append(buf, r.ID()...)
	for _, at := range texts(d) {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(at))
		flush(1 << 16)
	}
	for _, word := range words {
		buf = append(binary.LittleEndian.AppendUint64(buf, uint64(len(word))), word...)
		flush(1 << 16)
	}
	flush(0)
	return hex.EncodeToString(h.Sum(nil))
}

// texts returns the positions where the texts of d begin that an encoder reads one by one, and the end of the last: an
// example is one text, a pair of sentences two.
func texts(d *structured.Dataset) []int {
	sources := d.Table(structured.Sources)
	if sources == nil {
		return d.Offsets
	}
	all := make([]int, 0, 2*d.Len()+1)
	for i, at := range d.Offsets[:d.Len()] {
		all = append(all, at, at+sources.Offsets[i+1]-sources.Offsets[i])
	}
	return append(all, d.Offsets[d.Len()])
}

// cutAll cuts all texts.
func (r *Reader) cutAll(d *structured.Dataset, words []string, threads int) ([]sentence, error) {
	const together = 256
	begin := texts(d)
	n := len(begin) - 1
	all := make([]sentence, n)
	err := host.Parallel(threads, (n+together-1)/together, host.None, func(_ struct{}, block int) error {
		w := r.workers.Get().(*worker)
		defer r.workers.Put(w)
		for i := block * together; i < min(n, (block+1)*together); i++ {
			var err error
			if all[i], err = w.cut(words[begin[i]:begin[i+1]], begin[i]); err != nil {
				return structured.BadInput("%s: %w", d.Where(i*d.Len()/n), err)
			}
		}
		return nil
	})
	return all, err
}

// encodeAll computes the rows of all sentences, the longest first, so that no thread is left with a long one at the
// end. The rows of a sentence do not depend on the others.
func (r *Reader) encodeAll(d *structured.Dataset, all []sentence, o Options, total int, write use) error {
	order := make([]int, 0, len(all))
	for i, s := range all {
		if len(s.ids) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(all[b].ids), len(all[a].ids)) })
	var batches [][]sentence
	for k := 0; k < len(order); {
		batch, n := []sentence{}, 0
		for k < len(order) && (len(batch) == 0 || n+len(all[order[k]].ids) <= batchPieces) {
			batch = append(batch, all[order[k]])
			n += len(all[order[k]].ids)
			k++
		}
		batches = append(batches, batch)
	}
	shown := newProgress(o.Console, d.Name, total)
	defer shown.end()
	encode := func(batch []sentence, write use) error {
		w := r.workers.Get().(*worker)
		defer r.workers.Put(w)
		defer shown.add(piecesOf(batch))
		if len(batch[0].ids) > r.most {
			for _, s := range batch {
				if err := w.encodeLong(s, write); err != nil {
					return err
				}
			}
			return nil
		}
		return w.encode(batch, write)
	}
	if o.Peers.Size() > 1 {
		return r.encodeTogether(batches, o, shown, encode, write)
	}
	return host.Parallel(o.Threads, len(batches), host.None, func(_ struct{}, k int) error {
		return encode(batches[k], write)
	})
}

// piecesOf counts the pieces of sentences.
func piecesOf(batch []sentence) int {
	n := 0
	for _, s := range batch {
		n += len(s.ids)
	}
	return n
}

// progress shows how many pieces are encoded.
type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar // on a terminal; or nil

	lines *host.Progress // where there is no terminal; or nil
}

func newProgress(console *os.File, name string, total int) *progress {
	p := &progress{}
	switch {
	case console == nil:
	case !term.IsTerminal(int(console.Fd())):
		p.lines = host.NewProgress(total, func(done int, rest time.Duration) {
			slog.Info("encoding", "data", name, "pieces", done, "of", total, "rest", rest.Round(time.Second))
		})
	case total > 20*batchPieces:
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(console),
			progressbar.OptionSetDescription("encoding "+filepath.Base(name)), progressbar.OptionSetWidth(12),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: "─"}))
	}
	return p
}

func (p *progress) add(pieces int) {
	switch {
	case p.bar != nil:
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.bar.Add(pieces) // a console that cannot show it is no reason to stop
	case p.lines != nil:
		p.lines.Add(pieces)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
