// Package arraystest reads arrays of NumPy, for tests of what writes them. Its reader is another than that of package
// arrays.
package arraystest

import (
	"archive/zip"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// Read returns an array of an archive, and its shape.
func Read[E any](t *testing.T, path, name string) ([]E, []int) {
	t.Helper()
	r, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var data []E
	if err := r.Read(name+".npy", &data); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data, r.Header(name + ".npy").Descr.Shape
}

// Names returns the names of the arrays of an archive, sorted.
func Names(t *testing.T, path string) (all []string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		all = append(all, strings.TrimSuffix(f.Name, ".npy"))
	}
	slices.Sort(all)
	return all
}
