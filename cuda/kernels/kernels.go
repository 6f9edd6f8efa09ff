// Package kernels holds the CUDA kernels: a readable .cu source each, and the PTX that is made of it, which is part of the
// program. The driver compiles PTX for the device at hand (sm_80 and up).
//
// After a change of a .cu or .cuh file, make kernels compiles again what the change concerns; a test refuses PTX that does
// not belong to its source.
package kernels

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.ptx
var compiled embed.FS

var (
	entry     = []byte("\n.visible .entry ")
	parameter = regexp.MustCompile(`\.param \.(\w+) `)
	include   = regexp.MustCompile(`(?m)^#include "(\w+\.cuh)"`)
)

// Modules returns the PTX of every module, by name.
func Modules() map[string][]byte {
	modules := map[string][]byte{}
	files, err := compiled.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, f := range files {
		text, err := compiled.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		modules[strings.TrimSuffix(f.Name(), ".ptx")] = text
	}
	return modules
}

// Kernel is what its PTX tells about a kernel.
type Kernel struct {
	Module     string
	Parameters []string // PTX types: u64 for pointers, too, u32, f32, f64
}

// all reads megabytes of PTX, which asks for less than a regular expression.
var all = sync.OnceValue(func() map[string]Kernel {
	all := map[string]Kernel{}
	for module, text := range Modules() {
		for _, text, found := bytes.Cut(text, entry); found; _, text, found = bytes.Cut(text, entry) {
			name, after, _ := bytes.Cut(text, []byte("("))
			list, _, _ := bytes.Cut(after, []byte(")"))
			k := Kernel{Module: module}
			for _, p := range parameter.FindAllSubmatch(list, -1) {
				k.Parameters = append(k.Parameters, string(p[1]))
			}
			all[string(name)] = k
		}
	}
	return all
})

// Lookup returns the kernel of that name; ok is false where there is none.
func Lookup(kernel string) (k Kernel, ok bool) {
	k, ok = all()[kernel]
	return k, ok
}

// Module returns the name of the module that a kernel is in; ok is false where there is none.
func Module(kernel string) (name string, ok bool) {
	k, ok := Lookup(kernel)
	return k.Module, ok
}

// Names returns the names of all kernels, sorted.
func Names() []string {
	var names []string
	for k := range all() {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// Stamp is the first line of PTX that belongs to the source file, a .cu with the headers that it includes.
func Stamp(file string) (string, error) {
	h := sha256.New()
	seen := map[string]bool{}
	var add func(file string) error
	add = func(file string) error {
		if seen[file] {
			return nil
		}
		seen[file] = true
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(text), text)
		for _, m := range include.FindAllSubmatch(text, -1) {
			if err := add(filepath.Join(filepath.Dir(file), string(m[1]))); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(file); err != nil {
		return "", err
	}
	return fmt.Sprintf("// %s and its headers, SHA-256 %x", filepath.Base(file), h.Sum(nil)), nil
}
