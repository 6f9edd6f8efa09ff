// Command compile regenerates the PTX, in cuda/devicecode/ptx, of kernels whose source has changed (make kernels). It
// needs clang 16 or later, named by the environment variable CLANG (clang-16), and no CUDA toolkit.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dsp-go/dsp/cuda/devicecode"
)

func main() {
	if err := compile(filepath.Join("cuda", "devicecode")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compile(folder string) error {
	sources, err := devicecode.Sources(folder)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, source := range sources {
		stamp, err := devicecode.Stamp(source)
		if err != nil {
			return err
		}
		target := filepath.Join(folder, "ptx", devicecode.ModuleOf(source)+".ptx")
		wanted[target] = true
		if old, err := os.ReadFile(target); err == nil && bytes.HasPrefix(old, []byte(stamp+"\n")) {
			continue
		}
		fmt.Println(source)
		ptx, err := assemble(source)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if err := os.WriteFile(target, append([]byte(stamp+"\n"), ptx...), 0o644); err != nil {
			return err
		}
	}
	targets, err := filepath.Glob(filepath.Join(folder, "ptx", "*.ptx"))
	if err != nil {
		return err
	}
	for _, t := range targets {
		if !wanted[t] { // its source was deleted
			if err := os.Remove(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// assemble compiles to PTX for sm_80. Contraction is off: kernels call fma where they want fused multiply-adds.
func assemble(source string) ([]byte, error) {
	clang := os.Getenv("CLANG")
	if clang == "" {
		clang = "clang-16"
	}
	cmd := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
		"-Xclang", "-target-feature", "-Xclang", "+ptx78", "-nocudainc", "-nocudalib",
		"-std=c++17", "-O3", "-ffp-contract=off", "-Wall", "-Wno-unknown-cuda-version", "-Wno-unused-function", "-I",
		devicecode.Include(source), "-S", source, "-o", "-")
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
