package windows_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured/windows"
)

func TestContract(t *testing.T) { oracletest.RunStructures(t, windows.Window{}) }
