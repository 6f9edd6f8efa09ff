package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// outcome is what became of a change.
type outcome int

const (
	invalid  outcome = iota // it does not compile
	survived                // all tests pass
	noticed                 // a test fails
	hung                    // tests take too long, which is noticed, too
	swollen                 // tests take too much memory, likewise
)

func (o outcome) String() string {
	return []string{"does not compile", "SURVIVED", "noticed", "hangs", "swells"}[o]
}

// runner runs tests with changes, each in an overlay: the files of the module stay as they are.
type runner struct {
	module, scratch string
	limit           time.Duration // for the tests of a package
	memory          int64         // bytes that these may hold

	slow map[string]bool // of packages that took too long with a change: whether they do without one
}

// try compiles a change and runs the tests of packages, each only if those before it pass. It also returns the name of
// a test that failed.
func (r *runner) try(
	ctx context.Context, c change, changed []byte, packages []string,
) (got outcome, by string, err error) {
	file := filepath.Join(r.scratch, filepath.Base(c.file))
	overlay := filepath.Join(r.scratch, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {c.file: file}})
	if err == nil {
		err = os.WriteFile(file, changed, 0o666)
	}
	if err == nil {
		err = os.WriteFile(overlay, text, 0o666)
	}
	if err != nil {
		return invalid, "", err
	}
	for _, path := range packages {
		got, by, err := r.test(ctx, path, "-overlay", overlay)
		if err == nil && got == hung {
			if slow, failed := r.hangs(ctx, path); slow || failed != nil {
				got, err = survived, failed
			}
		}
		if err != nil || got != survived {
			return got, by, err
		}
	}
	return survived, "", nil
}

// hangs reports whether the tests of a package take too long without a change, too.
func (r *runner) hangs(ctx context.Context, path string) (bool, error) {
	if _, known := r.slow[path]; !known {
		got, _, err := r.test(ctx, path, "-count=1")
		if err != nil {
			return false, err
		}
		if r.slow == nil {
			r.slow = map[string]bool{}
		}
		r.slow[path] = got == hung
	}
	return r.slow[path], nil
}

// test runs the tests of a package until one fails.
func (r *runner) test(ctx context.Context, path string, flags ...string) (outcome, string, error) {
	var out bytes.Buffer
	args := append([]string{"test", "-vet=off", "-failfast", "-timeout", r.limit.String()}, flags...)
	c := r.command(ctx, append(args, path)...)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return survived, "", err
	}
	running, ends := context.WithCancel(ctx)
	confined := make(chan bool, 1)
	go func() { confined <- confine(running, c.Process.Pid, r.memory) }()
	err := c.Wait()
	ends()
	if <-confined {
		return swollen, path, nil
	}
	// the last: a process that tests have left behind
	if err == nil || ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		return survived, "", ctx.Err()
	}
	if _, ran := errors.AsType[*exec.ExitError](err); !ran {
		return survived, "", err
	}
	got, by := noticed, path
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasSuffix(line, "[build failed]\n"):
			return invalid, "", nil
		case strings.HasPrefix(line, "panic: test timed out"):
			got = hung
		case strings.HasPrefix(line, "--- FAIL: "):
			by = strings.Fields(line)[2]
		}
	}
	return got, by, nil
}

// command is a go command that ends when ctx does.
func (r *runner) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.WaitDelay = r.module, time.Second
	return c
}
