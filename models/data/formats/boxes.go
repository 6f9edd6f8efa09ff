package formats

import (
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// COCO's file of images with boxes of objects.
var _ = builtin(Format{
	Name:       "coco",
	Holds:      "a JSON file with boxes of objects in images",
	Tasks:      []string{"localise"},
	Takes:      boxSettings,
	Extensions: []string{".json"},
	ReadBoxes:  func(path string, o localisation.Options) (*structured.Dataset, error) { return o.COCO(path) },
})

// boxSettings have an effect on images with boxes.
var boxSettings = []string{"boxes", "images", "strict", "candidate-pixels", "candidates", "features"}

// PASCAL VOC's folder of annotations, an XML file for each image, or the folder that Annotations and JPEGImages are in.
var _ = builtin(Format{
	Name:      "voc",
	Holds:     "a folder of XML files with boxes of objects in images",
	Tasks:     []string{"localise"},
	Takes:     boxSettings,
	IsFolder:  isVOC,
	ReadBoxes: func(path string, o localisation.Options) (*structured.Dataset, error) { return o.VOC(path) },
})

func isVOC(path string) bool {
	return holds(path, "*.xml") || holds(filepath.Join(path, "Annotations"), "*.xml")
}

// Images is the name of the format.
const Images = "images"

// A folder of images without boxes, or one image, to predict on.
var _ = builtin(Format{
	Name:       Images,
	Holds:      "a folder of images, with masks in another or none, or one image",
	Tasks:      []string{"localise", "segment"},
	Takes:      []string{"masks", "void", "mask-values", "label-names", "features"},
	Extensions: images.Kinds,
	IsFolder: func(path string) bool {
		return !isVOC(path) && !lines.IsFolder(path) && (holds(path, "*.[pP][nN][gG]") || holds(path, "*.[jJ][pP]*[gG]"))
	},
	ReadBoxes: func(path string, o localisation.Options) (*structured.Dataset, error) { return o.Folder(path) },
})

// holds reports whether a folder has files of such names.
func holds(dir, pattern string) bool {
	files, err := host.FilesIn(dir, pattern)
	return err == nil && len(files) > 0
}
