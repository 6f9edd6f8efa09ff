package sdca

import (
	"errors"
	"sync/atomic"
	"testing"
)

// Every phase runs each of its tasks once and ends when all are done.
func TestTeam(t *testing.T) {
	for _, members := range []int{1, 2, 5} {
		team := newTeam(members)
		counts := make([]atomic.Int32, 40)
		for phase := range 3000 {
			n := 1 + phase%len(counts)
			err := team.run(n, func(task int) error {
				counts[task].Add(1)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for task := range counts {
				want := int32(0)
				if task < n {
					want = 1
				}
				if got := counts[task].Swap(0); got != want {
					t.Fatalf("%d members, phase %d: task %d was done %d times, want %d", members, phase, task, got, want)
				}
			}
		}
		team.close()
	}
}

// A phase returns the error of the first task that has one, and a panic becomes an error.
func TestTeamErrors(t *testing.T) {
	for _, members := range []int{1, 3} {
		team := newTeam(members)
		defer team.close()
		first := errors.New("first")
		var done atomic.Int32
		err := team.run(9, func(task int) error {
			defer done.Add(1)
			if task == 3 {
				return first
			}
			if task > 3 {
				panic("later")
			}
			return nil
		})
		if err != first || done.Load() != 9 {
			t.Errorf("%d members: %v after %d tasks", members, err, done.Load())
		}
		if err := team.run(2, func(int) error { panic("oh") }); err == nil {
			t.Error("a panic got lost")
		}
		if err := team.run(2, func(int) error { return nil }); err != nil {
			t.Errorf("an old error: %v", err)
		}
	}
}
