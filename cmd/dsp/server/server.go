// Package server answers requests for predictions over HTTP: the Open Inference Protocol, version 2, a plain POST
// /predict, metrics for Prometheus, and a page to try models on.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Options say what is served and within which limits.
type Options struct {
	Models  []string // NAME=DIR or DIR each
	Taggers []string // [COLUMN=]MODEL each, for every model that reads such a column beside words
	Encoder string   // the folder of the encoder of models that refer to one, or with it inside; empty: where their runs say, or beside them
	Token   string   // that requests must carry; empty: anyone may ask
	Hosts   []string // names of this server, beside localhost
	Version string   // of the program, for the metadata

	Threads int           // of each model; 0: all cores
	Queue   int           // requests for one model that wait or are being predicted
	MaxBody int64         // bytes of a request
	Memory  int64         // bytes for all requests; 0: half of what is available
	Timeout time.Duration // from the header of a request to its answer
	Watch   time.Duration // between looks at the models' files; 0: never
	Limits  requests.Limits

	Splitter tokens.Splitter // of raw text
}

// mostBest bounds the n of n-best lists, each of whose entries takes as much memory as an answer.
const mostBest = 100

// Server serves models.
type Server struct {
	o        Options
	hosts    []string // given names, in lower case
	models   []*entry
	metrics  *metrics
	requests *budget // for bodies, what is parsed of them, and answers
	work     *budget // for predictions
	kept     int64   // bytes of scratch memory that a worker keeps
	stopping atomic.Bool
	refers   atomic.Bool // some model refers to an encoder
	reads    atomic.Bool // some model reads sentences

	keeping       sync.Mutex
	held, allowed int64 // bytes of the models, and the runtime's limit at the start
}

// New loads the models. Options out of range and models that cannot be loaded or served are bad input.
func New(o Options) (*Server, error) {
	switch {
	case o.Queue < 1:
		return nil, structured.BadInput("--queue %d: expected at least 1", o.Queue)
	case o.MaxBody < 1:
		return nil, structured.BadInput("--max-body: %d bytes, expected at least 1", o.MaxBody)
	case o.Timeout <= 0:
		return nil, structured.BadInput("--timeout %v: expected more than 0", o.Timeout)
	case o.Threads < 0:
		return nil, structured.BadInput("--threads %d: expected 0 or more", o.Threads)
	case o.Limits.Positions < 1:
		return nil, structured.BadInput("--max-positions %d: expected at least 1", o.Limits.Positions)
	case o.Limits.Words < 0:
		return nil, structured.BadInput("--max-words %d: expected 0 or more", o.Limits.Words)
	}
	if err := o.checkMemory(); err != nil {
		return nil, err
	}
	names, err := hostNames(o.Hosts)
	if err != nil {
		return nil, err
	}
	all, err := entries(o.Models)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, hosts: names, models: all, metrics: newMetrics(), requests: newBudget(o.Memory / 2)}
	kept := o.Memory / 16 // of all workers
	s.work, s.kept = newBudget(o.Memory/2-kept), kept/int64(len(all)*host.Threads(o.Threads))
	s.metrics.watchMemory("requests", s.requests)
	s.metrics.watchMemory("predictions", s.work)
	for _, e := range all {
		if err := s.load(e); err != nil {
			s.Close()
			return nil, err
		}
		s.metrics.watch(e.name, e.waiting)
	}
	err = s.checkTaggers()
	if err == nil && o.Encoder != "" && !s.refers.Load() {
		err = structured.BadInput("--encoder %s has no effect: no model refers to an encoder (train --encoder-by-reference)", o.Encoder)
	}
	if err == nil && o.Limits.Words > 0 && !s.reads.Load() {
		err = structured.BadInput("--max-words %d has no effect: no model reads sentences; --max-positions is for other examples", o.Limits.Words)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close stops the workers. Serve calls it.
func (s *Server) Close() {
	for _, e := range s.models {
		if p := e.pool.Load(); p != nil {
			p.stop()
		}
	}
}

// Serve answers requests until ctx ends. Then it takes no more connections, answers the requests that it has accepted,
// and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s.guard(hostsFor(l.Addr(), s.hosts), s.handler()), ReadHeaderTimeout: s.o.Timeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	defer s.Close()
	s.keepWithin()
	if s.o.Watch > 0 {
		go s.watch(ctx)
	}
	failed := make(chan error, 1)
	go func() { failed <- host.Guard(func() error { return h.Serve(l) }) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	slog.Info("stopping: no more requests are accepted")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Timeout+answerTime)
	defer cancel()
	if err := h.Shutdown(grace); err != nil {
		return errors.Join(err, h.Close())
	}
	return nil
}

// answerTime is how long a client may take to receive an answer.
const answerTime = 30 * time.Second

// handler returns the handler of all routes.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	var routes []string
	open := func(pattern string, h handler) {
		routes = append(routes, strings.NewReplacer("{$}", "", "{model}", "NAME", "{version}", "VERSION").Replace(pattern))
		mux.Handle(pattern, s.measured(pattern, h))
	}
	route := func(pattern string, h handler) { open(pattern, s.authorized(h)) }
	same := http.NewCrossOriginProtection() // a page of another site must not have its visitors' browsers ask
	manage := func(pattern string, h handler) {
		route(pattern, func(w http.ResponseWriter, r *http.Request) error {
			if fromElsewhere(same, r) {
				return refuse(http.StatusForbidden, "%s may not ask this", pageOf(r))
			}
			return h(w, r)
		})
	}
	for _, r := range Routes() {
		h := func(w http.ResponseWriter, req *http.Request) error { return r.answer(s, w, req) }
		switch {
		case r.Open:
			open(r.Pattern, h)
		case r.manages:
			manage(r.Pattern, h)
		default:
			route(r.Pattern, h)
		}
	}
	mux.Handle("/", s.measured("other", func(w http.ResponseWriter, r *http.Request) error { return s.noRoute(mux, routes, w.Header(), r) }))
	same.SetDenyHandler(s.measured("other", func(_ http.ResponseWriter, r *http.Request) error {
		return refuse(http.StatusForbidden, "%s may not post here", pageOf(r))
	}))
	return same.Handler(mux)
}
