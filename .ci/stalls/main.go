// Command stalls looks for loops of a program for x86-64 that mix vectors of 256 or 512 bits with SSE instructions that
// have no VEX prefix, and exits with 1 if there are any. Such an instruction keeps the upper halves of its register,
// and where these are in use many processors wait: on some, each costs 100 to 450 cycles. Go's compiler makes them of
// scalars that it spills, of conversions between float32 and float64, and of assignments of zero.
//
//	go run ./.ci/stalls PROGRAM
package main

import (
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"strings"
)

const (
	ours    = "github.com/dsp-go/dsp/"
	longest = 400 // instructions of a loop: one with more has work of its own outside its inner loops
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "stalls: expected one program")
		os.Exit(2)
	}
	found, loops, err := scan(os.Args[1], ours)
	if err == nil && loops == 0 {
		err = fmt.Errorf("no loop has vectors: build it with GOEXPERIMENT=simd, for amd64")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stalls:", err)
		os.Exit(1)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		fmt.Fprintf(os.Stderr, "stalls: %d of %d loops with vectors have SSE instructions without VEX prefix. Keep scalars out of them: handle the tail "+
			"first, hold constants in vectors, convert in vectors\n", len(found), loops)
		os.Exit(1)
	}
	fmt.Printf("%d loops with vectors, none with SSE instructions without VEX prefix\n", loops)
}

// scan returns a line for each loop that mixes both, of functions whose names have the prefix, and how many loops have
// vectors.
func scan(program, prefix string) (found []string, loops int, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, lines := f.Section(".text"), f.Section(".gopclntab")
	if text == nil || lines == nil || f.Machine != elf.EM_X86_64 {
		return nil, 0, fmt.Errorf("%s: not a Go program for x86-64", program)
	}
	code, err := text.Data()
	if err != nil {
		return nil, 0, err
	}
	names, err := lines.Data()
	if err != nil {
		return nil, 0, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(names, text.Addr))
	if err != nil {
		return nil, 0, err
	}
	for _, fn := range table.Funcs {
		if !strings.HasPrefix(fn.Name, prefix) {
			continue
		}
		body := code[fn.Entry-text.Addr : fn.End-text.Addr]
		all, err := instructions(body)
		if err != nil {
			return nil, 0, fmt.Errorf("%s at %#x: %w", fn.Name, fn.Entry, err)
		}
		mixed, some := mixedLoops(all)
		loops += some
		for _, at := range mixed {
			file, line, _ := table.PCToLine(fn.Entry + uint64(at))
			found = append(found, fmt.Sprintf("%s: %s:%d (%#x)", fn.Name, file, line, fn.Entry+uint64(at)))
		}
	}
	return found, loops, nil
}

// placed is an instruction with its distance from the start of the function.
type placed struct {
	instruction
	at int
}

func instructions(code []byte) (all []placed, err error) {
	for at := 0; at < len(code); {
		in, err := decode(code[at:])
		if err != nil {
			return nil, fmt.Errorf("+%#x: %w", at, err)
		}
		all = append(all, placed{in, at})
		at += in.size
	}
	return all, nil
}

// mixedLoops returns the places of the first SSE instructions without VEX prefix of loops that have vectors and do not
// clear them, each once, and how many loops have vectors. A loop is what lies between a jump back and where it goes.
func mixedLoops(all []placed) (mixed []int, loops int) {
	index := make(map[int]int, len(all)) // of the instruction at a place
	seen := map[int]bool{}
	for k, in := range all {
		index[in.at] = k
		if in.kind != jump || in.target >= 0 {
			continue
		}
		from, ok := index[in.at+in.target]
		if !ok || k-from >= longest {
			continue
		}
		vectors, cleared, first := false, false, -1
		for _, x := range all[from : k+1] {
			switch x.kind {
			case wide:
				vectors = true
			case clears:
				cleared = true
			case legacy:
				if first < 0 {
					first = x.at
				}
			}
		}
		if vectors {
			loops++
		}
		if vectors && !cleared && first >= 0 && !seen[first] {
			seen[first] = true
			mixed = append(mixed, first)
		}
	}
	return mixed, loops
}
