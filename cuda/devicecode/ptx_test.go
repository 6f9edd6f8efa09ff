package devicecode

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bodies calls f with the instructions of each kernel, predicates removed.
func bodies(t *testing.T, f func(kernel string, instructions []string)) {
	_, modules := inFolder(t)
	for _, text := range modules {
		for _, text, found := bytes.Cut(text, entry); found; _, text, found = bytes.Cut(text, entry) {
			name, rest, _ := strings.Cut(string(text), "(")
			rest, _, _ = strings.Cut(rest, "\n}")
			var list []string
			for _, line := range strings.Split(rest, "\n") {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "@") {
					_, line, _ = strings.Cut(line, " ")
				}
				list = append(list, strings.TrimSpace(line))
			}
			f(name, list)
		}
	}
}

// The driver's compiler may contract sums and products without an explicit rounding mode, and may approximate other
// operations; results would then differ from the CPU's in some bits. Shuffles, votes and barriers of a warp must name
// all of its lanes.
func TestArithmeticRoundsAsWritten(t *testing.T) {
	arithmetic := regexp.MustCompile(`^(add|sub|mul|mad|fma|div|rcp|sqrt)\.(\S*\.)?f(32|64)$`)
	ofLanes := regexp.MustCompile(`^(?:shfl|vote|redux|bar\.warp)\.sync.*\s(\S+);$`) // the last argument is the lane mask
	set := regexp.MustCompile(`^\S+\s+(%r\d+), (.*);$`)
	bodies(t, func(kernel string, instructions []string) {
		lanes := map[string]bool{} // registers whose last value is −1
		for _, line := range instructions {
			op := line[:strings.IndexAny(line+" ", " \t")]
			if arithmetic.MatchString(op) && !strings.Contains(op, ".rn.") || strings.Contains(op, ".ftz") ||
				strings.Contains(op, ".approx") {
				t.Errorf("%s: %s", kernel, line)
			}
			if m := set.FindStringSubmatch(line); m != nil {
				lanes[m[1]] = m[2] == "-1"
			}
			if m := ofLanes.FindStringSubmatch(line); m != nil && m[1] != "-1" && !lanes[m[1]] {
				t.Errorf("%s: %s, expected all lanes", kernel, line)
			}
		}
	})
}

func TestModulesAreForTheOldestDevice(t *testing.T) {
	_, modules := inFolder(t)
	for module, text := range modules {
		if !bytes.Contains(text, []byte("\n.version 7.8\n.target sm_80\n.address_size 64\n")) {
			t.Errorf("%s is not PTX 7.8 for sm_80", module)
		}
		if bytes.Contains(text, []byte(".local")) {
			t.Errorf("%s has local arrays that are not in registers", module)
		}
		for _, line := range regexp.MustCompile(`(?m)^.*\.shared \.align.*$`).FindAllString(string(text), -1) {
			if line != ".extern .shared .align 16 .b8 dynamic_shared[];" {
				t.Errorf("%s: %s: shared memory must be dynamic", module, line)
			}
		}
	}
}

var (
	fromParameter = regexp.MustCompile(`^ld\.param\.u64\s+(%rd\d+), \[\w+_param_(\d+)\];`)
	fromShared    = regexp.MustCompile(`^mov\.u64\s+(%rd\d+), dynamic_shared;`)
	// scaled numbers are not addresses
	moved    = regexp.MustCompile(`^(?:mov|add|sub|selp|cvta)\.[a-z0-9.]+\s+(%rd\d+), ([^\[]*);`)
	scaled   = regexp.MustCompile(`^mad\.[a-z0-9.]+\s+(%rd\d+), [^,]*, [^,]*, (%rd\d+);`)
	access   = regexp.MustCompile(`^(ld|st|atom|red)\.(\S+)\s.*?\[(%rd\d+)`)
	register = regexp.MustCompile(`%rd\d+`)
)

// origins returns, as bits, which parameters the address in each 64-bit register may come from; the last bit is shared
// memory.
func origins(instructions []string) map[string]uint64 {
	from := map[string]uint64{}
	type copied struct {
		to string
		of []string
	}
	var copies []copied
	for _, line := range instructions {
		if m := fromParameter.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			from[m[1]] |= 1 << n
		} else if m := fromShared.FindStringSubmatch(line); m != nil {
			from[m[1]] |= 1 << 63
		} else if m := moved.FindStringSubmatch(line); m != nil {
			copies = append(copies, copied{m[1], register.FindAllString(m[2], -1)})
		} else if m := scaled.FindStringSubmatch(line); m != nil {
			copies = append(copies, copied{m[1], register.FindAllString(m[2], -1)})
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range copies {
			before := from[c.to]
			for _, of := range c.of {
				from[c.to] |= from[of]
			}
			changed = changed || from[c.to] != before
		}
	}
	return from
}

// ld.global.nc may only read memory that the kernel does not write: it goes through a cache that is not coherent within
// the kernel.
func TestNothingReadOnlyIsWritten(t *testing.T) {
	readOnly := 0
	bodies(t, func(kernel string, instructions []string) {
		from := origins(instructions)
		var read, written uint64
		var unknown []string
		for _, line := range instructions {
			m := access.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(m[2], "shared") || strings.HasPrefix(m[2], "param") {
				continue
			}
			of := from[m[3]]
			switch nc := strings.HasPrefix(m[2], "global.nc"); {
			case m[1] == "ld" && !nc:
				continue
			case of == 0:
				unknown = append(unknown, line)
			case nc:
				read |= of
				readOnly++
			default:
				written |= of
			}
		}
		if both := read & written; both != 0 {
			t.Errorf("%s reads with ld.global.nc what it writes: parameters %b", kernel, both)
		}
		if read != 0 && len(unknown) > 0 {
			t.Errorf("%s: cannot tell which parameter %q come from", kernel, unknown)
		}
	})
	if readOnly < 100 {
		t.Errorf("%d read-only loads: expected hundreds", readOnly)
	}
}
