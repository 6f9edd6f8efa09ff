package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// MetricsFile is a Recorder that appends each record to a file as a line of JSON (metrics.jsonl).
type MetricsFile struct{ file *os.File }

// OpenMetrics opens the metrics file at path to continue after the given pass, 0 for a new run. It returns the records
// up to that pass and drops later ones, since a resumed run repeats those passes. A file that cannot be written, or
// whose lines are not records, is bad input.
func OpenMetrics(path string, pass int) (*MetricsFile, []Record, error) {
	var earlier []Record
	var kept []byte
	if pass > 0 {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, structured.BadInput("%w", err)
		}
		if earlier, kept, err = firstRecords(path, text, pass); err != nil {
			return nil, nil, err
		}
	}
	err := host.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(kept)
		return err
	})
	if err != nil {
		return nil, nil, structured.BadInput("cannot write metrics: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, structured.BadInput("cannot write metrics: %w", err)
	}
	return &MetricsFile{f}, earlier, nil
}

// ReadMetrics returns the records in a metrics file, without a last line that a killed run left unfinished.
func ReadMetrics(path string) ([]Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	all, _, err := firstRecords(path, text, math.MaxInt)
	return all, err
}

// firstRecords parses text up to the record of the given pass. It returns the records and their lines, and drops a last
// line that a killed run left unfinished.
func firstRecords(path string, text []byte, pass int) (records []Record, lines []byte, err error) {
	end := 0
	for n := 1; ; n++ {
		line, _, whole := bytes.Cut(text[end:], []byte{'\n'})
		if !whole {
			return records, text[:end], nil
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, damagedLine(path, n, err.Error())
		}
		if last := passBefore(records); r.Pass <= last {
			return nil, nil, damagedLine(path, n, fmt.Sprintf("it is of pass %d, expected one after pass %d", r.Pass, last))
		}
		if r.Pass > pass {
			return records, text[:end], nil
		}
		records = append(records, r)
		end += len(line) + 1
	}
}

// passBefore returns the pass of the last record, 0 for none.
func passBefore(records []Record) int {
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].Pass
}

func damagedLine(path string, n int, why string) error {
	return structured.BadInput("%s:%d: not a record of a pass, expected an object such as {\"pass\": 1, …}: %s. Only curves and reports need it: delete the line", path, n, why)
}

func (m *MetricsFile) Record(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = m.file.Write(append(line, '\n'))
	return err
}

func (m *MetricsFile) Close() error { return m.file.Close() }
