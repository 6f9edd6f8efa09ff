package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// entry is a model that is served, under its name. Its pool is replaced when the model is loaded again.
type entry struct {
	name, path string
	pool       atomic.Pointer[pool]
	line       atomic.Pointer[line] // of a pipeline, which has no pool

	loading sync.Mutex // one load at a time
	loaded  stamp      // of the file when it was last loaded, or refused
}

// stamp tells files with different content apart: a model file is replaced, never written in place.
type stamp struct {
	size int64
	time time.Time
}

// modelName is what a model may be called in a URL.
var modelName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// entries parses models as --model has them: NAME=DIR, or DIR, whose last element is the name.
func entries(models []string) ([]*entry, error) {
	var all []*entry
	for _, text := range models {
		name, path, ok := strings.Cut(text, "=")
		if !ok || !modelName.MatchString(name) {
			path = text
			name = filepath.Base(filepath.Clean(path))
			if name == modelFile {
				absolute, err := filepath.Abs(path)
				if err != nil {
					return nil, structured.BadInput("--model %s: %w", text, err)
				}
				name = filepath.Base(filepath.Dir(absolute))
			}
			name = strings.TrimSuffix(name, filepath.Ext(modelFile))
		}
		if !modelName.MatchString(name) || name == "." || name == ".." {
			return nil, structured.BadInput("--model %s: %q is no name for a URL; give --model NAME=%s, with letters, digits, points, hyphens and underscores", text, name, path)
		}
		if path == "" {
			return nil, structured.BadInput("--model %s: no file or folder after the name", text)
		}
		for _, other := range all {
			if other.name == name {
				return nil, structured.BadInput("--model %s and %s are both named %s; give --model NAME=DIR", other.path, path, name)
			}
		}
		all = append(all, &entry{name: name, path: path})
	}
	if len(all) == 0 {
		return nil, structured.BadInput("no model: give --model FILE, or --model DIR with the folder of a run")
	}
	return all, nil
}

const modelFile = models.ModelFile

// file returns the model's file.
func (e *entry) file() string {
	if pipelines.Is(e.path) {
		return pipelines.File(e.path)
	}
	if info, err := os.Stat(e.path); err == nil && info.IsDir() {
		return filepath.Join(e.path, modelFile)
	}
	return e.path
}

func (e *entry) stamp() stamp {
	info, err := os.Stat(e.file())
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// load loads a model and lets it answer from now on; requests that came before are finished by the one before. If it
// cannot be loaded, the one before stays.
func (s *Server) load(e *entry) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	e.loaded = e.stamp()
	if pipelines.Is(e.path) {
		return s.loadLine(e)
	}
	if e.line.Load() != nil {
		return structured.BadInput("%s: it was a pipeline, and is none any more", e.path)
	}
	p := &pool{name: e.name, queue: newQueue(s.o.Queue), metrics: s.metrics.of(e.name), memory: s.work}
	err := host.Guard(func() (err error) {
		if p.model, err = s.read(e.path); err != nil {
			return err
		}
		if err = s.tagFirst(p.model); err != nil {
			return err
		}
		if p.reader, err = requests.For(p.model, s.o.Limits, s.o.Splitter); err != nil {
			return structured.BadInput("%s: %w", e.path, err)
		}
		if p.model.MaxWords = s.o.Limits.Words; requests.ReadsSentences(p.reader) {
			s.reads.Store(true)
		}
		return nil
	})
	if err != nil {
		s.metrics.loads.WithLabelValues(e.name, "refused").Inc()
		return err
	}
	p.kept = min(s.kept, 2*p.usual())
	p.start(s.o.Threads)
	if before := e.pool.Swap(p); before != nil {
		go before.stop()
	}
	s.metrics.loads.WithLabelValues(e.name, "done").Inc()
	s.metrics.loaded.WithLabelValues(e.name).SetToCurrentTime()
	return nil
}

// read reads a model.
func (s *Server) read(path string) (*models.Model, error) {
	m, err := models.LoadWith(path, encoded.Source{Folder: s.o.Encoder})
	if err == nil && m.Encoder != nil && m.Encoder.ByReference {
		s.refers.Store(true)
	}
	return m, err
}

