package config

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// taskNames are the values of the setting task. The package tasks adds them, which knows this one.
var (
	taskNames       []string
	ownTaskSettings bool
)

// AddTask makes a name a value of the setting task; own says that this task has settings that only it has.
func AddTask(name string, own bool) {
	taskNames, ownTaskSettings = append(taskNames, name), ownTaskSettings || own
}

// OwnSettingsName is the name of the setting that holds those that only one task has.
const OwnSettingsName = "task-settings"

// Settings returns the settings of c, in the order of the fields. The values of task, format, net and method are what
// is registered.
func Settings(c *Config) []settings.Setting {
	all := settings.Of(c)
	own, _ := nets.Registered()
	methods, formatted := optimisers.HasOwnSettings(), formats.HasOwnSettings()
	all = slices.DeleteFunc(all, func(s settings.Setting) bool {
		return s.Name == optimisers.OwnSettingsName && !methods || s.Name == formats.OwnSettingsName && !formatted || s.Name == OwnSettingsName && !ownTaskSettings
	})
	for i := range all {
		switch s := &all[i]; s.Name {
		case "task":
			s.Values = append(s.Values, taskNames...)
		case "format":
			s.Values = append(s.Values, formats.Names()...)
		case "net":
			s.Values = slices.Concat(s.Values, nets.PresetsThat(func(*nets.Preset) bool { return true }), own)
		case "method":
			s.Values = append([]string{"auto"}, optimisers.NamesOf(func(*optimisers.Descriptor) bool { return true })...)
		case "inner":
			s.Values = append([]string{"auto"}, optimisers.NamesOf((*optimisers.Descriptor).CanBeInner)...)
		}
	}
	return all
}

// must returns the setting of that name, without the values that are registered. It panics if there is none, which is a
// bug in the caller or in a tag.
func (c *Config) must(name string) settings.Setting {
	s, ok := settings.Get(c, name)
	if !ok {
		panic("models: there is no setting " + name)
	}
	return s
}

// Gives reports whether c gives the setting of that name, so that nothing else may choose its value: it is recorded as
// given, or it differs from the default. A value that leaves the choice open, such as auto, gives nothing where it is
// the default.
func (c *Config) Gives(name string) bool {
	return c.must(name).GivenBeside(plain().must(name))
}

// plain is Default once for all, for those that only read it.
var plain = sync.OnceValue(func() *Config {
	c := Default()
	return &c
})

// Asks reports whether c gives s a value that asks for something. A zero asks for nothing where it is the default.
func (c *Config) Asks(s settings.Setting) bool {
	def := plain().must(s.Name)
	return s.GivenBeside(def) && !(s.Value.IsZero() && def.Value.IsZero())
}

// CheckSetting refuses a value of s that is out of range, and one that asks for something although other settings of c,
// or its method, give it no effect. The package tasks adds what tasks, formats and networks take.
func CheckSetting(s settings.Setting, c *Config) error {
	if err := checkValue(s); err != nil {
		return err
	}
	if !c.Asks(s) {
		return nil
	}
	for _, condition := range strings.Fields(s.Only) {
		name, values, _ := strings.Cut(condition, "=")
		other := c.must(name)
		at, allowed := other.Value.String(), strings.Split(values, ",")
		if settings.Undecided(at) || slices.Contains(allowed, at) {
			continue
		}
		return structured.BadInput("--%s %v has no effect with --%s %s; it is for --%s %s",
			s.Name, s.Value.Interface(), name, at, name, strings.ReplaceAll(values, ",", ", "))
	}
	if s.Needs != "" {
		if other := c.must(s.Needs); !c.Asks(other) {
			return structured.BadInput("--%s has no effect without --%s", s.Name, strings.TrimSpace(other.Name+" "+other.Unit))
		}
	}
	return c.checkTaken(s)
}

