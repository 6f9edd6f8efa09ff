package lines

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// measured is how many images of a folder MedianHeight looks at.
const measured = 300

// MedianHeight returns the median height, in pixels, of the images that the listings of folders name, as far as they
// can be read; 0 if there are none.
func MedianHeight(folders ...string) int {
	var all []int
	for _, dir := range folders {
		names := listed(dir)
		for k := range min(len(names), measured) {
			if h, err := images.ReadHeader(filepath.Join(dir, names[k*len(names)/min(len(names), measured)])); err == nil {
				all = append(all, h.Height)
			}
		}
	}
	return median(all)
}

// listed returns the names of images in a folder's Listing. What is wrong with it, ReadFolder says.
func listed(dir string) (names []string) {
	f, err := host.Open(filepath.Join(dir, Listing))
	if err != nil {
		return nil
	}
	defer f.Close()
	for in := host.NewLines(f, Listing); ; {
		line, ok := in.Next()
		if !ok {
			return names
		}
		if name, _, found := strings.Cut(string(line), "\t"); found && filepath.IsLocal(name) {
			names = append(names, name)
		}
	}
}

// median returns the upper median, and 0 of nothing.
func median(all []int) int {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
