package registry

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/transcript"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// Labels of the frames of lines, which read as strings.
var _ = builtin(Kind{Structure: transcripts.Frames{}, Oracle: func() oracles.Maximiser { return transcript.New() },
	Small: transcripts.Small})