// Awaits returns the name of a setting that c leaves open and without which s has no effect, "method" for one of some
// methods where none is chosen, and nothing if there is none.
func Awaits(s settings.Setting, c *Config) string {
	for _, condition := range strings.Fields(s.Only) {
		name, values, _ := strings.Cut(condition, "=")
		allowed := strings.Split(values, ",")
		if !slices.Contains(allowed, c.must(name).Value.String()) && !(name == "loss" && c.methodDecides(allowed)) {
			return name
		}
	}
	if s.Needs != "" && !c.Asks(c.must(s.Needs)) {
		return s.Needs
	}
	if s.Group == "Method" && settings.Undecided(c.Method) {
		takers := optimisers.NamesOf(func(d *optimisers.Descriptor) bool { return d.Takes(s.Name) })
		if len(takers) > 0 && len(takers) < len(optimisers.All()) {
			return "method"
		}
	}
	return ""
}

// methodDecides reports whether the loss is open and the method takes no others than these.
func (c *Config) methodDecides(losses []string) bool {
	d, chosen := c.Optimiser()
	if !chosen || !settings.Undecided(c.Loss) {
		return false
	}
	return !slices.ContainsFunc(c.must("loss").Values, func(loss string) bool {
		return !settings.Undecided(loss) && d.Losses.Takes(loss) && !slices.Contains(losses, loss)
	})
}

// checkValue refuses a value of s that is out of range.
func checkValue(s settings.Setting) error {
	switch s.Name {
	case "net":
	case "method":
		return cmp.Or(optimisers.Failed(), s.Check())
	case "format":
		return cmp.Or(formats.Failed(), s.Check())
	default:
		return s.Check()
	}
	if _, err := nets.Registered(); err != nil || nets.IsStackFile(s.Value.String()) {
		return err
	}
	if err := s.Check(); err != nil {
		return structured.BadInput("%w, or FILE.yaml for a stack of layers; a network of your own is in the program that registers it (nets.Register): use that", err)
	}
	return nil
}

// ReadConfig reads a YAML file of settings over the defaults; see settings.Parse. It does not Validate: flags may still
// change the result.
func ReadConfig(path string) (Config, error) {
	c := Default()
	text, err := host.ReadText(path, documents.MostBytes)
	if err != nil {
		return c, structured.BadInput("configuration: %w", err)
	}
	return c, settings.Parse(path, text, Settings(&c))
}

// Write writes c as the YAML that ReadConfig reads, without the settings that only steer a command's output.
func (c Config) Write(w io.Writer) error {
	c.Resume, c.Quiet, c.JSON = "", false, false
	return settings.Write(w, Settings(&c))
}

// PathSettings are the settings that say where files are. Their contents decide the weights, which identities of runs
// know by fingerprints: the files may move while a run is interrupted.
var PathSettings = []string{
	"train", "dev", "test", "dense", "boxes", "images", "links", "bitext", "masks", "label-names", "template", "clusters", "gazetteer", "vectors", "encoder",
	"init", "prior", "teacher",
}

// WithNames returns c with the names of files in place of their paths: a model says which files it was trained on, and
// not where its maker keeps them. The configuration of its run has the paths.
func (c Config) WithNames() Config {
	for _, name := range PathSettings {
		s := c.must(name)
		s.Value.SetString(FileNames(s.Value.String()))
	}
	return c
}

// WithoutFiles returns c with the name of a setting in place of the files that it names: a released model says that it
// was trained with a template, and not with which.
func (c Config) WithoutFiles() Config {
	for _, name := range PathSettings {
		if s := c.must(name); s.Value.String() != "" && s.Value.String() != formats.Builtin {
			s.Value.SetString(name)
		}
	}
	return c
}

// TakePaths takes the paths of another configuration.
func (c *Config) TakePaths(from Config) {
	for _, name := range PathSettings {
		c.must(name).Value.Set(from.must(name).Value)
	}
}

// FileNames returns the names of the files in a list of paths.
func FileNames(paths string) string {
	all := strings.Split(paths, ",")
	for k, path := range all {
		if path != "" {
			all[k] = filepath.Base(path)
		}
	}
	return strings.Join(all, ",")
}

// ForModel returns c with default values for the settings that do not change the model. Of what was given it keeps what
// a model cannot tell from its values: that it draws as many examples as the defaults say because that was asked for.
func (c Config) ForModel() Config {
	def := Default()
	plain := Settings(&def)
	for i, s := range Settings(&c) {
		if s.Run {
			s.Value.Set(plain[i].Value)
		}
	}
	c.Given = c.Given.Only(func(name string) bool { return name == "examples" && slices.Equal(c.Examples, def.Examples) })
	return c
}
