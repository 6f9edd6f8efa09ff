package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/cmd/dsp/server/requests"
	"github.com/dsp-go/dsp/models/predictions"
)

// jobOf returns a job of n examples of a size.
func jobOf(n, size int, o predictions.Options) *job {
	j := &job{ctx: context.Background(), options: o}
	for range n {
		j.examples = append(j.examples, requests.Example{Size: size})
	}
	return j
}

func mustSubmit(t *testing.T, q *queue, jobs ...*job) {
	t.Helper()
	for _, j := range jobs {
		if err := q.submit(j); err != nil {
			t.Fatal(err)
		}
	}
}

func describe(of map[*job]string, batch []span) string {
	text := ""
	for _, p := range batch {
		text += fmt.Sprintf("%s[%d:%d] ", of[p.of], p.from, p.to)
	}
	return text
}

// Requests with the same options are taken together, up to the size of a batch; a large one makes room for those behind
// it.
func TestQueueBatches(t *testing.T) {
	q := newQueue(10)
	a, b, c := jobOf(1, 30, predictions.Options{}), jobOf(2, 30, predictions.Options{}), jobOf(1, 30, predictions.Options{NBest: 2})
	large, small, huge := jobOf(5, 40, predictions.Options{}), jobOf(1, 40, predictions.Options{}), jobOf(1, 1000, predictions.Options{})
	of := map[*job]string{a: "a", b: "b", c: "c", large: "large", small: "small", huge: "huge"}
	mustSubmit(t, q, a, b, c, large, small, huge)
	for _, want := range []string{
		"a[0:1] b[0:2] ", "c[0:1] ", "large[0:2] ", "small[0:1] ", "huge[0:1] ", "large[2:4] ", "large[4:5] ",
	} {
		batch, ok := q.take(100)
		if got := describe(of, batch); got != want || !ok {
			t.Fatalf("took %s, expected %s", got, want)
		}
		for _, p := range batch {
			q.finished(p)
		}
	}
	for j, name := range of {
		select {
		case <-j.done:
		default:
			t.Errorf("%s is not done", name)
		}
	}
	if q.length() != 0 {
		t.Errorf("%d jobs are left", q.length())
	}
	q.close()
	if batch, ok := q.take(100); ok {
		t.Errorf("took %v from a closed queue", batch)
	}
}

// A full queue refuses jobs until one is done; a closed one refuses all.
func TestQueueLimits(t *testing.T) {
	q := newQueue(2)
	first := jobOf(1, 1, predictions.Options{})
	mustSubmit(t, q, first, jobOf(1, 1, predictions.Options{}))
	if err := q.submit(jobOf(1, 1, predictions.Options{})); !errors.Is(err, errFull) {
		t.Errorf("a third job: %v", err)
	}
	batch, _ := q.take(1)
	if err := q.submit(jobOf(1, 1, predictions.Options{})); !errors.Is(err, errFull) {
		t.Errorf("a third job while one is predicted: %v", err)
	}
	q.finished(batch[0])
	mustSubmit(t, q, jobOf(1, 1, predictions.Options{}))
	q.close()
	if err := q.submit(first); !errors.Is(err, errClosed) {
		t.Errorf("a job for a closed queue: %v", err)
	}
}

// Jobs whose requests have ended are dropped, and the error of the first failed example is the job's.
func TestQueueFailures(t *testing.T) {
	q := newQueue(5)
	ctx, cancel := context.WithCancel(context.Background())
	gone, failing := jobOf(3, 1, predictions.Options{}), jobOf(4, 1, predictions.Options{})
	gone.ctx = ctx
	for k := range failing.examples {
		failing.examples[k].Line = k + 1
	}
	mustSubmit(t, q, gone, failing)
	cancel()
	first, _ := q.take(2)
	second, _ := q.take(1)
	<-gone.done
	if first[0].of != failing || second[0].of != failing || !errors.Is(gone.err, context.Canceled) {
		t.Fatalf("took %v and %v, %v", first, second, gone.err)
	}
	q.fail(span{failing, 2, 3}, 2, errors.New("third"))
	q.finished(span{failing, 1, 2})
	q.fail(span{failing, 0, 1}, 0, errors.New("first"))
	<-failing.done // the fourth was dropped
	if err := failing.failure(); err == nil || err.Error() != "line 1: first" {
		t.Errorf("%v", err)
	}
}

// Whatever arrives, every example is taken exactly once, and all jobs end.
func TestQueueLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue(1000)
		var workers, clients sync.WaitGroup
		var mutex sync.Mutex
		taken := map[*job]int{}
		for range 3 {
			workers.Go(func() {
				for {
					batch, ok := q.take(10)
					if !ok {
						return
					}
					for _, p := range batch {
						mutex.Lock()
						taken[p.of] += p.to - p.from
						mutex.Unlock()
						q.finished(p)
					}
				}
			})
		}
		type shape struct{ n, size, best int }
		shapes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) shape {
			return shape{rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(0, 12).Draw(t, "size"), rapid.IntRange(0, 1).Draw(t, "nbest")}
		}), 0, 20).Draw(t, "jobs")
		var jobs []*job
		for _, s := range shapes {
			jobs = append(jobs, jobOf(s.n, s.size, predictions.Options{NBest: s.best}))
		}
		refused := make([]error, len(jobs))
		for k, j := range jobs {
			clients.Go(func() {
				if refused[k] = q.submit(j); refused[k] == nil {
					<-j.done
				}
			})
		}
		clients.Wait()
		q.close()
		workers.Wait()
		for k, j := range jobs {
			if refused[k] != nil || taken[j] != len(j.examples) || j.err != nil {
				t.Fatalf("job %d: %v, %d of %d examples taken, %v", k, refused[k], taken[j], len(j.examples), j.err)
			}
		}
	})
}

// The error of a request names the line of the example that failed, where the request has lines; that the client
// is gone has no line.
func TestFailureNamesTheLine(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		err  error
		line int
		want string
	}{
		{nil, 3, "<nil>"}, {broken, 3, "line 3: broken"}, {broken, 0, "broken"}, {context.Canceled, 3, "context canceled"},
	} {
		j := jobOf(2, 1, predictions.Options{})
		j.err, j.at, j.examples[1].Line = c.err, 1, c.line
		if got := j.failure(); fmt.Sprint(got) != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v at line %d: %v, expected %s", c.err, c.line, got, c.want)
		}
	}
}
