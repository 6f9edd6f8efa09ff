package formats

import "github.com/dsp-go/dsp/models/data/lines"

// Lines is the name of the format.
const Lines = "lines"

// A folder of images of lines, with what they read in a file.
var _ = builtin(Format{
	Name:     Lines,
	Holds:    "a folder of images of lines, and what they read in " + lines.Listing,
	Tasks:    []string{"transcribe"},
	IsFolder: lines.IsFolder,
	Listing:  lines.Listing,
	ByTask:   true,
})
