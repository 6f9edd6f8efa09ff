package formats

import (
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/structured"
)

// coco is COCO's file of images with boxes of objects.
var coco = Format{
	Name:       COCO,
	Extensions: []string{".json"},
	ReadBoxes:  func(path string, o localisation.Options) (*structured.Dataset, error) { return o.COCO(path) },
}

// voc is PASCAL VOC's folder of annotations, an XML file for each image, or the folder that Annotations and JPEGImages are in.
var voc = Format{
	Name:      VOC,
	IsFolder:  func(path string) bool { return holds(path, "*.xml") || holds(path, "Annotations/*.xml") },
	ReadBoxes: func(path string, o localisation.Options) (*structured.Dataset, error) { return o.VOC(path) },
}

// imageFolder is a folder of images without boxes, to predict on.
var imageFolder = Format{
	Name:      Images,
	IsFolder:  func(path string) bool { return holds(path, "*.[pP][nN][gG]") || holds(path, "*.[jJ][pP]*[gG]") },
	ReadBoxes: func(path string, o localisation.Options) (*structured.Dataset, error) { return o.Folder(path) },
}

// holds reports whether a folder has files of such names.
func holds(dir, pattern string) bool {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	return err == nil && len(files) > 0
}
