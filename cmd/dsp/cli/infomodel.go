package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// inside is what dsp info reports about a model.
type inside struct {
	Version string        `json:"version"` // version of dsp that trained it
	Net     string        `json:"net"`
	Weights int           `json:"weights"`
	Nonzero int           `json:"nonzero"` // weights that differ from zero
	Params  []param       `json:"params"`
	Layers  []nets.Layer  `json:"layers"`
	Labels  []string      `json:"labels"`
	Dim     int           `json:"dim"`   // dense features per position
	Vocab   []int         `json:"vocab"` // sizes of the vocabularies
	Config  config.Config `json:"config"`

	Temperature float64 `json:"temperature"`          // of probabilities; 1 until dsp calibrate fits one
	Calibrated  *bool   `json:"calibrated,omitempty"` // trained by likelihood, or with a fitted temperature; absent without probabilities

	Standardised bool `json:"standardised,omitempty"` // dense features are shifted and scaled

	Characters int `json:"characters,omitempty"` // size of the vocabulary of characters

	inputs.Counts

	Encoder *encoderInside `json:"encoder,omitempty"`

	Vectors   int `json:"vectors,omitempty"`   // words with a vector that was trained elsewhere
	Clusters  int `json:"clusters,omitempty"`  // words in the clusters
	Gazetteer int `json:"gazetteer,omitempty"` // names in the gazetteer
	Known     int `json:"known,omitempty"`     // words that the training data have often enough for an attribute of their own

	Template string                `json:"template,omitempty"` // extracts the attributes from columns
	Top      []exchange.TopWeights `json:"top,omitempty"`
}

// encoderInside is what dsp info reports about the encoder of a model.
type encoderInside struct {
	Family      string `json:"family"` // model_type of its config.json
	From        string `json:"from"`   // the folder that it was read from
	Inside      bool   `json:"inside"` // the model's file holds it
	Width       int    `json:"width"`  // of a row
	Depth       int    `json:"depth"`  // layers
	Weights     int    `json:"weights"`
	Pieces      int    `json:"vocabulary"`
	Positions   int    `json:"positions"` // pieces that it reads at a time
	Layers      string `json:"layers"`    // that rows are taken from, as --encoder-layers
	States      string `json:"states"`    // which these are in this encoder
	Words       string `json:"pieces"`    // how pieces become words
	Fingerprint string `json:"fingerprint"`
	Adapter     string `json:"adapter,omitempty"` // as --adapter
	Precision   string `json:"precision"`         // of its products, as --encoder-precision
}

type param struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// insideOfEncoder describes an encoder; nil for none.
func insideOfEncoder(r *encoded.Reader) *encoderInside {
	if r == nil {
		return nil
	}
	e := r.Encoder
	in := &encoderInside{
		Family: e.Family(), From: r.Dir, Inside: !r.ByReference, Width: e.Width(), Depth: e.Depth(), Weights: len(e.Weights()),
		Pieces: e.Vocabulary(), Positions: e.Positions(), Layers: r.Layers, States: r.StatesRead().String(), Words: r.Pieces,
		Fingerprint: e.Fingerprint(), Precision: string(r.Precision()),
	}
	if t := r.Tuned; t != nil {
		in.Adapter = t.Adapter.String()
	}
	return in
}

func insideOf(m *models.Model, top int) (inside, error) {
	in := inside{
		Version: m.Version, Net: m.Config.Net, Weights: m.Net.Dim(), Nonzero: engine.Nonzeros(m.W),
		Labels: m.Labels.Names(), Dim: m.Dim, Standardised: m.Standard != nil, Vocab: []int{}, Config: m.Config, Temperature: m.Temper(),
	}
	if m.Sums() != nil {
		yes := !m.Uncalibrated()
		in.Calibrated = &yes
	}
	if m.Characters != nil {
		in.Characters = m.Characters.Len()
	}
	in.Counts = m.AttributeCounts()
	if m.Template != nil {
		in.Template = m.Template.String()
		if c := m.Template.Clusters; c != nil {
			in.Clusters = c.Len()
		}
		if g := m.Template.Gazetteer; g != nil {
			in.Gazetteer = g.Len()
		}
		if k := m.Template.Known; k != nil {
			in.Known = k.Len()
		}
	}
	in.Encoder = insideOfEncoder(m.Encoder)
	if m.Vectors != nil {
		in.Vectors = m.Vectors.Len()
	}
	if _, _, template := m.ArcAttributes(); template != "" {
		in.Template = template
	}
	if pair, _, template := m.PairAttributes(); pair > 0 {
		in.Template = template
	}
	if top > 0 {
		in.Top = exchange.Top(m, top)
	}
	for _, a := range m.Net.Layout() {
		in.Params = append(in.Params, param{a.Name, a.Shape})
	}
	for _, v := range m.Vocab {
		in.Vocab = append(in.Vocab, v.Len())
	}
	var err error
	in.Layers, err = m.Layers()
	return in, err
}

