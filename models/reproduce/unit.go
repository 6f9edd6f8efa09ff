package reproduce

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// unit is one training that a figure needs.
type unit struct {
	part, curve string // for messages; see reference
	tuned       string // values that were tuned, as in "lr=0.1", or empty
	seed        uint64
	config      config.Config
	resolved    *models.Resolved // config
	key         string           // of its run
	at          string           // file and line of the curve's settings
	objective   string           // identifies what it minimises: units with the same one have the same optimum
	examples    int
}

// name describes the unit.
func (u *unit) name() string {
	parts := []string{u.group()}
	if u.tuned != "" {
		parts = append(parts, u.tuned)
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", u.seed)), ", ")
}

// locate adds to an error where in the YAML its settings are.
func (u *unit) locate(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), u.at) {
		return err
	}
	return fmt.Errorf("%s: %s: %w", u.at, u.name(), err)
}

// group names the curve, for progress.
func (u *unit) group() string {
	if u.part == "" {
		return u.curve
	}
	return u.part + ", " + u.curve
}

// planner plans and trains the units of figures.
type planner struct {
	o       Options
	data    *sweep.SharedData
	library models.Library

	prints map[*structured.Dataset]string // fingerprints
	drawn  map[string]bool                // folders of text that were written
}

func newPlanner(o Options) *planner {
	o.Threads = host.Threads(o.Threads)
	return &planner{o: o, data: sweep.ShareData(), prints: map[*structured.Dataset]string{}, drawn: map[string]bool{}}
}

// configure returns the settings of a run: those of the figure, its part and the curve, in this order, then the tuned
// ones and those of --quick. Settings that contradict each other are bad input.
func (p *planner) configure(f *Figure, part *Part, own overrides, tuned map[string]string,
	seed uint64) (*models.Resolved, error) {
	c := base()
	for _, o := range []overrides{f.Settings, part.Settings, own} {
		if err := o.apply(&c); err != nil {
			return nil, err
		}
	}
	for _, s := range config.Settings(&c) {
		if value, ok := tuned[s.Name]; ok {
			if err := s.Set(value); err != nil {
				return nil, err
			}
		}
	}
	if p.o.Quick {
		if err := f.Quick.Settings.apply(&c); err != nil {
			return nil, err
		}
	}
	c.Seed, c.Threads = seed, 1
	if f.Text {
		if err := p.text(f, &c); err != nil {
			return nil, err
		}
	}
	r, err := p.library.Resolve(c)
	if err != nil {
		return nil, err
	}
	c = r.Config()
	return r, training.Validate(&c)
}

// text makes c read tagged text: the files of the options, or sentences drawn into the folder of the output.
func (p *planner) text(f *Figure, c *config.Config) error {
	sizes := c.Examples
	def := config.Default()
	plain, _ := settings.Named(config.Settings(&def), "examples")
	own, _ := settings.Named(config.Settings(c), "examples")
	own.Reset(plain) // which is for built-in data
	if p.o.Train != "" {
		c.Train, c.Dev, c.Test, c.Columns = p.o.Train, p.o.Dev, p.o.Test, p.o.Columns
		return nil
	}
	if len(sizes) != 3 {
		return structured.BadInput("examples: expected three numbers, for training, development and test, found %v", sizes)
	}
	drawn := sentences.TaggedText{Train: sizes[0], Dev: sizes[1], Test: sizes[2], Seed: f.dataSeed(c.Seed)}
	dir := filepath.Join(p.o.Out, "data",
		fmt.Sprintf("text-%d-%d-%d-seed%d", drawn.Train, drawn.Dev, drawn.Test, drawn.Seed))
	if !p.drawn[dir] {
		if err := sentences.WriteTaggedText(dir, drawn); err != nil {
			return err
		}
		p.drawn[dir] = true
	}
	c.Train, c.Dev, c.Test = filepath.Join(dir, "train.conll"), filepath.Join(dir, "dev.conll"),
		filepath.Join(dir, "test.conll")
	c.Columns = "word=0,pos=1,label=-1"
	return nil
}

// dataSeed is the seed that data are drawn from in a run.
func (f *Figure) dataSeed(run uint64) uint64 {
	if f.DataSeed == 0 {
		return run
	}
	return uint64(f.DataSeed)
}

func (p *planner) read(f *Figure, u *unit) (*models.Data, error) {
	return p.data.Of(u.resolved.WithSeed(f.dataSeed(u.seed)))
}

// unit plans one run. The error names the file and line of the curve.
func (p *planner) unit(f *Figure, part *Part, curve string, own overrides, tuned map[string]string,
	seed uint64) (*unit, error) {
	u := &unit{part: part.Name, curve: curve, seed: seed, at: f.path}
	if own.node != nil {
		u.at = fmt.Sprintf("%s:%d", f.path, lineOf(own.node))
	}
	for _, name := range slices.Sorted(maps.Keys(tuned)) {
		u.tuned = strings.TrimPrefix(u.tuned+", "+name+"="+tuned[name], ", ")
	}
	var err error
	if u.resolved, err = p.configure(f, part, own, tuned, seed); err != nil {
		return nil, u.locate(err)
	}
	u.config = u.resolved.Config()
	if u.config.Path {
		return nil, u.locate(structured.BadInput("path: a curve is one training; a path is many"))
	}
	data, err := p.read(f, u)
	if err != nil {
		return nil, u.locate(err)
	}
	u.examples = data.Train.Len()
	var prints []string
	for _, d := range []*structured.Dataset{data.Train, data.Dev, data.Test} {
		if d == nil {
			continue
		}
		if p.prints[d] == "" {
			p.prints[d] = train.Fingerprint(d)
		}
		prints = append(prints, p.prints[d])
	}
	u.key = hash(append(prints, identity(&u.config, nil)...))
	u.objective = hash(append(prints[:1], identity(&u.config, []string{"Method", "smoothing", "mu", "k", "seed"})...))
	return u, nil
}

// identity lists the settings that decide the weights, except for the named ones and those of the named groups. Data
// count by their content instead.
func identity(c *config.Config, without []string) []string {
	var all []string
	for _, s := range config.Settings(c) {
		if s.Run || s.Name == "train" || s.Name == "dev" || s.Name == "test" || slices.Contains(without, s.Name) ||
			slices.Contains(without, s.Group) {
			continue
		}
		all = append(all, fmt.Sprintf("%s=%v", s.Name, s.Value.Interface()))
	}
	return all
}

func hash(texts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return fmt.Sprintf("%x", sum[:8])
}

// changed returns the settings of c that differ from the defaults, without the paths of data.
func changed(c *config.Config) map[string]any {
	all := map[string]any{}
	defaults := config.Default()
	before := config.Settings(&defaults)
	for i, s := range config.Settings(c) {
		now := s.Value.Interface()
		if !s.Run && s.Group != "Data" && fmt.Sprint(now) != fmt.Sprint(before[i].Value.Interface()) {
			all[s.Name] = now
		}
	}
	return all
}
