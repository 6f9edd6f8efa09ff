package endtoend

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// served is a running server.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // ends in /
	stderr *bytes.Buffer
	once   sync.Once
}

// serve starts a server on a free port and stops it when the test ends.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("signals stop the server")
	}
	s := &served{t: t, cmd: exec.Command(binary, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...), stderr: &bytes.Buffer{}}
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var at struct{ URL string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("no address: %v\n%s", err, s.stderr)
	}
	s.url = at.URL
	t.Cleanup(s.stop)
	return s
}

// stop sends SIGTERM and waits.
func (s *served) stop() {
	s.once.Do(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.wait()
	})
}

// wait waits for the end of a server that was told to stop: it must exit with code 0 and without a stack trace.
func (s *served) wait() {
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("serve: %v\n%s", err, s.stderr)
	}
	if strings.Contains(s.stderr.String(), "goroutine ") || strings.Contains(s.stderr.String(), "internal error") {
		s.t.Errorf("serve: %s", s.stderr)
	}
}

// post sends a body and returns the code and the text of the answer.
func (s *served) post(path, body string) (int, string) {
	s.t.Helper()
	return s.send(http.MethodPost, path, "application/json", body)
}

func (s *served) get(path string) (int, string) {
	s.t.Helper()
	return s.send(http.MethodGet, path, "", "")
}

func (s *served) send(method, path, kind, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, string(text)
}

