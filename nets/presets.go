package nets

import (
	"cmp"
	"embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/goccy/go-yaml"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Preset is a network that dsp makes by its name. Most are files of YAML in presets/, whose layers are those of a
// stack; a preset that no stack can say is a value in a Go file, which adds itself. A new one touches its own file
// only.
type Preset struct {
	Name     string   `yaml:"-"` // of its file
	Summary  string   `yaml:"summary"`
	Reads    []Inputs `yaml:"reads"`    // what it can read of a position, an arc or a pair
	Scores   []string `yaml:"scores"`   // what it has an output layer for: ScoresPositions, …
	Linear   bool     `yaml:"linear"`   // potentials are linear in the weights, which start at zero
	Crf      bool     `yaml:"crf"`      // the likelihood suits it better than the hinge
	Settings []string `yaml:"settings"` // of Config that it takes, by their names in YAML

	// Defaults are filled in, in this order, where c leaves settings open.
	Defaults []Defaults `yaml:"defaults"`
	// Needs are settings that have no effect without another one: window: channels.
	Needs map[string]string `yaml:"needs"`
	// ForImages is the preset for images of ImageHeight×ImageWidth pixels, if that is another one.
	ForImages string `yaml:"for-images"`
	// Layers makes the list of layers of a stack: a template over Config and the Input.
	Layers string `yaml:"layers"`

	template func() *template.Template // of Layers

	resolve func(c *Config, in graph.Input) error // fills in, before Defaults, what these cannot say; may be nil
	// refuses, after Defaults, what does not fit the inputs; may be nil
	check func(c *Config, in graph.Input) error
	body  func(c Config, in graph.Input) (body, error) // in place of Layers
}

// Inputs is a kind of inputs.
type Inputs string

// The kinds of inputs of presets.
const (
	ReadsFeatures   Inputs = "features"   // dense features
	ReadsWords      Inputs = "words"      // discrete inputs; or, with ReadsFeatures, those in their place
	ReadsCharacters Inputs = "characters" // of words
	ReadsAttributes Inputs = "attributes" // of positions, arcs or pairs
	ReadsMaps       Inputs = "maps"       // rows of features that are maps
	ReadsPixels     Inputs = "pixels"     // maps that are pixels of an image
)

// What presets score.
const (
	ScoresPositions = "positions" // chains, and every structure with a row for each position
	ScoresNodes     = "nodes"     // of graphs, which have no order
	ScoresArcs      = "arcs"      // of trees
	ScoresPairs     = "pairs"     // of source and target items
)

// Defaults are settings to fill in where they are open.
type Defaults struct {
	With   []string `yaml:"with"`   // only if all of these settings are set
	Unless []string `yaml:"unless"` // only if none of these settings is set
	Config `yaml:",inline"`
}

// CanRead and CanScore say what a preset reads and scores.
func (p *Preset) CanRead(in Inputs) bool { return slices.Contains(p.Reads, in) }

// CanScore is described with CanRead.
func (p *Preset) CanScore(what string) bool { return slices.Contains(p.Scores, what) }

// Takes reports whether the preset has a setting.
func (p *Preset) Takes(setting string) bool { return slices.Contains(p.Settings, setting) }

// scores says in words what the preset scores.
func (p *Preset) scores() string {
	words := map[string]string{ScoresNodes: "nodes of graphs", ScoresArcs: "the arcs of trees",
		ScoresPairs: "pairs of source and target items"}
	var all []string
	for _, what := range p.Scores {
		all = append(all, cmp.Or(words[what], what))
	}
	return strings.Join(all, ", ")
}

// readsBeside reports whether the preset weights the attributes of positions beside what it reads of words.
func (p *Preset) readsBeside() bool {
	return p.CanRead(ReadsAttributes) && p.CanRead(ReadsWords) && p.CanScore(ScoresPositions)
}

// presets are sorted by name. Those of files are read when somebody asks for them: all of them take longer than many a
// run.
var presets []entry

// entry is a preset, or the name of one that has not been read yet.
type entry struct {
	name string
	get  func() *Preset
}

// Presets lists the presets by name.
func Presets() []*Preset {
	all := make([]*Preset, len(presets))
	for k, e := range presets {
		all[k] = e.get()
	}
	return all
}

// PresetsThat returns the names of the presets for which f holds, by name.
func PresetsThat(f func(p *Preset) bool) []string {
	var names []string
	for _, p := range Presets() {
		if f(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// FindPreset returns the preset of that name.
func FindPreset(name string) (p *Preset, ok bool) {
	k, ok := findEntry(name)
	if !ok {
		return &Preset{Name: name}, false
	}
	return presets[k].get(), true
}

// findEntry returns the place of the preset of that name among presets, or the one where it would be.
func findEntry(name string) (k int, found bool) {
	return slices.BinarySearchFunc(presets, name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
}

func addPreset(p Preset) { addEntry(entry{p.Name, func() *Preset { return &p }}) }

func addEntry(e entry) {
	k, taken := findEntry(e.name)
	if taken {
		panic("nets: two presets " + e.name)
	}
	presets = slices.Insert(presets, k, e)
}

//go:embed presets/*.yaml presets/layers.tmpl
var presetFiles embed.FS

// presetLayers holds the templates that those of the layers of presets use.
var presetLayers = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"list": func(n []int) string {
			return "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]") + "]"
		},
		"number": func(i int) int { return i + 1 },
	}).ParseFS(presetFiles, "presets/layers.tmpl"))
})

