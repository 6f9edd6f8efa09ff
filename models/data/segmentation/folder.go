package segmentation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Folder is a Source of images in a folder and masks in another. A mask has the name of its image, but for the ending.
type Folder struct {
	name          string
	images, masks string   // folders; masks may be ""
	ids           []string // sorted
	files         []string // of the images, without the folder
	maskFiles     []string // nil without masks
}

// OpenFolder lists the images of a folder, sorted by name, or one image, and the masks of another; masksIn is "" for
// images without masks. Files that end neither in .png nor, for images, in .jpg or .jpeg do not count. It is bad input
// if an image has no mask, a mask no image (but where one image is read), or two files the same name. Where bad
// examples are left out, so are images without masks, and masks may be those of other images.
func OpenFolder(imagesIn, masksIn string, say *remarks.Remarks) (*Folder, error) {
	dir, files, err := images.Files(imagesIn)
	if err != nil {
		return nil, err
	}
	f := &Folder{name: imagesIn, images: dir, masks: masksIn}
	byID, err := named(files, imagesIn)
	if err != nil {
		return nil, err
	}
	for id := range byID {
		f.ids = append(f.ids, id)
	}
	slices.Sort(f.ids)
	if masksIn == "" {
		for _, id := range f.ids {
			f.files = append(f.files, byID[id])
		}
		return f, nil
	}
	if filepath.Clean(dir) == filepath.Clean(masksIn) {
		return nil, structured.BadInput("%s: the folder of both images and masks, expected two folders with "+
			"files of the same names", dir)
	}
	maskByID, err := list(masksIn)
	if err != nil {
		return nil, err
	}
	all := f.ids
	f.ids = nil
	for _, id := range all {
		file, there := maskByID[id]
		if !there {
			if err := say.Bad(structured.BadInput("%s: no mask, expected %s", filepath.Join(dir, byID[id]),
				filepath.Join(masksIn, id+".png"))); err != nil {
				return nil, err
			}
			continue
		}
		f.ids, f.files, f.maskFiles = append(f.ids, id), append(f.files, byID[id]), append(f.maskFiles, file)
		delete(maskByID, id)
	}
	if one := filepath.Clean(dir) != filepath.Clean(imagesIn); one || say.Skips() { // masks of other images
		return f, nil
	}
	without := ""
	for id, file := range maskByID {
		if _, there := byID[id]; !there && (without == "" || file < without) {
			without = file
		}
	}
	if without != "" {
		return nil, structured.BadInput("%s: no image of that name in %s, expected one ending in %s",
			filepath.Join(masksIn, without), imagesIn, strings.Join(images.Kinds, ", "))
	}
	return f, nil
}

// list returns the masks in a folder, by their names without the ending. Hidden files do not count.
func list(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, structured.BadInput("%w, expected a folder of masks", err)
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && name[0] != '.' && strings.EqualFold(filepath.Ext(name), maskKind) {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil, structured.BadInput("%s: no masks, expected files ending in %s", dir, maskKind)
	}
	return named(files, dir)
}

const maskKind = ".png"

// named returns files of a folder by their names without the ending.
func named(files []string, dir string) (map[string]string, error) {
	byID := map[string]string{}
	for _, name := range files {
		id := strings.TrimSuffix(name, filepath.Ext(name))
		if other, twice := byID[id]; twice {
			return nil, structured.BadInput("%s: has both %s and %s, expected one file per name", dir, other, name)
		}
		byID[id] = name
	}
	return byID, nil
}

func (f *Folder) Name() string { return f.name }

func (f *Folder) Len() int { return len(f.ids) }

func (f *Folder) Masks() bool { return f.maskFiles != nil }

// Values returns the values in the masks, of all of them or of as many as are enough. Masks that cannot be read have
// none: Load says why.
func (f *Folder) Values(ctx context.Context, threads int,
	enough func(*masks.Found) bool) (found masks.Found, err error) {
	if f.maskFiles == nil {
		return found, nil
	}
	read := func(_ struct{}, file string) (*masks.Mask, error) {
		m, err := masks.Read(filepath.Join(f.masks, file))
		if err != nil {
			return &masks.Mask{}, nil
		}
		return m, nil
	}
	all := errors.New("found")
	err = host.InOrder(ctx, threads, host.Each(f.maskFiles), host.None, read, func(m *masks.Mask) error {
		if found.Add(m); enough(&found) {
			return all
		}
		return nil
	})
	if errors.Is(err, all) {
		err = nil
	}
	return found, err
}

// Load implements Source. Unreadable files, and a mask whose size is not the image's, are bad input.
func (f *Folder) Load(i int) (Example, error) {
	path := filepath.Join(f.images, f.files[i])
	m, err := images.Read(path)
	if err != nil || f.maskFiles == nil {
		return Example{ID: f.ids[i], Image: m, Place: path}, err
	}
	maskPath := filepath.Join(f.masks, f.maskFiles[i])
	mask, err := masks.Read(maskPath)
	if err != nil {
		return Example{}, err
	}
	if err := mask.Fit(m.Header(), maskPath, path); err != nil {
		return Example{}, err
	}
	return Example{f.ids[i], m, mask, maskPath}, nil
}
