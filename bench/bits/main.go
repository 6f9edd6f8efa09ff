// Command bits checks that training, predictions and metrics keep their bits: it repeats the rows of table.tsv, each a
// training and a prediction on problems that take a second, and compares SHA-256 of what they leave. A change of the
// code that moves no number leaves the table as it is; a change that does says which rows moved, and why, in its
// commit.
//
//	go run ./bench/bits -program bin/dsp             all rows, with the kernels of this processor
//	go run ./bench/bits -program bin/dsp -sample 8   every eighth row
//	go run ./bench/bits -program bin/dsp -update     the hashes of this program, for all kernels that this processor has
//	go run ./bench/bits -program bin/dsp -draw       rows for pairs of choices (method, structure, loss, home ...) that no row holds yet
//
// Bits depend on the kernels (DSP_KERNELS: plain, avx2, avx512), on the processor's architecture and on Go's compiler.
// The table has a column of hashes per kernel. Rows without hashes for a kernel are said to be unchecked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bits:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bits", flag.ContinueOnError)
	program := flags.String("program", "bin/dsp", "the program `FILE`, built with GOEXPERIMENT=simd; with -tags "+
		"gpu for rows on devices")
	path := flags.String("table", "bench/bits/table.tsv", "the table, a `FILE`")
	kernel := flags.String("kernels", "", "`NAMES` of kernels, with commas: plain, avx2, avx512; empty: the best that "+
		"this processor has; with -update all that it has")
	library := flags.String("cuda", "build/libcuda-emulated.so", "driver library `FILE` of the emulated device; where "+
		"it is missing, rows on devices are unchecked")
	sample := flags.Int("sample", 1, "check every `N`th row")
	only := flags.String("only", "", "check rows that match this regular `EXPRESSION`")
	update := flags.Bool("update", false, "write the hashes of this program to the table, for all kernels "+
		"that the processor has")
	draw := flags.Bool("draw", false, "add rows for pairs of choices that no row holds, of which one matches -only")
	jobs := flags.Int("jobs", runtime.NumCPU(), "rows at a time, `N`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	where, err := filepath.Abs(*program)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "bits")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	b := &bench{program: where, scratch: scratch}
	if _, err := os.Stat(*library); err == nil {
		if b.driver, err = filepath.Abs(*library); err != nil {
			return err
		}
	}
	if b.best, err = b.bestKernel(ctx); err != nil {
		return err
	}
	if err := b.drawData(ctx); err != nil {
		return err
	}
	*update = *update || *draw
	kernels := []string{b.best}
	if *update {
		kernels = kernelNames[:slices.Index(kernelNames, b.best)+1]
	}
	if *kernel != "" {
		kernels = strings.Split(*kernel, ",")
	}
	t, err := readTable(*path)
	if err != nil {
		return err
	}
	var failedDraws error
	if *draw {
		if t.rows, failedDraws = drawRows(ctx, b, t.rows, match, *jobs); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if !*update && t.compiler != compiler() {
		fmt.Printf("unchecked: the table is of %s, and this is %s\n", t.compiler, compiler())
		return nil
	}
	var asked []*row
	for k, r := range t.rows {
		if k%max(1, *sample) == 0 && match.MatchString(r.name()) {
			asked = append(asked, r)
		}
	}
	moved, unchecked, failed := b.compare(ctx, asked, kernels, *jobs, *update)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Printf("%d rows, kernels %s: %d differ, %d unchecked, %d failed\n", len(asked), strings.Join(kernels, ", "), moved,
		unchecked, failed)
	if *update {
		t.compiler = compiler()
		return errors.Join(t.write(*path), failedDraws, failures(failed))
	}
	return failures(moved + failed)
}

func failures(n int) error {
	if n > 0 {
		return fmt.Errorf("%d rows are not as in the table", n)
	}
	return nil
}

// compiler is what bits depend on beside the kernels.
func compiler() string { return runtime.Version() + " " + runtime.GOARCH }

// compare runs rows with each of the kernels, and counts those that differ from their hashes, those that cannot be run
// here or have no hashes, and those that fail. With update it writes the hashes instead; rows that cannot be run here
// keep theirs.
func (b *bench) compare(ctx context.Context, rows []*row, kernels []string, jobs int,
	update bool) (moved, unchecked, failed int) {
	var mutex sync.Mutex
	inParallel(jobs, len(rows), func(k int) {
		r := rows[k]
		for _, kernel := range kernels {
			if ctx.Err() != nil {
				return
			}
			got, err := b.measure(ctx, r, kernel)
			mutex.Lock()
			want := r.hashes[kernel]
			switch {
			case errors.Is(err, errNotHere):
				unchecked++
			case err != nil:
				failed++
				fmt.Printf("FAILED   %s (%s): %v\n", r.name(), kernel, err)
			case update:
				if want != "" && want != got {
					moved++
					fmt.Printf("moved    %s (%s): %s, was %s\n", r.name(), kernel, got, want)
				}
				r.hashes[kernel] = got
			case want == "":
				unchecked++
			case want != got:
				moved++
				fmt.Printf("DIFFERS  %s (%s): %s, expected %s (model/predictions/metrics)\n", r.name(), kernel, got, want)
			}
			mutex.Unlock()
		}
	})
	return moved, unchecked, failed
}

// inParallel calls do for 0 … n−1, in order, by as many goroutines as jobs.
func inParallel(jobs, n int, do func(k int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range max(1, jobs) {
		all.Go(func() {
			for k := range next {
				do(k)
			}
		})
	}
	for k := range n {
		next <- k
	}
	close(next)
	all.Wait()
}
