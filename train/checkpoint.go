package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
)

const (
	checkpointFile    = "state.safetensors"
	checkpointVersion = "10"
)

// Metadata keys.
const (
	versionKey     = "checkpoint_version"
	methodKey      = "method"
	sumKey         = "sum"   // of the tensors
	lastKey        = "last"  // books.Last
	bestKey        = "best"  // books.Best
	begunKey       = "begun" // books.Begun, if it is not nil
	identityPrefix = "run."  // prefix of the identity, which tells runs apart
)

// Checkpoint keeps the state of a run at its last pass boundary in memory, unless it is Large, and from time to time
// writes it to a file in a folder. The file is replaced atomically: whenever the program dies, the last version written
// is intact.
//
// It holds State, the method's archived state and the loop's books. Its metadata identify the run: the settings and
// data that determine the weights.
type Checkpoint struct {
	Every int            // passes between writes; 0: whenever writing has taken no more than its share of the time
	Saved func(pass int) // is told of every state written; may be nil

	// Large says that the state is too large for a copy in memory: it is written at a boundary after a pass where a
	// write is due, and at no other, so that an interrupt loses the passes since then.
	Large bool

	dir      string
	file     *safetensors.File // the state at the boundary
	identity map[string]string
	books    books
	saved    bool // the folder already holds this state
	reader   bool // another process writes
	throttle throttle
}

// books are the loop's records from pass to pass.
type books struct {
	Last  record.Record // of the last pass
	Best  record.Record // of the pass with the lowest development error; of the last pass without development data
	BestW []float32     // its weights; nil without development data

	Await float64 // of a lazy run: F is of use once the dual's rise in a pass has fallen to this; 0: nothing is known yet
	Owed  float64 // and by how much a certificate was wider than the estimate before it

	Doubles bool // certificates are in float64

	Begun *structured.Metrics // of Trainer.Begin; nil if nothing was measured
}

// NewCheckpoint returns a checkpoint for a new run. It creates the folder if necessary and removes the checkpoint of an
// earlier run. Identity names the settings and data that determine the weights, so that no other run can resume from
// it. A folder that cannot be written is bad input.
func NewCheckpoint(dir string, identity map[string]string) (*Checkpoint, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, structured.BadInput("cannot write checkpoints: %w", err)
	}
	probe, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return nil, structured.BadInput("cannot write checkpoints: %w", err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, structured.BadInput("cannot write checkpoints: %w", err)
	}
	return &Checkpoint{dir: dir, identity: identity}, nil
}

// OpenCheckpoint reads the checkpoint in a folder so that a run with the given identity can resume from it. It is bad
// input if the checkpoint is missing (fs.ErrNotExist), damaged or of another version, or if its run has another
// identity. Names that are ignored do not count, where the checkpoint has them.
func OpenCheckpoint(dir string, identity map[string]string, ignored ...string) (*Checkpoint, error) {
	path := filepath.Join(dir, checkpointFile)
	f, err := readNumbers(path)
	if err != nil {
		return nil, fmt.Errorf("cannot resume: %w", err)
	}
	if v := f.Metadata[versionKey]; v != checkpointVersion {
		return nil, structured.BadInput("%s: checkpoint version %q, expected %s: another version of the program wrote it, which computed otherwise. Start a new run, which may begin with the weights of this one", path, v, checkpointVersion)
	}
	for _, name := range ignored {
		delete(f.Metadata, identityPrefix+name)
	}
	if differ := differences(f.Metadata, identity); len(differ) > 0 {
		return nil, structured.BadInput("%s: cannot resume, the run was another: %s. Give the same settings and data, or start a new run", path, strings.Join(differ, "; "))
	}
	c := &Checkpoint{dir: dir, identity: identity, file: f, saved: true}
	for name, r := range map[string]*record.Record{lastKey: &c.books.Last, bestKey: &c.books.Best} {
		if err := json.Unmarshal([]byte(f.Metadata[name]), r); err != nil {
			return nil, structured.BadInput("%s: metadata %q: %w", path, name, err)
		}
	}
	if begun, has := f.Metadata[begunKey]; has {
		if err := json.Unmarshal([]byte(begun), &c.books.Begun); err != nil {
			return nil, structured.BadInput("%s: metadata %q: %w", path, begunKey, err)
		}
	}
	return c, nil
}

// readNumbers reads a checkpoint. It is bad input if its numbers are not those that were written.
func readNumbers(path string) (*safetensors.File, error) {
	f, err := safetensors.Read(path)
	if err != nil {
		return nil, err
	}
	if sum, has := f.Metadata[sumKey]; has && f.Metadata[versionKey] == checkpointVersion && sum != f.Sum() {
		return nil, structured.BadInput("%s: the checkpoint is damaged: its numbers have the checksum %s, expected %s. Start a new run", path, f.Sum(), sum)
	}
	return f, nil
}

