package lines

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"
)

// The height of frames is chosen by the images that listings name, and those that cannot be read do not count.
func TestMedianHeight(t *testing.T) {
	pages, listing := map[string]image.Image{}, "lost.png\tx\nno tab\n../out.png\tx\n"
	for k, height := range []int{10, 12, 40, 44, 48} {
		name := fmt.Sprintf("%d.png", k)
		pages[name] = page(20, height, 3)
		listing += name + "\ta\n"
	}
	pages["unlisted.png"] = page(20, 500, 3)
	dir := folder(t, listing, pages)
	if got := MedianHeight(dir); got != 40 {
		t.Errorf("median height %d, expected 40", got)
	}
	other := folder(t, "a.png\ta\nb.png\ta\nc.png\ta\n",
		map[string]image.Image{"a.png": page(9, 60, 1), "b.png": page(9, 60, 1), "c.png": page(9, 60, 1)})
	if got := MedianHeight(dir, other); got != 48 {
		t.Errorf("median height %d of two folders, expected 48", got)
	}
	if got := MedianHeight(filepath.Join(t.TempDir(), "none")); got != 0 {
		t.Errorf("median height %d of nothing", got)
	}
	if err := os.WriteFile(filepath.Join(dir, Listing), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := MedianHeight(dir); got != 0 {
		t.Errorf("median height %d of no lines", got)
	}
}
