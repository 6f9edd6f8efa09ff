package packed

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// mostTaken is what a small crafted pack may take: its mapping is not of the heap.
const mostTaken = 8 << 20

// taking returns the bytes that do allocates.
func taking(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A pack whose offsets claim more than it holds is refused before memory is taken for the claim. Its checksum is right,
// since an attacker can compute it.
func TestOffsetsThatPromise(t *testing.T) {
	whole := encoded(t, everything())
	_, places, err := safetensors.Index(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	path, tried := filepath.Join(t.TempDir(), "x.pack"), 0
	for _, p := range places {
		if p.DType != "I64" || p.Name == lines {
			continue
		}
		for _, end := range []uint64{1 << 28, 1<<31 - 1, 1 << 39, 1 << 62} {
			b := bytes.Clone(whole)
			binary.LittleEndian.PutUint64(b[p.End-8:], end)
			resum(b)
			bytes := taking(func() { err = read(t, path, b, func(*structured.Dataset) {}) })
			if tried++; !structured.IsBadInput(err) || bytes > mostTaken {
				t.Errorf("%s ends at %d: %v, with %d bytes", p.Name, end, err, bytes)
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d packs were crafted", tried)
	}
}

// Any bytes with a right checksum are bad input or data, in little memory.
func FuzzPack(f *testing.F) {
	before := debug.SetMemoryLimit(256 << 20)
	f.Cleanup(func() { debug.SetMemoryLimit(before) })
	whole := encoded(f, everything())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	path := filepath.Join(f.TempDir(), "x.pack")
	f.Fuzz(func(t *testing.T, b []byte) {
		if b = bytes.Clone(b); len(b) > 12 {
			resum(b)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var err error
		bytes := taking(func() { err = read(t, path, b, func(d *structured.Dataset) { _ = d.Subset([]int{0}) }) })
		if err != nil && !structured.IsBadInput(err) {
			t.Error(err)
		}
		if bytes > mostTaken+64*uint64(len(b)) {
			t.Errorf("%d bytes were read into %d", len(b), bytes)
		}
	})
}