// CheckpointWeights returns the weights that the checkpoint in a folder would make a model of, if the run ended there:
// those of the pass with the lowest development error, or of the last one without development data; and that pass, 0
// before the first.
func CheckpointWeights(dir string) (w []float32, pass int, err error) {
	path := filepath.Join(dir, checkpointFile)
	f, err := readNumbers(path)
	if err != nil {
		return nil, 0, err
	}
	name, from := "state.w", lastKey
	if best, ok := f.Tensors["loop.best_w"]; ok && len(best.Shape) == 1 && best.Shape[0] > 0 {
		name, from = "loop.best_w", bestKey
	}
	var r record.Record
	if err := json.Unmarshal([]byte(f.Metadata[from]), &r); err != nil {
		return nil, 0, structured.BadInput("%s: metadata %q: %w", path, from, err)
	}
	w, err = safetensors.Values[float32](f, name, -1)
	if err != nil {
		err = structured.BadInput("%s: %w", path, err)
	}
	return w, r.Pass, err
}

// differences lists the differences between a checkpoint's metadata and a run's identity.
func differences(metadata, identity map[string]string) []string {
	was := map[string]string{}
	for k, v := range metadata {
		if name, ok := strings.CutPrefix(k, identityPrefix); ok {
			was[name] = v
		}
	}
	names := maps.Clone(was)
	maps.Copy(names, identity)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, had := was[name]
		now, has := identity[name]
		switch {
		case !had:
			list = append(list, fmt.Sprintf("%s was not set, now %s", name, now))
		case !has:
			list = append(list, fmt.Sprintf("%s was %s, now not set", name, old))
		case old != now:
			list = append(list, fmt.Sprintf("%s was %s, now %s", name, old, now))
		}
	}
	return list
}

// Pass returns the pass after which the checkpoint was taken, or 0 before the first.
func (c *Checkpoint) Pass() int { return c.books.Last.Pass }

// ReadOnly makes a checkpoint that a run can resume from, but does not write: another process does.
func (c *Checkpoint) ReadOnly() { c.reader = true }

// Resumes reports whether the checkpoint was opened to resume from.
func (c *Checkpoint) Resumes() bool { return c.file != nil }

// take copies the current state, at a pass boundary, into the checkpoint.
func (c *Checkpoint) take(m Method, s *State, b *books) error {
	if c.reader {
		return nil
	}
	shot := &snapshot{new: map[string]safetensors.Tensor{}, lends: c.Large}
	if c.file != nil {
		shot.old = c.file.Tensors
	}
	visit(&shot.prefix, shot, m, s, b)
	if shot.err != nil {
		return fmt.Errorf("checkpoint of %s: %w", m.Name(), shot.err)
	}
	c.file = &safetensors.File{Metadata: map[string]string{methodKey: m.Name()}, Tensors: shot.new}
	c.books = books{Last: b.Last, Best: b.Best, Await: b.Await, Owed: b.Owed, Doubles: b.Doubles, Begun: b.Begun}
	c.saved = false
	if !c.Large {
		return nil
	}
	err := c.save()
	c.file = nil // its memory is the state's
	return err
}

// restore sets m, s and b to the checkpoint's state.
func (c *Checkpoint) restore(m Method, s *State, b *books) error {
	path := filepath.Join(c.dir, checkpointFile)
	if was := c.file.Metadata[methodKey]; was != m.Name() {
		return structured.BadInput("%s: cannot resume with method %s, the run used %s", path, m.Name(), was)
	}
	*b = c.books
	weights := len(s.W)
	r := &restorer{file: c.file, read: map[string]bool{}, gives: c.Large}
	visit(&r.prefix, r, m, s, b)
	if err := r.finish(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(s.W) != weights {
		return structured.BadInput("%s: %d weights, expected %d", path, len(s.W), weights)
	}
	if c.Large {
		c.file = nil
	}
	return nil
}

// visit passes everything in a checkpoint to an archive, each part under its own prefix.
func visit(prefix *string, a engine.Archive, m Method, s *State, b *books) {
	*prefix = "state."
	s.archive(a)
	*prefix = "loop."
	a.Floats("best_w", &b.BestW)
	a.Number("await", &b.Await)
	a.Number("owed", &b.Owed)
	archiveFlag(a, "doubles", &b.Doubles)
	*prefix = "method."
	m.Archive(a)
}

// save writes the state to the folder unless it is already there.
func (c *Checkpoint) save() error {
	if c.file == nil || c.saved || c.reader {
		return nil
	}
	err := c.throttle.do(func() error {
		if err := c.describe(); err != nil {
			return err
		}
		return safetensors.Write(filepath.Join(c.dir, checkpointFile), c.file)
	})
	if err != nil {
		return fmt.Errorf("cannot write the checkpoint of pass %d: %w", c.Pass(), err)
	}
	c.saved = true
	if c.Saved != nil {
		c.Saved(c.Pass())
	}
	return nil
}

// due reports whether the state after a pass is to be written.
func (c *Checkpoint) due(pass int) bool {
	if c.Every > 0 {
		return pass%c.Every == 0
	}
	return c.throttle.due()
}

// describe completes the metadata of the state.
func (c *Checkpoint) describe() error {
	metadata := c.file.Metadata
	metadata[versionKey], metadata[sumKey] = checkpointVersion, c.file.Sum()
	for k, v := range c.identity {
		metadata[identityPrefix+k] = v
	}
	all := map[string]any{lastKey: c.books.Last, bestKey: c.books.Best}
	if c.books.Begun != nil {
		all[begunKey] = c.books.Begun
	}
	for name, r := range all {
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		metadata[name] = string(text)
	}
	return nil
}

// saveIfDue saves the state if it is due after a pass.
func (c *Checkpoint) saveIfDue(pass int) error {
	if !c.due(pass) {
		return nil
	}
	return c.save()
}
