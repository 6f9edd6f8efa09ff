package main

import (
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/netstest"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docs/guide/own-network.md shows the functions of this program as they are.
func TestPageShowsThisProgram(t *testing.T) {
	code, page := read(t, "main.go"), read(t, "../guide/own-network.md")
	if !strings.Contains(page, code[strings.Index(code, "func mine("):]) {
		t.Error("docs/guide/own-network.md shows other code than main.go")
	}
}

// The stacks in docs/guide/stacks.md make networks. Its first one is a file of its commands, which guide's tests run.
func TestStacksOfDocs(t *testing.T) {
	page := read(t, "../guide/stacks.md")
	stacks := strings.Split(page, "```yaml\n")[1:]
	inputs := []graph.Input{{Dim: 3*16*16 + 25, Map: graph.Map{Channels: 3, Height: 16, Width: 16}}}
	if len(stacks) != len(inputs) {
		t.Fatalf("%d stacks in docs/guide/stacks.md, expected %d", len(stacks), len(inputs))
	}
	for i, text := range stacks {
		text, _, _ = strings.Cut(text, "```")
		net, err := nets.New(nets.Config{Net: "stack", Stack: text, StackFile: "docs/guide/stacks.md"}, inputs[i], 3)
		if err != nil {
			t.Fatal(err)
		}
		netstest.CheckNet(t, net)
	}
	for _, name := range nets.StackLayers() {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/guide/stacks.md does not list the layer %s", name)
		}
	}
}
