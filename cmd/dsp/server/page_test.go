package server

import (
	"context"
	"encoding/base64"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/training"
)

// The page shows an answer of every task with its picture, in a browser without a window. The test needs Chromium.
func TestPageShowsEveryTask(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("there is no Chromium")
	}
	models := append(everyTask(t), "pipeline="+trainedPipeline(t))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(o *Options) { o.Models, o.Timeout = models, time.Minute })
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	defer func() { stop(); <-served }()

	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(flatPNG(48, 32))
	words := url.Values{"word": {"the fox sees"}, "upos": {"DET NOUN VERB"}}
	pair := url.Values{"source": {"the fox"}, "target": {"der Fuchs"}}
	for _, c := range []struct {
		task string
		give url.Values
		want []string // of the page's result
	}{
		{"tag", url.Values{"text": {"The fox sees."}}, []string{`class="token"`, "<b>fox</b>", "Score"}},
		{"parse", words, []string{`<svg class="arcs"`, ">fox</text>", "<path", "<td>root</td>", "Score"}},
		{"constituency", words, []string{`<svg class="tree"`, ">fox</text>", "<line", "Score"}},
		{"align", pair, []string{`<svg class="links"`, ">Fuchs</text>", "Score"}},
		{"warp", pair, []string{`<svg class="links"`, ">Fuchs</text>", "<line", "Score"}},
		{"graph", url.Values{"json": {`{"node_features": [[1, 2], [0, 1]], "edges": [[0, 1]], "edge_features": [[1, 0, 1]]}`}},
			[]string{`<svg class="graph"`, "<circle", "<line", "Score"}},
		{"localise", url.Values{"image": {picture}}, []string{"<canvas", "pixels", "Score"}},
		{"segment", url.Values{"image": {picture}}, []string{`<img src="data:image/png`, `class="key"`, "Score"}},
		{"transcribe", url.Values{"image": {picture}}, []string{"<img", `class="transcript"`, "Score"}},
		{"pipeline", url.Values{"text": {"the fox sees. the dog barks."}}, []string{`<svg class="arcs"`, "<th>upos</th>", "<td>the</td>", ">fox</text>"}},
	} {
		t.Run(c.task, func(t *testing.T) {
			c.give.Set("model", c.task)
			profile := t.TempDir()
			command := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
				"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+profile,
				"--virtual-time-budget=20000", "--dump-dom", "http://"+l.Addr().String()+"/#"+c.give.Encode())
			command.Env = append(os.Environ(), "HOME="+profile)
			page, err := command.Output()
			if err != nil {
				t.Fatal(err)
			}
			_, result, _ := strings.Cut(string(page), `<section id="out"`)
			result, _, _ = strings.Cut(result, "<script>")
			for _, want := range c.want {
				if !strings.Contains(result, want) {
					t.Fatalf("%q is not in the page's result:\n%.3000s", want, result)
				}
			}
			if _, said, _ := strings.Cut(result, `role="alert">`); !strings.HasPrefix(said, "</div>") {
				t.Errorf("the page says: %.200s", said)
			}
		})
	}
}

// trainedPipeline returns the folder of a pipeline that was trained on a few sentences, once.
func trainedPipeline(t *testing.T) string {
	t.Helper()
	path, err := pipelineTrained()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var pipelineTrained = sync.OnceValues(func() (string, error) {
	const sentence = "# text = the fox sees.\n1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tfox\tfox\tNOUN\t_\t_\t3\tnsubj\t_\t_\n" +
		"3\tsees\tsee\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
	file := filepath.Join(folder, "trees.conllu")
	if err := os.WriteFile(file, []byte(strings.Repeat(sentence, 8)), 0o666); err != nil {
		return "", err
	}
	c := config.Default()
	c.Task, c.Train, c.Passes, c.Out, c.Quiet = "pipeline", file, 2, filepath.Join(folder, "pipeline"), true
	_, err := pipelines.Train(context.Background(), c, training.TrainOptions{})
	return c.Out, err
})
