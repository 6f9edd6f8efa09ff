// Package devicecode holds the CUDA kernels as .cu sources and, in the folder ptx, the PTX compiled from them. Programs
// built with the tag gpu embed the PTX. The driver compiles it for the device at hand (sm_80 and up).
//
// The sources of a package of cuda, say cuda/cudanets, are in the folder of the same name. A source includes headers
// from its own folder and from the folder include, which all folders share. No two sources have the same name, since a
// name is that of a module.
//
// After a change to a .cu or .cuh file, make kernels recompiles the affected sources; a test refuses PTX that does not
// match its source.
package devicecode

import (
	"bytes"
	"crypto/sha256"
	"errors"
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

// Kernel describes a kernel, as read from its PTX.
type Kernel struct {
	Module     string
	Parameters []string // PTX types: u64 (also for pointers), u32, f32, f64
}

// Set holds kernels in modules, one .ptx file each.
type Set struct {
	folder  fs.FS
	kernels map[string]Kernel
}

// Compiled returns the kernels that are embedded in the program: all of them in a build with the tag gpu, none in
// others.
var Compiled = sync.OnceValues(func() (*Set, error) {
	folder, err := fs.Sub(embedded, "ptx")
	if err != nil {
		return nil, err
	}
	return Read(folder)
})

// Read finds the kernels in the folder's .ptx files. It does not keep their text; PTX reads it again.
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
		// The text has megabytes: a regular expression would take ten times as long.
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

// Lookup returns the kernel with this name; ok is false if there is none.
func (s *Set) Lookup(kernel string) (k Kernel, ok bool) {
	k, ok = s.kernels[kernel]
	return k, ok
}

// Names returns the names of all kernels, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.kernels)) }

// Sources returns the .cu files in the folders of a folder like this package's, sorted.
func Sources(folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(folder, "*", "*.cu"))
}

// ModuleOf returns the name of the module compiled from a .cu file.
func ModuleOf(source string) string { return strings.TrimSuffix(filepath.Base(source), ".cu") }

// Include returns the folder of the headers that a .cu file shares with those of other folders.
func Include(source string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(source)), "include")
}

// Stamp returns the first line of the PTX of a .cu file, which holds a hash of the file and the headers that it
// includes.
func Stamp(file string) (string, error) {
	h := sha256.New()
	folders := []string{filepath.Dir(file), Include(file)}
	seen := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		text, err := readFirst(folders, name)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		for _, m := range include.FindAllSubmatch(text, -1) {
			if err := add(string(m[1])); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(filepath.Base(file)); err != nil {
		return "", err
	}
	return fmt.Sprintf("// %s and its headers, SHA-256 %x", filepath.Base(file), h.Sum(nil)), nil
}

// readFirst reads the file with this name in the first of the folders that has it.
func readFirst(folders []string, name string) (text []byte, err error) {
	for _, folder := range folders {
		text, err = os.ReadFile(filepath.Join(folder, name))
		if !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, err
}
