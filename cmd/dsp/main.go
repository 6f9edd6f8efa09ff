// Command dsp trains deep structured predictors and uses them: dsp --help lists its verbs. Package cli has them.
package main

import (
	"os"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	_ "github.com/dsp-go/dsp/structured/sys/arenas" // before all others
)

func main() { os.Exit(cli.Main()) }
