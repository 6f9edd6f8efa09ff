package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/dsp-go/dsp/structured"
)

// Journal is a file of JSON values, one per line. A command that was killed finds there what it had finished.
type Journal struct{ file *os.File }

// ReadJournal calls keep with the number (from 1) and the text of each line of the file at path, and returns where the
// last one ends: an incomplete line does not count. A missing file has no lines.
func ReadJournal(path string, keep func(number int, line []byte) error) (end int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, structured.BadInput("%w", err)
	}
	for number := 1; ; number++ {
		line, _, complete := bytes.Cut(text[end:], []byte{'\n'})
		if !complete {
			return end, nil
		}
		if err := keep(number, line); err != nil {
			return end, err
		}
		end += int64(len(line)) + 1
	}
}

// OpenJournal reads the file at path as ReadJournal does, and opens it for more lines. It drops an incomplete last
// line.
func OpenJournal(path string, keep func(number int, line []byte) error) (*Journal, error) {
	end, err := ReadJournal(path, keep)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	if err := f.Truncate(end); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Journal{f}, nil
}

// Name returns the path of the file.
func (j *Journal) Name() string { return j.file.Name() }

// Add appends a value; it is on disk when Add returns.
func (j *Journal) Add(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *Journal) Close() error { return j.file.Close() }
