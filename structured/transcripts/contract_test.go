package transcripts_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/transcripts"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, transcripts.Frames{}) }