func init() {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".yaml"); ok {
			addEntry(entry{name, sync.OnceValue(func() *Preset { return readPreset(name) })})
		}
	}
}

func readPreset(name string) *Preset {
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	p := &Preset{Name: name}
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, p, yaml.Strict())
	}
	if err != nil {
		panic(fmt.Sprintf("nets/presets/%s.yaml: %s", name, err))
	}
	p.template = sync.OnceValue(func() *template.Template {
		return template.Must(template.Must(presetLayers().Clone()).New(name).Parse(p.Layers))
	})
	return p
}

// layers returns the stack that the preset is for c, which is resolved.
func (p *Preset) layers(c Config, in graph.Input) (string, error) {
	var text strings.Builder
	err := p.template().Execute(&text, struct {
		Config
		Input graph.Input
	}{c, in})
	return text.String(), err
}

// fill checks that the preset takes the sizes in c, and fills in its defaults.
func (p *Preset) fill(c *Config) error {
	for setting, value := range c.sizes() {
		if !p.Takes(setting) && !value.IsZero() {
			return structured.BadInput("net %s has no %s; %s", p.Name, setting,
				they(PresetsThat(func(p *Preset) bool { return p.Takes(setting) })))
		}
	}
	for _, d := range p.Defaults {
		set := func(setting string) bool { return !c.setting(setting).IsZero() }
		if slices.ContainsFunc(d.Unless, set) || slices.ContainsFunc(d.With, func(s string) bool { return !set(s) }) {
			continue
		}
		for setting, value := range d.sizes() {
			if open := c.setting(setting); open.IsZero() {
				open.Set(value)
			}
		}
	}
	for setting, other := range p.Needs {
		if !c.setting(setting).IsZero() && c.setting(other).IsZero() {
			return structured.BadInput("net %s has a %s only with %s", p.Name, setting, other)
		}
	}
	return nil
}

// they ends a message about a setting with the networks that have it.
func they(names []string) string {
	if len(names) == 1 {
		return names[0] + " does"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " do"
}

// sizes yields the settings that say how large layers are, and the stack, by their names in YAML.
func (c *Config) sizes() func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		v := reflect.ValueOf(c).Elem()
		for i := range v.NumField() {
			name := fieldName(v.Type().Field(i))
			switch name {
			case "-", "net", "activation", "dropout", "edges", "edge-units", "submodular":
				continue
			}
			if !yield(name, v.Field(i)) {
				return
			}
		}
	}
}

// setting returns the setting of that name in YAML.
func (c *Config) setting(name string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if fieldName(v.Type().Field(i)) == name {
			return v.Field(i)
		}
	}
	panic("nets: there is no setting " + name)
}
