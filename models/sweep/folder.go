package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
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

// makeFolder makes the folder s.Out, locks it until release is called, and writes the configuration there. A folder
// that already holds a sweep is refused unless s resumes that sweep, and so is one that another process writes.
func makeFolder(s *Config) (release func() error, err error) {
	if s.Resume != "" {
		if err := checkResumed(s); err != nil {
			return nil, err
		}
		s.Out = s.Resume
	}
	if s.Out == "" {
		s.Out, err = host.TimedFolder(training.RunsFolder, "sweep", time.Now())
	} else {
		err = os.MkdirAll(s.Out, 0o777)
	}
	if err != nil {
		return nil, structured.BadInput("--out: %w", err)
	}
	if release, err = host.LockFolder(s.Out); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if _, found := os.Stat(filepath.Join(s.Out, configFile)); found == nil && s.Resume == "" {
		err = structured.BadInput("--out %s: there is a sweep already; continue it with --resume %s, or name another folder",
			s.Out, s.Out)
	} else if err = host.WriteFile(filepath.Join(s.Out, configFile), s.Write); err != nil {
		err = structured.BadInput("--out: cannot write there: %w", err)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// checkResumed refuses to resume a sweep with different settings.
func checkResumed(s *Config) error {
	was, err := Read(s.Resume)
	if err != nil {
		return err
	}
	before := Settings(&was)
	for i, now := range Settings(s) {
		if then, now := fmt.Sprint(before[i].Value.Interface()), fmt.Sprint(now.Value.Interface()); !before[i].Run &&
			then != now {
			return structured.BadInput("--resume %s: the sweep has --%s %s, not %s; leave it out, or start a new sweep",
				s.Resume,
				before[i].Name, then, now)
		}
	}
	return nil
}

// trials are those in a file of trials, by number.
type trials map[int]Trial

// keep takes a line of the file at path.
func (t trials) keep(path string) func(number int, line []byte) error {
	return func(number int, line []byte) error {
		var one Trial
		if err := json.Unmarshal(line, &one); err != nil {
			return structured.BadInput("%s:%d: expected an object such as {\"trial\": 1, …}: %w", path, number, err)
		}
		t[one.Number] = one
		return nil
	}
}
