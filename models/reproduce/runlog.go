package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// Run is a finished training: a line of runs.jsonl.
type Run struct {
	Key      string          `json:"key"` // of its settings and data
	Seed     uint64          `json:"seed"`
	Settings map[string]any  `json:"settings"` // those that differ from the defaults of dsp train
	Examples int             `json:"examples"` // of training
	Version  string          `json:"version"`  // of the program
	Diverged string          `json:"diverged,omitempty"`
	Records  []record.Record `json:"records"`

	bound float64 // best certified lower bound of the objective in its figure, for suboptimality; 0 for none
}

// runLog is the file of finished runs. Another command with the same folder finds them there.
type runLog struct {
	file *os.File
	runs map[string]*Run
}

// openRuns opens the file at path for appending and reads its runs. It drops an incomplete last line, which a killed command leaves.
func openRuns(path string) (*runLog, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, structured.BadInput("%w", err)
	}
	l := &runLog{runs: map[string]*Run{}}
	end := 0
	for n := 1; ; n++ {
		line, _, complete := bytes.Cut(text[end:], []byte{'\n'})
		if !complete {
			break
		}
		r := &Run{}
		if err := json.Unmarshal(line, r); err != nil || r.Key == "" {
			return nil, structured.BadInput("%s:%d: expected a finished run such as {\"key\": \"…\", …}; remove the line to run it again", path, n)
		}
		l.runs[r.Key] = r
		end += len(line) + 1
	}
	if l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, structured.BadInput("%w", err)
	}
	if err := l.file.Truncate(int64(end)); err != nil {
		return nil, errors.Join(err, l.file.Close())
	}
	return l, nil
}

// others counts the runs by another version of the program.
func (l *runLog) others(version string) int {
	n := 0
	for _, r := range l.runs {
		if r.Version != version {
			n++
		}
	}
	return n
}

// add keeps a run; it is on disk when add returns.
func (l *runLog) add(r *Run) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return err
	}
	l.runs[r.Key] = r
	return l.file.Sync()
}

// Close closes the file.
func (l *runLog) Close() error { return l.file.Close() }