// reads lists what the model reads.
func (in inside) reads() []string {
	var all []string
	add := func(n int, format string, more ...any) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, append([]any{n}, more...)...))
		}
	}
	scaled := ""
	if in.Standardised {
		scaled = ", standardised"
	}
	add(in.Dim, "%d dense features per position%s", scaled)
	if len(in.Vocab) > 0 {
		text := fmt.Sprintf("discrete, vocabularies of %v", in.Vocab)
		if in.Characters > 0 {
			text += fmt.Sprintf(", %d characters", in.Characters)
		}
		all = append(all, text)
	}
	if in.Config.Task == "constituency" {
		add(in.ArcAttributes, "%d attributes of spans, %d of their labels", in.LabelAttributes)
	} else {
		add(in.ArcAttributes, "%d attributes of arcs, %d of their relations", in.LabelAttributes)
	}
	if in.Config.Task == "warp" {
		add(in.PairAttributes, "%d attributes of pairs, %d of source items", in.SourceAttributes)
	} else {
		add(in.PairAttributes, "%d attributes of pairs, %d of unmatched source words", in.SourceAttributes)
	}
	if in.EdgeAttributes > 0 || len(all) == 0 || in.Attributes > 0 && len(in.Vocab) == 0 {
		all = append(all, fmt.Sprintf("%d attributes of positions, %d of transitions", in.Attributes, in.EdgeAttributes))
	} else {
		add(in.Attributes, "%d attributes of positions")
	}
	add(in.SegmentAttributes, "%d attributes of whole segments")
	return all
}

func (in inside) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "trained by  dsp %s\ninput       %s\n", in.Version, strings.Join(in.reads(), "; "))
	if e := in.Encoder; e != nil {
		where := "in the file, from " + e.From
		if !e.Inside {
			where = "by reference to " + e.From
		}
		fmt.Fprintf(&b, "encoder     %s, %s: %d layers of width %d, %d weights, %d pieces, %d at a time; fingerprint %.16s\n", e.Family, where, e.Depth, e.Width, e.Weights,
			e.Pieces, e.Positions, e.Fingerprint)
		fmt.Fprintf(&b, "            rows of layers %s: %s; of a word with several pieces: %s; products in %s\n", e.Layers, e.States, e.Words, e.Precision)
		if e.Adapter != "" {
			fmt.Fprintf(&b, "            adapters %s are trained, its weights stay as they are\n", e.Adapter)
		}
	}
	if in.Vectors > 0 {
		fmt.Fprintf(&b, "            vectors of %d words\n", in.Vectors)
	}
	if in.Clusters > 0 {
		fmt.Fprintf(&b, "            clusters of %d words\n", in.Clusters)
	}
	if in.Gazetteer > 0 {
		fmt.Fprintf(&b, "            a gazetteer of %d names\n", in.Gazetteer)
	}
	if in.Known > 0 {
		fmt.Fprintf(&b, "            %d known words\n", in.Known)
	}
	if len(in.Labels) > 0 {
		fmt.Fprintf(&b, "labels      %d: %s\n", len(in.Labels), structured.ListOf(in.Labels))
	}
	fmt.Fprintf(&b, "net         %s, %d weights, %d of them not zero\n", in.Net, in.Weights, in.Nonzero)
	switch {
	case in.Temperature != 1:
		fmt.Fprintf(&b, "temperature %.4g, fitted to data\n", in.Temperature)
	case in.Calibrated != nil && !*in.Calibrated:
		b.WriteString("temperature 1; probabilities are uncalibrated (dsp calibrate)\n")
	}
	b.WriteString("\n")
	if err := in.printLayers(&b); err != nil {
		return err
	}
	wide := 20
	for _, p := range in.Params {
		wide = max(wide, len(p.Name))
	}
	for _, p := range in.Params {
		fmt.Fprintf(&b, "parameter   %-*s %v\n", wide, p.Name, p.Shape)
	}
	b.WriteString("\n")
	if err := in.printSettings(&b); err != nil {
		return err
	}
	if in.Template != "" {
		fmt.Fprintf(&b, "\n# Template\n%s", in.Template)
	}
	for _, label := range in.Top {
		fmt.Fprintf(&b, "\n%s\n", label.Label)
		for _, a := range label.Weights {
			fmt.Fprintf(&b, "  %+9.4f  %s\n", a.Weight, a.Attribute)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printSettings writes the settings that can have an effect on such a model, and those that its training was given.
func (in inside) printSettings(w io.Writer) error {
	c := in.Config
	c.Resume, c.Quiet, c.JSON = "", false, false
	of := slices.DeleteFunc(config.Settings(&c), func(s settings.Setting) bool { return !tasks.Listed(s, &c) && !c.Gives(s.Name) })
	if len(c.Given) == 0 { // or none that a model keeps
		return settings.WriteValues(w, of)
	}
	return settings.Write(w, of)
}

// printLayers draws the network as a table.
func (in inside) printLayers(w io.Writer) error {
	rows := [][]string{{"layer", "output", "weights", "time"}}
	for _, l := range in.Layers {
		name := strings.Join(append([]string{l.Name}, l.With...), ", ")
		rows = append(rows, []string{name, l.Output, fmt.Sprint(l.Weights), fmt.Sprintf("%.0f %%", 100*l.Share)})
	}
	rows = append(rows, []string{"all", "", fmt.Sprint(in.Weights), "100 %"})
	if err := printTable(w, rows); err != nil {
		return err
	}
	_, err := io.WriteString(w, "n: positions of a batch, p: pairs of them, c: characters of words; time: share in computing the potentials of a drawn batch, measured on one thread\n\n")
	return err
}

// modulePath is that of dsp. In a program with networks of its own, dsp is one of the modules that it depends on.
const modulePath = "github.com/dsp-go/dsp"
