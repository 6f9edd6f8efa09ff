// Package kernels holds the CUDA kernels: a readable .cu source each, and the PTX that is made of it, which is part of
// programs built with the tag gpu. The driver compiles PTX for the device at hand (sm_80 and up).
//
// After a change of a .cu or .cuh file, make kernels compiles again what the change concerns; a test refuses PTX that does
// not belong to its source.
package kernels

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	entry     = []byte("\n.visible .entry ")
	parameter = regexp.MustCompile(`\.param \.(\w+) `)
	include   = regexp.MustCompile(`(?m)^#include "(\w+\.cuh)"`)
)

// Kernel is what its PTX tells about a kernel.
type Kernel struct {
	Module     string
	Parameters []string // PTX types: u64 for pointers, too, u32, f32, f64
}

// Set holds kernels in modules, one .ptx file each.
type Set struct {
	folder  fs.FS
	kernels map[string]Kernel
}

// Compiled returns the kernels that are part of the program: all of them in a build with the tag gpu, none in others.
var Compiled = sync.OnceValues(func() (*Set, error) { return Read(embedded) })

// Read finds the kernels in the folder's .ptx files. It keeps no text: PTX reads that of a module again.
func Read(folder fs.FS) (*Set, error) {
	files, err := fs.Glob(folder, "*.ptx")
	if err != nil {
		return nil, err
	}
	s := &Set{folder, map[string]Kernel{}}
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		// Text of megabytes: a regular expression would take ten times as long.
		for _, text, found := bytes.Cut(text, entry); found; _, text, found = bytes.Cut(text, entry) {
			name, after, _ := bytes.Cut(text, []byte("("))
			list, _, _ := bytes.Cut(after, []byte(")"))
			k := Kernel{Module: strings.TrimSuffix(file, ".ptx")}
			for _, p := range parameter.FindAllSubmatch(list, -1) {
				k.Parameters = append(k.Parameters, string(p[1]))
			}
			s.kernels[string(name)] = k
		}
	}
	return s, nil
}

// PTX returns the text of a module.
func (s *Set) PTX(module string) (string, error) {
	text, err := fs.ReadFile(s.folder, module+".ptx")
	return string(text), err
}

// Lookup returns the kernel of that name; ok is false where there is none.
func (s *Set) Lookup(kernel string) (k Kernel, ok bool) {
	k, ok = s.kernels[kernel]
	return k, ok
}

// Names returns the names of all kernels, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.kernels)) }

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