// refuses fails the test unless a body is answered with a code and a reason.
func (s *served) refuses(code int, path, body string, fragments ...string) {
	s.t.Helper()
	got, text := s.post(path, body)
	var reason struct{ Error string }
	if err := json.Unmarshal([]byte(text), &reason); err != nil || got != code {
		s.t.Errorf("POST %s %.60s: %d %s, expected %d", path, body, got, text, code)
	}
	for _, f := range fragments {
		if !strings.Contains(reason.Error, f) {
			s.t.Errorf("POST %s %.60s: %s, expected %q", path, body, text, f)
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks splits a file into blocks of lines of fields.
func blocks(t *testing.T, path string) [][][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][][]string
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var lines [][]string
		for line := range strings.Lines(block) {
			lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
		all = append(all, lines)
	}
	return all
}

// same fails the test unless the answers are what predict prints for the same examples.
func (s *served) same(model, path, query string, objects []string, flags ...string) {
	s.t.Helper()
	want := dsp(s.t, append([]string{"predict", "--json", "--model", model, "--input", path}, flags...)...).ok().stdout
	code, got := s.post("predict/"+filepath.Base(model)+query, strings.Join(objects, "\n"))
	if code != http.StatusOK || got != want {
		s.t.Errorf("%s%s: %d\n%.300s\npredict prints\n%.300s", model, query, code, got, want)
	}
	if len(objects) > 1 { // alone, without a name in the data, an example has number 0
		_, alone := s.post("predict/"+filepath.Base(model)+query, objects[1])
		if second := strings.Replace(strings.SplitAfter(want, "\n")[1], `{"id":"1"`, `{"id":"0"`, 1); alone != second {
			s.t.Errorf("%s%s, one example: %.300s\npredict prints\n%.300s", model, query, alone, second)
		}
	}
}

// The answer to a line is what predict prints for that example, for every task.
func TestServeAnswersLikePredict(t *testing.T) {
	t.Parallel()
	parse, pairs, ocr, graph := filepath.Join(drawnTrees(t), "test.conllu"), filepath.Join(drawnPairs(t), "test.pairs"), reader(t), filepath.Join(t.TempDir(), "graph")
	graphs := drawnGraphs(t, "graphs.npz", 10, 3, 1)
	dsp(t, "train", "--task", "graph", "--train", graphs, "--quiet", "--passes", "3", "--out", graph).ok()
	s := serve(t, "--model", tagger(t), "--model", parser(t), "--model", aligner(t), "--model", ocr, "--model", locator(t), "--model", finder(t), "--model", graph)

	text := write(t, "text.conll", sentences)
	var objects []string
	for _, block := range blocks(t, text) {
		var words []string
		for _, fields := range block {
			words = append(words, fields[0])
		}
		objects = append(objects, asJSON(t, map[string]any{"words": words}))
	}
	s.same(tagger(t), text, "", objects)
	s.same(tagger(t), text, "?nbest=2&marginals&confidence=true", objects, "--nbest", "2", "--marginals", "--confidence")
	s.same(tagger(t), text, "?spans&min_probability=0.01", objects, "--spans", "--min-probability", "0.01")
	s.same(tagger(t), text, "?decode=risk", objects, "--decode", "risk")
	if code, got := s.post("predict/tagger", `{"id": "mine", "text": "the fox runs"}`); code != http.StatusOK ||
		!strings.HasPrefix(got, `{"id":"mine","labels":[`) || !strings.HasSuffix(got, `,"offsets":[[0,3],[4,7],[8,12]],"words":["the","fox","runs"]}`+"\n") {
		t.Errorf("raw text: %d %s", code, got)
	}
	raw := "The red fox. It runs\n\nto Mr. Fox."
	if code, got := s.post("predict/tagger?spans", asJSON(t, map[string]any{"text": raw})); code != http.StatusOK || strings.Count(got, "\n") != 3 ||
		got != dspWith(t, raw, "predict", "--model", tagger(t), "--text", "--json", "--spans").ok().stdout {
		t.Errorf("several sentences: %d %s", code, got)
	}
	if _, got := s.post("predict/tagger", asJSON(t, map[string]any{"id": "a", "text": raw})); strings.Count(got, `{"id":"a"`) != 3 {
		t.Errorf("several sentences with a name: %s", got)
	}

	objects = nil
	for _, block := range blocks(t, parse) {
		o := map[string]any{}
		columns := map[string][]string{}
		for _, fields := range block {
			if id, ok := strings.CutPrefix(fields[0], "# sent_id = "); ok {
				o["id"] = id
			}
			if len(fields) == 10 && !strings.ContainsAny(fields[0], "-.") { // a word
				for name, k := range map[string]int{"word": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5} {
					columns[name] = append(columns[name], fields[k])
				}
			}
		}
		o["columns"] = columns
		objects = append(objects, asJSON(t, o))
	}
	s.same(parser(t), parse, "?confidence&nbest=2", objects, "--confidence", "--nbest", "2")

	content, err := os.ReadFile(pairs)
	if err != nil {
		t.Fatal(err)
	}
	objects = nil
	for line := range strings.Lines(string(content)) {
		fields := strings.Split(line, "|||")
		objects = append(objects, asJSON(t, map[string]any{"source": strings.Fields(fields[0]), "target": strings.Fields(fields[1])}))
	}
	s.same(aligner(t), pairs, "?confidence&nbest=2", objects, "--confidence", "--nbest", "2")

	images := t.TempDir()
	objects = nil
	for k := range 3 {
		file, err := os.ReadFile(filepath.Join(drawnObjects(t), "test", fmt.Sprintf("%05d.png", k+1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(images, fmt.Sprintf("%05d.png", k+1)), file, 0o666); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, asJSON(t, map[string]any{"id": fmt.Sprint(k + 1), "image": base64.StdEncoding.EncodeToString(file)}))
		for _, model := range []string{"locator", "finder"} {
			_, inJSON := s.post("predict/"+model, objects[k])
			code, plain := s.send(http.MethodPost, "predict/"+model, "image/png", string(file))
			if got := strings.Replace(plain, `"id":"0"`, fmt.Sprintf(`"id":"%d"`, k+1), 1); code != http.StatusOK || got != inJSON {
				t.Errorf("%s: %d %s, expected %s", model, code, plain, inJSON)
			}
		}
	}
	s.same(locator(t), images, "?nbest=2", objects, "--nbest", "2")
	s.same(finder(t), images, "", objects)

	// One graph of three variables in a chain.
	code, got := s.post("predict/graph?marginals", `{"node_features": [[1, 1], [-2, 1], [0.5, 1]], "edges": [[0, 1], [1, 2]], "edge_features": [[0.5], [0.1]]}`)
	var g struct {
		Labels    []string
		Marginals [][]float64
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil || code != http.StatusOK || len(g.Labels) != 3 || len(g.Marginals) != 3 {
		t.Errorf("graph: %d %s", code, got)
	}
	rows := make([][]float64, 3)
	for k := range rows {
		rows[k] = make([]float64, 128)
		rows[k][5+k] = 1
	}
	if code, got := s.post("predict/"+filepath.Base(ocr), asJSON(t, map[string]any{"features": rows})); code != http.StatusOK || !strings.Contains(got, `"labels":["`) {
		t.Errorf("letters: %d %s", code, got)
	}
}

// Servers keep what is known of labels, links, heads and relations as predict --force does, example by example, and
// only if they are asked to.
func TestServeKeepsWhatIsGiven(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", tagger(t), "--model", aligner(t), "--model", parser(t))
	text := write(t, "known.conll", "the ?\nred B-X\nfox ?\n\nthe O|B-X\nfox O\n")
	objects := []string{`{"words": ["the", "red", "fox"], "labels": ["?", "B-X", "?"]}`, `{"words": ["the", "fox"], "labels": ["O|B-X", "O"]}`}
	s.same(tagger(t), text, "?force&confidence", objects, "--force", "--confidence")
	pairs := write(t, "known.pairs", "naung la . ||| no maintrue . ||| 1-0\nnaung . ||| no . ||| \n")
	s.same(aligner(t), pairs, "?force", []string{`{"source": ["naung", "la", "."], "target": ["no", "maintrue", "."], "links": [[1, 0]]}`,
		`{"source": ["naung", "."], "target": ["no", "."], "links": []}`}, "--force")
	if _, got := s.post("predict/tagger?force", objects[1]); !strings.Contains(got, `"O"]`) {
		t.Errorf("the last label is not kept: %s", got)
	}
	s.refuses(http.StatusBadRequest, "predict/tagger", objects[0], "kept with ?force")
	s.refuses(http.StatusBadRequest, "predict/tagger?force", `{"words": ["the"]}`, `expected "labels", one for each word`)
	s.refuses(http.StatusBadRequest, "predict/tagger?force", `{"words": ["the"], "labels": ["no such"]}`, "no such")
	s.refuses(http.StatusBadRequest, "predict/aligner?force", `{"source": ["a", "b"], "target": ["c"], "links": [[0, 0], [1, 0]]}`, "target word 0 has sure links to source words 0 and 1")
	s.refuses(http.StatusBadRequest, "predict/"+filepath.Base(parser(t))+"?force", `{"words": ["a"], "pos": ["DET"]}`, `expected "heads" or "relations"`)
	trees := write(t, "known.conllu", "1\ta\t_\tNOUN\t_\t_\t2\t_\t_\t_\n2\tb\t_\tVERB\t_\t_\t0|1\tnsubj|root\t_\t_\n\n1\ta\t_\tNOUN\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")
	s.same(parser(t), trees, "?force&confidence", []string{`{"words": ["a", "b"], "pos": ["NOUN", "VERB"], "heads": [2, "0|1"], "relations": ["?", "nsubj|root"]}`,
		`{"words": ["a", "b"], "pos": ["NOUN", "VERB"], "heads": [2, null], "relations": ["det", "_"]}`}, "--force", "--confidence")
	s.refuses(http.StatusBadRequest, "predict/"+filepath.Base(parser(t))+"?force", `{"words": ["a"], "pos": ["DET"], "heads": [7]}`, `head "7"`)
	s.refuses(http.StatusBadRequest, "predict/"+filepath.Base(parser(t)), `{"words": ["a"], "pos": ["DET"], "heads": [0]}`, "kept with ?force")
}

// So they keep labels of the variables of graphs, of letters and of attributes, and masks.
func TestServeKeepsLabelsAndMasks(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), drawnTextures(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	dsp(t, "train", "--task", "graph", "--train", drawnGraphs(t, "graphs.npz", 10, 3, 1), "--quiet", "--passes", "2", "--out", in("graph")).ok()
	dsp(t, "train", "--task", "segment", "--train", filepath.Join(data, "train", "images"), "--masks", filepath.Join(data, "train", "masks"), "--label-names", filepath.Join(data, "labels.txt"),
		"--passes", "2", "--quiet", "--out", in("segment")).ok()
	attributes := write(t, "a.crfsuite", strings.Repeat("O\tw=the\nX\tw=fox\n\n", 3))
	dsp(t, "train", "--train", attributes, "--passes", "2", "--quiet", "--out", in("crf")).ok()
	s := serve(t, "--model", in("graph"), "--model", in("segment"), "--model", in("crf"), "--model", reader(t))

	type answer struct {
		Labels    []string
		Marginals [][]float64
	}
	ask := func(path, object string) (a answer) {
		t.Helper()
		if code, got := s.post(path, object); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, got)
		} else if err := json.Unmarshal([]byte(got), &a); err != nil {
			t.Error(err)
		}
		return a
	}
	const graph = `{"node_features": [[9, 1], [9, 1]], "edges": [[0, 1]], "edge_features": [[1]], "labels": [%s]}`
	for given, want := range map[string]string{`"dry", "?"`: "dry", `"wet", "dry|wet"`: "wet"} {
		if a := ask("predict/graph?force&marginals", fmt.Sprintf(graph, given)); a.Labels[0] != want || len(a.Marginals) != 2 || a.Marginals[0][slices.Index([]string{"dry", "wet"}, want)] != 1 {
			t.Errorf("given %s: %+v", given, a)
		}
	}
	s.refuses(http.StatusBadRequest, "predict/graph?force", fmt.Sprintf(graph, `"dry", "red"`), `label "red" is not one`)
	s.refuses(http.StatusBadRequest, "predict/graph", fmt.Sprintf(graph, `"dry", null`), "kept with ?force")
	for _, label := range []string{"O", "X"} {
		if a := ask("predict/crf?force", fmt.Sprintf(`{"attributes": [["w=the"], ["w=fox"]], "labels": [%q, "?"]}`, label)); a.Labels[0] != label {
			t.Errorf("given %s: %+v", label, a)
		}
	}
	row := strings.TrimSuffix(strings.Repeat("0, ", 128), ", ")
	for _, label := range []string{"b", "q"} {
		if a := ask("predict/"+filepath.Base(reader(t))+"?force", fmt.Sprintf(`{"features": [[%s], [%s]], "labels": [null, %q]}`, row, row, label)); a.Labels[1] != label {
			t.Errorf("given %s: %+v", label, a)
		}
	}

	var objects []string
	for k := range 4 {
		name := fmt.Sprintf("%05d", k+1)
		object := map[string]any{"id": name}
		for member, kind := range map[string]string{"image": "images", "mask": "masks"} {
			file, err := os.ReadFile(filepath.Join(data, "test", kind, name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			object[member] = file
		}
		objects = append(objects, asJSON(t, object))
	}
	images := filepath.Join(data, "test", "images")
	s.same(in("segment"), images, "?force&truncate", objects, "--force", "--truncate", "--masks", filepath.Join(data, "test", "masks"))
	bare := regexp.MustCompile(`,"mask":"[^"]*"`).ReplaceAllString(objects[0], "")
	_, free := s.post("predict/segment?truncate", bare)
	if _, kept := s.post("predict/segment?force&truncate", objects[0]); kept == free {
		t.Error("the mask is not kept")
	}
	if _, metrics := s.get("metrics"); !regexp.MustCompile(`(?m)^dsp_truncated_edges_total\{model="segment"\} [1-9]`).MatchString(metrics) {
		t.Error("/metrics does not count truncated edges")
	}
	broken := regexp.MustCompile(`"mask":"[^"]*"`).ReplaceAllString(objects[0], `"mask":"AAAA"`)
	s.refuses(http.StatusBadRequest, "predict/segment?force", broken, "expected a mask: a PNG image")
	s.refuses(http.StatusBadRequest, "predict/segment?force", bare, `expected a "mask"`)
	s.refuses(http.StatusBadRequest, "predict/segment", objects[0], "kept with ?force")
}

// Attributes of CRFsuite, CoNLL-U, and columns without a name are answered like files that hold them.
func TestServeOtherTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	attributes := write(t, "a.crfsuite", strings.Repeat("O\tw=the\nX\tw=fox\tl:0.5\n\nX\tw=fox\tl:2\nO\tw=runs\n\n", 3))
	columns := write(t, "a.conll", strings.Repeat("the\tt\tO\nfox\tf\tX\n\nfox\tf\tX\nruns\tr\tO\n\n", 3))
	treebank := filepath.Join(drawnTrees(t), "dev.conllu")
	dsp(t, "train", "--train", attributes, "--passes", "2", "--quiet", "--out", in("crf")).ok()
	dsp(t, "train", "--train", columns, "--template", write(t, "t", "U%x[0,word]/%x[0,1]\nB\n"), "--passes", "2", "--quiet", "--out", in("columns")).ok()
	dsp(t, "train", "--train", treebank, "--task", "tag", "--passes", "2", "--quiet", "--out", in("upos")).ok()
	s := serve(t, "--model", in("crf"), "--model", in("columns"), "--model", in("upos"))
	s.same(in("crf"), attributes, "", slices.Repeat([]string{`{"attributes": [["w=the"], ["w=fox", "l:0.5"]]}`, `{"attributes": [["w=fox", "l:2"], ["w=runs"]]}`}, 3))
	s.same(in("columns"), columns, "", slices.Repeat([]string{`{"words": ["the", "fox"], "columns": {"1": ["t", "f"]}}`, `{"columns": {"word": ["fox", "runs"], "1": ["f", "r"]}}`}, 3))
	s.refuses(http.StatusBadRequest, "predict/columns", `{"words": ["the", "fox"]}`, "no column 1")
	plain := write(t, "b.conllu", "1\tthe"+strings.Repeat("\t_", 8)+"\n2\tfox"+strings.Repeat("\t_", 8)+"\n")
	s.same(in("upos"), plain, "", []string{`{"words": ["the", "fox"]}`})
}

// Images of segment models are answered with their labels and, on request, with the mask over the image.
func TestServeMasks(t *testing.T) {
	t.Parallel()
	data, dir := drawnTextures(t), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "segment", "--train", filepath.Join(data, "train", "images"), "--masks", filepath.Join(data, "train", "masks"), "--passes", "3", "--quiet", "--out", dir).ok()
	s := serve(t, "--model", dir)
	file, err := os.ReadFile(filepath.Join(data, "test", "images", "00001.png"))
	if err != nil {
		t.Fatal(err)
	}
	images := t.TempDir()
	if err := os.WriteFile(filepath.Join(images, "00001.png"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	s.same(dir, images, "", []string{asJSON(t, map[string]any{"id": "00001", "image": file})})
	code, got := s.send(http.MethodPost, "predict?overlay", "image/png", string(file))
	var a struct {
		Overlay []byte
		Colours map[string]string
	}
	if err := json.Unmarshal([]byte(got), &a); err != nil || code != http.StatusOK || !bytes.HasPrefix(a.Overlay, []byte("\x89PNG")) || len(a.Colours) == 0 {
		t.Errorf("%d %.200s, %v", code, got, err)
	}
	s.page("model=run&image=data:image/png;base64,"+strings.NewReplacer("+", "%2B", "=", "%3D").Replace(base64.StdEncoding.EncodeToString(file)), `<img src="data:image/png;base64,`, "Score ")
}

// With a token, requests need it; health and the page do not.
func TestServeToken(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "sesame\n")
	s := serve(t, "--model", tagger(t), "--token-file", secret)
	s.refuses(http.StatusUnauthorized, "predict", `{"words": ["the"]}`, "Authorization: Bearer TOKEN")
	for path, want := range map[string]int{"": 200, "v2/health/ready": 200, "v2": 401, "metrics": 401, "v2/models/tagger": 401} {
		if code, _ := s.get(path); code != want {
			t.Errorf("GET /%s: %d, expected %d", path, code, want)
		}
	}
	for token, want := range map[string]int{"sesame": 200, "sesam": 401, "": 401} {
		r, err := http.NewRequest(http.MethodPost, s.url+"predict", strings.NewReader(`{"words": ["the"]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("token %q: %d, expected %d", token, answer.StatusCode, want)
		}
	}
}

// Flags and models that cannot be served are refused at the start.
func TestServeRefusals(t *testing.T) {
	t.Parallel()
	dsp(t, "serve").refused(exitBadInput, "give --model")
	dsp(t, "serve", "--model", "nowhere").refused(exitBadInput, "nowhere")
	dsp(t, "serve", "--model", "a="+tagger(t), "--model", "a="+reader(t)).refused(exitBadInput, "both named a")
	dsp(t, "serve", "--model", tagger(t), "--listen", "nowhere").refused(exitBadInput, "--listen nowhere", "127.0.0.1:8080")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dsp(t, "serve", "--model", tagger(t), "--listen", taken.Addr().String()).refused(exitBadInput, taken.Addr().String()+": ", "; choose another address or port")
	dsp(t, "serve", "--model", tagger(t), "--queue", "0").refused(exitBadInput, "--queue 0")
	dsp(t, "serve", "--model", tagger(t), "--timeout", "0s").refused(exitBadInput, "--timeout")
	dsp(t, "serve", "--model", tagger(t), "--max-body", "0").refused(exitBadInput, "--max-body 0: expected 1 to 1048576 MiB")
	dsp(t, "serve", "--model", tagger(t), "--max-body", "9000000000000").refused(exitBadInput, "--max-body 9000000000000: expected 1 to 1048576 MiB")
	dsp(t, "serve", "--model", tagger(t), "--token", "a", "--token-file", "b").refused(exitBadInput, "one of the two")
	dsp(t, "serve", "--model", tagger(t), "--token-file", write(t, "empty", "\n")).refused(exitBadInput, "empty")
	dsp(t, "serve", "--model", tagger(t), "--token-file", write(t, "two", "a\nb\n")).refused(exitBadInput, "several lines, expected a token")
	dsp(t, "serve", "--model", tagger(t), "--token", "").refused(exitBadInput, "--token: it is empty")
}

// Other addresses than loopback without a token are announced loudly.
func TestServeWarns(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", tagger(t), "--listen", "0.0.0.0:0")
	s.stop()
	if !strings.Contains(s.stderr.String(), "ANYONE who can reach this address") {
		t.Errorf("%s", s.stderr)
	}
}
