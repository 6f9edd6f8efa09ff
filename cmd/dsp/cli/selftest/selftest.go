// Package selftest checks that dsp computes correct results on this machine. It compares oracles with enumeration,
// vector code and linear algebra with plain loops, gradients with finite differences, and training with its
// certificate.
package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
)

// A Check verifies one thing.
type Check struct {
	Name string
	run  func(ctx context.Context, r *rand.Rand, w *worst) (found string, err error) // found "": report w instead
}

// Only returns the checks whose names match a pattern. The check of what all the others launched needs all of them.
func Only(checks []Check, pattern *regexp.Regexp) []Check {
	all := true
	chosen := slices.DeleteFunc(slices.Clone(checks), func(c Check) bool {
		out := c.Name != launchesAll && !pattern.MatchString(c.Name)
		all = all && !out
		return out
	})
	if all {
		return chosen
	}
	return slices.DeleteFunc(chosen, func(c Check) bool { return c.Name == launchesAll })
}

// Result is the outcome of a check.
type Result struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Cases   int     `json:"cases"` // numbers or instances compared
	Error   float64 `json:"error"` // largest relative error among them
	Found   string  `json:"found"` // what was compared and how close it was, or what went wrong
	Seconds float64 `json:"seconds"`
}

// All returns the checks that run on the CPU.
func All() []Check { return slices.Concat(oracleChecks(), netChecks, trainingChecks) }

// Do runs the check with a generator seeded with seed. A panic counts as a failure.
func (c Check) Do(ctx context.Context, seed uint64) (result Result) {
	start := time.Now()
	result.Name = c.Name
	defer func() {
		if p := recover(); p != nil {
			result.OK, result.Found = false, fmt.Sprintf("panic: %v", p)
		}
		result.Seconds = time.Since(start).Seconds()
	}()
	w := &worst{}
	found, err := c.run(ctx, rand.New(rand.NewPCG(seed, 0)), w)
	switch {
	case err != nil:
		found = err.Error()
	case found == "":
		found = w.String()
	}
	result.OK, result.Found, result.Cases, result.Error = err == nil, found, w.compare, w.error
	return result
}

// worst keeps the largest relative error of several comparisons.
type worst struct {
	error   float64
	compare int
}

// near compares got with want; the error is relative to max(1, |want|).
func (w *worst) near(what string, got, want, tolerance float64) error {
	w.compare++
	if got == want { // includes ±∞
		return nil
	}
	e := abs(got-want) / max(1, abs(want))
	if !(e <= tolerance) {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	w.error = max(w.error, e)
	return nil
}

func (w *worst) String() string {
	return fmt.Sprintf("%d comparisons, relative error at most %.1e", w.compare, w.error)
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}
