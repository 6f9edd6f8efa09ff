package encoded

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"sync"

	"github.com/dsp-go/dsp/structured/sys/host"
)

// unfinished is a file of rows that are being computed, with a journal of those that it has. A run that ends in between
// leaves both, and the next one with the same text and encoder goes on from them.
type unfinished struct {
	rows    *rows
	file    *os.File // locked
	begin   int64    // of its rows
	journal *host.Journal
	has     []bool // [n] rows that were there when it was opened

	mu     sync.Mutex
	latest []span // guarded by mu: rows that the file has and the journal has not
	count  int    // guarded by mu: how many rows that are
}

// span is some rows of the file, with a checksum of their bytes: a power failure may keep the journal and lose what it
// says.
type span struct {
	At   int    `json:"at"`
	Rows int    `json:"rows"`
	Sum  uint32 `json:"crc32c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowsOfLine is how many rows a line of the journal has at least. Each line is synced to disk, which takes about as
// long as some ten rows.
const rowsOfLine = 1000

// writeOn is write that leaves what it has when the process ends, and goes on from what an earlier one has left:
// compute is told which rows are there. After an error nothing is left. Where another process writes the same rows, it
// writes a file of its own.
func (r *rows) writeOn(path string, compute func(has []bool, write use) error) error {
	u, err := r.openUnfinished(path)
	if errors.Is(err, host.ErrLocked) {
		return r.write(path, func(write use) error { return compute(nil, write) })
	}
	if err != nil {
		return err
	}
	if err = compute(u.has, u.write); err == nil {
		err = u.file.Sync()
	}
	names := []string{u.file.Name(), u.journal.Name()}
	err = errors.Join(err, u.journal.Close(), u.file.Close())
	if err == nil {
		err = host.Rename(names[0], path)
		names = names[1:]
	}
	for _, name := range names {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// openUnfinished opens the file of rows that are to be at path, with what it has.
func (r *rows) openUnfinished(path string) (*unfinished, error) {
	header, err := r.header()
	if err != nil {
		return nil, err
	}
	f, err := host.OpenLocked(path + ".part")
	if err != nil {
		return nil, err
	}
	u := &unfinished{rows: r, file: f, begin: int64(len(header)), has: make([]bool, r.n)}
	if err = f.Truncate(u.begin + r.bytes()); err == nil {
		_, err = f.WriteAt(header, 0)
	}
	if err == nil {
		u.journal, err = host.OpenJournal(path+".part.jsonl", u.read)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return u, nil
}

// read marks the rows of a line of the journal that the file has.
func (u *unfinished) read(_ int, line []byte) error {
	var spans []span
	if json.Unmarshal(line, &spans) != nil {
		return nil // its rows are computed again
	}
	for _, s := range spans {
		if s.At < 0 || s.Rows < 0 || s.Rows > u.rows.n-s.At {
			continue
		}
		raw := make([]byte, s.Rows*u.rows.size())
		if _, err := u.file.ReadAt(raw, u.begin+int64(s.At)*int64(u.rows.size())); err != nil {
			return err
		}
		if crc32.Checksum(raw, castagnoli) != s.Sum {
			continue
		}
		for at := range s.Rows {
			u.has[s.At+at] = true
		}
	}
	return nil
}

// write writes rows from a position on, and now and then a line of the journal. Goroutines may share it.
func (u *unfinished) write(position int, values []float32) error {
	raw, err := u.rows.writeAt(u.file, u.begin, position, values)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(values) / u.rows.width
	u.latest, u.count = append(u.latest, span{position, n, crc32.Checksum(raw, castagnoli)}), u.count+n
	if u.count < rowsOfLine {
		return nil
	}
	spans := u.latest
	u.latest, u.count = nil, 0
	return u.journal.Add(spans)
}
