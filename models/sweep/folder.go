package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// The files of a sweep's folder.
const (
	configFile  = "sweep.yaml"
	trialsFile  = "sweep.jsonl"
	pictureFile = "sweep.png"
	bestFolder  = "best" // the run folder of the best setting
)

// Read reads the configuration of the sweep in a folder, set up to continue it: Resume and Out are the folder.
func Read(dir string) (Config, error) {
	path := filepath.Join(dir, configFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Config{}, structured.BadInput("--resume %s: no %s there; expected the folder of a sweep", dir, configFile)
	}
	s, err := ReadConfig(path)
	s.Resume, s.Out = dir, dir
	return s, err
}

// Write writes s as the YAML that ReadConfig reads, without the settings that only steer a command's output.
func (s Config) Write(w io.Writer) error {
	s.Resume, s.Quiet, s.JSON = "", false, false
	return settings.Write(w, Settings(&s))
}

// makeFolder makes the folder s.Out and writes the configuration there. A folder that already holds a sweep is refused unless s
// resumes that sweep.
func makeFolder(s *Config, now time.Time) error {
	if s.Resume != "" {
		if err := checkResumed(s); err != nil {
			return err
		}
		s.Out = s.Resume
	} else {
		if s.Out == "" {
			s.Out = filepath.Join("runs", fmt.Sprintf("sweep-%s", now.Format("20060102-150405")))
		}
		if _, err := os.Stat(filepath.Join(s.Out, configFile)); err == nil {
			return structured.BadInput("--out %s: there is a sweep already; continue it with --resume %s, or name another folder", s.Out, s.Out)
		}
	}
	if err := os.MkdirAll(s.Out, 0o777); err != nil {
		return structured.BadInput("--out: %w", err)
	}
	if err := host.WriteFile(filepath.Join(s.Out, configFile), s.Write); err != nil {
		return structured.BadInput("--out: cannot write there: %w", err)
	}
	return nil
}

// checkResumed refuses to resume a sweep with different settings.
func checkResumed(s *Config) error {
	was, err := Read(s.Resume)
	if err != nil {
		return err
	}
	before := Settings(&was)
	for i, now := range Settings(s) {
		if then, now := fmt.Sprint(before[i].Value.Interface()), fmt.Sprint(now.Value.Interface()); !before[i].Run && then != now {
			return structured.BadInput("--resume %s: the sweep has --%s %s, not %s; leave it out, or start a new sweep", s.Resume,
				before[i].Name, then, now)
		}
	}
	return nil
}

// trialLog is the file of trials, one per line, in the order in which they finished.
type trialLog struct{ file *os.File }

// openTrials opens the file at path for appending, and returns its trials by number. It drops an incomplete last line, which a
// killed sweep leaves behind.
func openTrials(path string) (*trialLog, map[int]Trial, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, structured.BadInput("%w", err)
	}
	earlier, end, err := parseTrials(path, text)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, nil, structured.BadInput("%w", err)
	}
	if err := f.Truncate(int64(end)); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &trialLog{f}, earlier, nil
}

// parseTrials returns the trials in the text of a file by number, and where the last complete line ends.
func parseTrials(path string, text []byte) (earlier map[int]Trial, end int, err error) {
	earlier = map[int]Trial{}
	for n := 1; ; n++ {
		line, _, complete := bytes.Cut(text[end:], []byte{'\n'})
		if !complete {
			return earlier, end, nil
		}
		var t Trial
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, 0, structured.BadInput("%s:%d: expected an object such as {\"trial\": 1, …}: %w", path, n, err)
		}
		earlier[t.Number] = t
		end += len(line) + 1
	}
}

// add appends a trial; it is on disk when add returns.
func (l *trialLog) add(t Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close closes the file.
func (l *trialLog) Close() error { return l.file.Close() }
