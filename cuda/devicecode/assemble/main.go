// Command assemble runs NVIDIA's assembler, ptxas, on the kernels' PTX. The variable PTXAS names it; otherwise it is
// looked for on the PATH. PyPI's nvidia-cuda-nvcc-cu12 has it.
//
//	go run ./cuda/devicecode/assemble              # registers, memory, spills and occupancy of each kernel (make kernels-report)
//	go run ./cuda/devicecode/assemble -to FOLDER   # cubins for devicecode.Architectures, where DSP_CUDA_CUBINS finds them
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cuda/devicecode"
)

func main() {
	to := flag.String("to", "", "folder for cubins; without it, a report is printed")
	flag.Parse()
	if err := run(*to); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// reported is the architecture of the report.
const reported = "sm_90"

func run(to string) error {
	ptxas, err := find()
	if err != nil {
		return err
	}
	modules, err := filepath.Glob(filepath.Join("cuda", "devicecode", "ptx", "*.ptx"))
	if err != nil {
		return err
	}
	if to == "" {
		return report(ptxas, modules)
	}
	for _, architecture := range devicecode.Architectures {
		for _, module := range modules {
			text, err := os.ReadFile(module)
			if err != nil {
				return err
			}
			file := filepath.Join(to,
				devicecode.CubinFile(architecture, strings.TrimSuffix(filepath.Base(module), ".ptx"), string(text)))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if _, err := assemble(ptxas, architecture, module, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the path of ptxas.
func find() (string, error) {
	if named := os.Getenv("PTXAS"); named != "" {
		return named, nil
	}
	path, err := exec.LookPath("ptxas")
	if err != nil {
		return "", fmt.Errorf("%w; set PTXAS to NVIDIA's assembler", err)
	}
	return path, nil
}

// assemble makes a cubin of a module and returns what its kernels use.
func assemble(ptxas, architecture, module, cubin string) ([]usage, error) {
	said, err := exec.Command(ptxas, "-v", "-arch="+architecture, module, "-o", cubin).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s for %s: %w\n%s", module, architecture, err, said)
	}
	used, err := usages(string(said))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	text, err := os.ReadFile(module)
	if err != nil {
		return nil, err
	}
	for i := range used {
		used[i].threads = largestBlock(text, used[i].kernel)
	}
	return used, nil
}

// usage is what a kernel needs, as ptxas -v says.
type usage struct {
	kernel            string
	registers         int // per thread
	shared            int // static bytes: dynamic shared memory comes with the launch
	stack             int // bytes per thread
	stores, loads     int // bytes of spilled registers
	threads           int // of the largest block that the kernel allows, or of a usual one
	blocks, occupancy int // blocks on a multiprocessor by their registers, and its busy threads, %
}

var (
	compiling = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	spilled   = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registers = regexp.MustCompile(`Used (\d+) registers`)
	static    = regexp.MustCompile(`(\d+) bytes smem`)
)

// usages reads what ptxas -v says.
func usages(said string) (all []usage, err error) {
	for _, part := range strings.Split(said, "Compiling entry function")[1:] {
		name := compiling.FindStringSubmatch("Compiling entry function" + part)
		spills, used := spilled.FindStringSubmatch(part), registers.FindStringSubmatch(part)
		if name == nil || spills == nil || used == nil {
			return nil, fmt.Errorf("ptxas says %q, expected spills and registers", part)
		}
		u := usage{kernel: name[1]}
		for i, to := range []*int{&u.stack, &u.stores, &u.loads} {
			*to, _ = strconv.Atoi(spills[i+1])
		}
		u.registers, _ = strconv.Atoi(used[1])
		if smem := static.FindStringSubmatch(part); smem != nil {
			u.shared, _ = strconv.Atoi(smem[1])
		}
		all = append(all, u)
	}
	return all, nil
}

// largestBlock returns the bound that a kernel's PTX sets for the threads of a block, or the usual block where it sets
// none.
func largestBlock(ptx []byte, kernel string) int {
	_, head, _ := bytes.Cut(ptx, []byte(".visible .entry "+kernel+"("))
	head, _, _ = bytes.Cut(head, []byte("{"))
	threads := 256
	if _, bound, ok := bytes.Cut(head, []byte(".maxntid ")); ok {
		fmt.Sscan(string(bound), &threads)
	}
	return threads
}

// occupy computes how many of the largest blocks fit a multiprocessor of sm_80 and later: 65,536 registers, which a
// warp takes in units of 256, and 2,048 threads.
func (u *usage) occupy() {
	warps := (u.threads + 31) / 32
	perWarp := (u.registers*32 + 255) / 256 * 256
	u.blocks = min(65536/(perWarp*warps), 2048/(32*warps), 32)
	u.occupancy = 100 * u.blocks * warps * 32 / 2048
}

// report prints what every kernel uses, those with the most registers first.
func report(ptxas string, modules []string) error {
	var all []usage
	for _, module := range modules {
		used, err := assemble(ptxas, reported, module, os.DevNull)
		if err != nil {
			return err
		}
		all = append(all, used...)
	}
	slices.SortStableFunc(all, func(a, b usage) int { return b.registers - a.registers })
	fmt.Printf("%-32s %9s %7s %7s %7s %7s %10s\n", "kernel, "+reported, "registers", "shared", "stack",
		"spilled", "threads", "occupancy")
	for _, u := range all {
		u.occupy()
		fmt.Printf("%-32s %9d %7d %7d %7d %7d %8d %%\n", u.kernel, u.registers, u.shared, u.stack,
			u.stores+u.loads, u.threads, u.occupancy)
	}
	fmt.Printf("%d kernels. Shared memory is that which a kernel always has; threads are those of the largest block, "+
		"256 where there is no bound, and occupancy is by registers.\n", len(all))
	return nil
}
