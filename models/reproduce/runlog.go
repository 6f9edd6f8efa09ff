package reproduce

import (
	"encoding/json"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
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
	*host.Journal
	runs map[string]*Run
}

// openRuns opens the file at path for appending and reads its runs.
func openRuns(path string) (*runLog, error) {
	l := &runLog{runs: map[string]*Run{}}
	var err error
	l.Journal, err = host.OpenJournal(path, func(number int, line []byte) error {
		r := &Run{}
		if err := json.Unmarshal(line, r); err != nil || r.Key == "" {
			return structured.BadInput("%s:%d: expected a finished run such as {\"key\": \"…\", …}; remove "+
				"the line to run it again", path, number)
		}
		l.runs[r.Key] = r
		return nil
	})
	return l, err
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
	l.runs[r.Key] = r
	return l.Add(r)
}
