package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// batchPositions is how many positions a worker takes from the queue at once: as many as a model scores at once.
const batchPositions = 1024

// pool is the workers of a model with their queue.
type pool struct {
	*queue
	name    string // of the model
	model   *models.Model
	reader  requests.Reader
	metrics modelMetrics
	memory  *budget // for predictions
	kept    int64   // bytes of scratch memory that a worker keeps for the next batch
	looks   looks   // of the images of its requests
	running sync.WaitGroup
}

// start starts the workers.
func (p *pool) start(threads int) {
	for range host.Threads(threads) {
		p.running.Go(p.work)
	}
}

// work predicts until the queue is closed and empty.
func (p *pool) work() {
	a := p.model.NewAnswerer()
	for {
		batch, ok := p.take(batchPositions)
		if !ok {
			return
		}
		n, positions, bytes, scratch := 0, 0, int64(0), int64(0)
		for _, span := range batch {
			for _, e := range span.of.examples[span.from:span.to] {
				n, positions, bytes, scratch = n+1, positions+e.Size, bytes+e.Work, scratch+e.Work-int64(e.Bytes)
			}
		}
		taken := p.memory.take(bytes)
		p.metrics.batch.Observe(float64(n))
		p.metrics.examples.Add(float64(n))
		p.metrics.positions.Add(float64(positions))
		err := p.predict(a, batch)
		if crashed(err) {
			slog.Error("a request caused an internal error", "error", err)
			a = p.model.NewAnswerer() // the memory of the old one may be in any state
		}
		switch {
		case err == nil:
			for _, span := range batch {
				p.finished(span)
			}
		case n == 1:
			p.fail(batch[0], batch[0].from, err)
		default:
			a = p.alone(a, batch)
		}
		if scratch > p.kept { // the scratch memory of an Answerer never shrinks
			a = p.model.NewAnswerer()
		}
		p.memory.give(taken)
	}
}

// alone predicts the examples of a batch one by one after one of them failed, so that it fails no other.
func (p *pool) alone(a *models.Answerer, batch []span) *models.Answerer {
	for _, of := range batch {
		for k := of.from; k < of.to; k++ {
			one := span{of.of, k, k + 1}
			err := p.predict(a, []span{one})
			if err == nil {
				p.finished(one)
				continue
			}
			p.fail(one, k, err)
			if crashed(err) {
				a = p.model.NewAnswerer()
			}
		}
	}
	return a
}

func crashed(err error) bool {
	_, ok := errors.AsType[*host.PanicError](err)
	return ok
}

// predict predicts a batch and hands the predictions to the jobs. If it fails, some may have been handed over.
func (p *pool) predict(a *models.Answerer, batch []span) error {
	return host.Guard(func() error {
		var all []requests.Example
		var of []span // of each example
		var places []uint64
		for _, span := range batch {
			all = append(all, span.of.examples[span.from:span.to]...)
			for k := span.from; k < span.to; k++ {
				of, places = append(of, span), append(places, uint64(k))
			}
		}
		d, err := p.reader.Dataset(all)
		if err != nil {
			return err
		}
		p.looks.see(p.name, p.model, d.Looks)
		first, before := 0, -1 // the first example in d of the current span
		truncated := a.Truncated()
		defer func() { p.metrics.truncated.Add(float64(a.Truncated() - truncated)) }()
		return a.PredictAt(places, d, batch[0].of.options, func(i int, prediction *predictions.Prediction) error {
			if span := of[i]; before < 0 || span != of[before] {
				first = i
			}
			before = i
			return of[i].of.use(of[i].from+i-first, d, i, prediction)
		})
	})
}

// stop lets the workers finish what is in the queue and waits for them.
func (p *pool) stop() {
	p.close()
	p.running.Wait()
}

// bytes estimates the memory of predicting an example.
func (p *pool) bytes(e *requests.Example, o predictions.Options) float64 {
	return p.model.Footprint(e.Extent, o) + float64(e.Bytes)
}

// usual returns the memory of predicting a batch of usual examples.
func (p *pool) usual() int64 {
	const length = 32
	e := requests.Example{Extent: models.Extent{Positions: length, Characters: 8 * length}}
	return int64(batchPositions / length * p.bytes(&e, predictions.Options{}))
}

// fits refuses examples whose predictions would take more memory than there is for all, and tells each how much it
// takes.
func (p *pool) fits(all []requests.Example, o predictions.Options) error {
	for k := range all {
		e := &all[k]
		bytes := p.bytes(e, o)
		if bytes > float64(p.memory.total) {
			at := ""
			if e.Line > 0 {
				at = fmt.Sprintf("line %d: ", e.Line)
			}
			return refuse(http.StatusRequestEntityTooLarge, "%sto predict an example of %d positions would take about %s of memory, and all predictions together have %s (--memory); send a smaller one",
				at, e.Extent.Positions, size(int64(min(bytes, 1<<62))), size(p.memory.total))
		}
		e.Work = int64(bytes)
	}
	return nil
}

// answerSize bounds the bytes of the answer to one request, for which its examples share a count.
type answerSize struct {
	bytes atomic.Int64
	held  *holding // by the request
}

// mostAnswer is the most bytes of an answer.
const mostAnswer = 64 << 20

// answerCopies is how many times as much memory as its lines an answer takes: with what they were made of, and joined.
const answerCopies = 4

// add refuses an answer that has become too large, or for which there is no memory.
func (a *answerSize) add(bytes int) error {
	if a.bytes.Add(int64(bytes)) > mostAnswer {
		return refuse(http.StatusRequestEntityTooLarge, "the answer is larger than %d bytes; send fewer examples at once, or ask for less about them", mostAnswer)
	}
	return a.held.add(answerCopies*int64(bytes), "the answer")
}