// loadLine is load for a pipeline.
func (s *Server) loadLine(e *entry) error {
	var p *pipelines.Pipeline
	err := host.Guard(func() (err error) { p, err = pipelines.Load(e.path, s.o.Encoder); return err })
	if err == nil && e.pool.Load() != nil {
		err = structured.BadInput("%s: it was a model, and is a pipeline now", e.path)
	}
	if err != nil {
		s.metrics.loads.WithLabelValues(e.name, "refused").Inc()
		return err
	}
	if p.Refers() {
		s.refers.Store(true)
	}
	s.reads.Store(true)
	p.LimitWords(s.o.Limits.Sentence(p.Parses()))
	e.line.Store(newLine(p, host.Threads(s.o.Threads), s.o.Queue, s.work, s.kept))
	s.metrics.loads.WithLabelValues(e.name, "done").Inc()
	s.metrics.loaded.WithLabelValues(e.name).SetToCurrentTime()
	return nil
}

// waiting returns how many requests for a model wait or are being predicted.
func (e *entry) waiting() int {
	if l := e.line.Load(); l != nil {
		return int(l.requests.Load())
	}
	return e.pool.Load().length()
}

// tagFirst loads those of the taggers that label words for a model.
func (s *Server) tagFirst(m *models.Model) error {
	by := map[string]*models.Model{}
	for _, value := range s.o.Taggers {
		given, path := models.ParseTagger(value)
		column, err := m.TaggedColumn(given)
		if err != nil {
			continue // it is for another model
		}
		if by[column] != nil {
			return structured.BadInput("--tagger %s: the column %s is made by another --tagger", value, column)
		}
		if by[column], err = s.read(path); err != nil {
			return err
		}
	}
	return m.TagFirst(by)
}

// checkTaggers refuses taggers that label words for no model.
func (s *Server) checkTaggers() error {
	for _, value := range s.o.Taggers {
		given, _ := models.ParseTagger(value)
		wrong := structured.BadInput("--tagger %s: a pipeline tags its words itself", value)
		for _, e := range s.models {
			if e.pool.Load() == nil { // a pipeline
				continue
			}
			if _, wrong = e.pool.Load().model.TaggedColumn(given); wrong == nil {
				break
			}
		}
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

// reload loads a model again and logs how it went.
func (s *Server) reload(e *entry) error {
	err := s.load(e)
	if err != nil {
		slog.Error("the model was not loaded again; the one before stays", "model", e.name, "error", err)
	} else {
		slog.Info("loaded again", "model", e.name, "from", e.path)
		s.keepWithin()
	}
	return err
}

// ReloadAll loads all models again. Those that cannot be loaded stay as they are.
func (s *Server) ReloadAll() {
	for _, e := range s.models {
		_ = s.reload(e) // logged
	}
}

// watch loads models again whose files have changed, until ctx ends.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(s.o.Watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, e := range s.models {
			if now := e.stamp(); now != (stamp{}) && now != e.lastLoaded() {
				_ = s.reload(e) // logged
			}
		}
	}
}

func (e *entry) lastLoaded() stamp {
	e.loading.Lock()
	defer e.loading.Unlock()
	return e.loaded
}

// onlyVersion is the version that every model has.
const onlyVersion = "1"

// asked returns the model that the path of a request names, whose version, if it names one, is the only one.
func (s *Server) asked(r *http.Request) (*entry, error) {
	e, err := s.find(r.PathValue("model"))
	if version := r.PathValue("version"); err == nil && version != "" && version != onlyVersion {
		return nil, refuse(http.StatusNotFound, "%s has no version %q; there is %s", e.name, version, onlyVersion)
	}
	return e, err
}

// find returns the model of that name; the only one there is has no need of a name.
func (s *Server) find(name string) (*entry, error) {
	if name == "" && len(s.models) == 1 {
		return s.models[0], nil
	}
	var names []string
	for _, e := range s.models {
		if e.name == name {
			return e, nil
		}
		names = append(names, e.name)
	}
	if name == "" {
		return nil, &refusal{404, fmt.Errorf("there are %d models; name one of %s, as in /predict/%s", len(names), strings.Join(names, ", "), names[0])}
	}
	return nil, &refusal{404, fmt.Errorf("no model %q; there is %s", name, strings.Join(names, ", "))}
}

// run submits examples to a model and waits until they are predicted. read reads the examples for the model as it is
// now; when the model is replaced before they are in its queue, they are read again for the new one. held is what the
// request holds.
func (e *entry) run(ctx context.Context, held *holding, read func(p *pool) (*job, error)) error {
	body := held.bytes
	for {
		held.shrink(body)
		p := e.pool.Load()
		j, err := read(p)
		if err != nil {
			return err
		}
		j.ctx = ctx
		if len(j.examples) == 0 {
			return nil
		}
		if err = p.submit(j); errors.Is(err, errClosed) && e.pool.Load() != p {
			continue
		}
		if err != nil {
			return err
		}
		select {
		case <-j.done:
			return j.failure()
		case <-ctx.Done():
			held.busy = j.done
			return ctx.Err()
		}
	}
}
