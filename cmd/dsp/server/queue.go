package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

var (
	errFull   = errors.New("the queue is full; try again later")
	errClosed = errors.New("this model was replaced")
)

// job is a request for the predictions of some examples.
type job struct {
	ctx      context.Context // when it ends, what is left of the job is dropped
	examples []requests.Example
	options  predictions.Options
	// use takes the prediction for example k, which is example i of d. Several goroutines call it at once.
	use func(k int, d *structured.Dataset, i int, p *predictions.Prediction) error

	next int           // the first example that nobody has taken
	left int           // examples that are not done
	err  error         // of the first example in order that failed
	at   int           // its number
	done chan struct{} // closed when left is 0, or the job has failed
}

// span is a range of the examples of a job.
type span struct {
	of       *job
	from, to int
}

// queue holds the jobs for a model. Workers take examples from its front, of several jobs at once if these have the
// same options, so that requests that arrive together are predicted together; nobody waits for others to arrive. A job
// that is not done when its turn is over goes to the back, so that a large one does not hold up the small ones.
type queue struct {
	mutex   sync.Mutex
	arrival sync.Cond
	waiting []*job // with examples that nobody has taken
	jobs    int    // that are not done
	limit   int    // of jobs
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.arrival.L = &q.mutex
	return q
}

// submit adds a job. It returns errFull or errClosed, and then does not keep the job.
func (q *queue) submit(j *job) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	switch {
	case q.closed:
		return errClosed
	case q.jobs >= q.limit:
		return errFull
	}
	j.left, j.done = len(j.examples), make(chan struct{})
	q.jobs++
	q.waiting = append(q.waiting, j)
	if len(j.examples) > 1 {
		q.arrival.Broadcast()
	} else {
		q.arrival.Signal()
	}
	return nil
}

// close lets the workers finish what is in the queue, and takes no more.
func (q *queue) close() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.closed = true
	q.arrival.Broadcast()
}

// length returns how many jobs are not done.
func (q *queue) length() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.jobs
}

// take waits for examples and returns some of them, up to size positions but at least one example, all with the same
// options. It is false when the queue is closed and empty.
func (q *queue) take(size int) ([]span, bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for {
		var batch []span
		var kept []*job // those that go to the back
		for len(q.waiting) > 0 {
			j := q.waiting[0]
			if err := j.ctx.Err(); err != nil {
				q.failed(j, j.next, err)
			}
			if j.ended() {
				q.waiting = q.waiting[1:]
				continue
			}
			if len(batch) > 0 && (j.options != batch[0].of.options || j.examples[j.next].Size > size) {
				break
			}
			p := span{j, j.next, j.next}
			for p.to < len(j.examples) && (len(batch) == 0 && p.to == p.from || j.examples[p.to].Size <= size) {
				size -= j.examples[p.to].Size
				p.to++
			}
			j.next = p.to
			batch = append(batch, p)
			q.waiting = q.waiting[1:]
			if !j.ended() {
				kept = append(kept, j)
				break // the batch is full
			}
		}
		q.waiting = append(q.waiting, kept...)
		switch {
		case len(batch) > 0:
			return batch, true
		case q.closed:
			return nil, false
		}
		q.arrival.Wait()
	}
}

// ended reports whether nothing of a job is left to take.
func (j *job) ended() bool { return j.next == len(j.examples) }

// finished counts the examples of a span as done.
func (q *queue) finished(p span) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.count(p.of, p.to-p.from)
}

// fail ends a job with the error of one of its examples. Examples of it that others have taken are still predicted.
func (q *queue) fail(p span, example int, err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.failed(p.of, example, err)
	q.count(p.of, p.to-p.from)
}

// failed keeps the first error in the order of the examples, and drops those that nobody has taken.
func (q *queue) failed(j *job, example int, err error) {
	if j.err == nil || example < j.at {
		j.err, j.at = err, example
	}
	dropped := len(j.examples) - j.next
	j.next = len(j.examples)
	q.count(j, dropped)
}

func (q *queue) count(j *job, examples int) {
	if examples == 0 {
		return
	}
	if j.left -= examples; j.left == 0 {
		q.jobs--
		close(j.done)
	}
}

// failure returns the error of a job that is done, with the line of its example if the request has several.
func (j *job) failure() error {
	if j.err == nil || j.examples[j.at].Line == 0 || errors.Is(j.err, context.Canceled) || errors.Is(j.err, context.DeadlineExceeded) {
		return j.err
	}
	return fmt.Errorf("line %d: %w", j.examples[j.at].Line, j.err)
}
