package pipelines

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// Sentences without a tree are refused where trees are learned, or left out, with their lines; files follow each other.
func TestReadTreebank(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	word := func(id int, head string) string { return fmt.Sprintf("%d\tx\tx\tX\t_\t_\t%s\tdep\t_\t_\n", id, head) }
	good, more := file("good", word(1, "0")+word(2, "1")+"\n"), file("more", "# a\n"+word(1, "0")+"\n")
	for want, text := range map[string]string{
		`: the sentence of line 3 has head "3" of word 2, expected `: word(1, "0") + "\n" + word(1, "0") + word(2, "3") +
			"\n", `: the sentence of line 1 has head "_" of word 1, expected `: word(1, "_") + "\n",
		`: the sentence of line 1 has head "-1" of word 1`: word(1, "-1") + "\n",
		": the sentence of line 1: ":                       word(1, "2") + word(2, "1") + "\n",
	} {
		path := file("bad", text)
		if _, err := ReadTreebank(path, true, nil); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%v, expected %s", err, want)
		}
		if all, err := ReadTreebank(path, false, nil); err != nil || len(all) != strings.Count(text, "\n\n") {
			t.Errorf("without trees: %d sentences, %v", len(all), err)
		}
		say := remarks.New(true)
		all, err := ReadTreebank(good+","+path+","+more, true, say)
		if err != nil || len(all) != 1+strings.Count(text, "\n\n") || len(all[0].Words) != 2 || len(say.Reasons()) != 1 ||
			!strings.HasPrefix(say.Reasons()[0], path+want) {
			t.Errorf("%d sentences, %q, %v", len(all), say.Reasons(), err)
		}
	}
	blank := file("blank", "1\t\u00a0\tx\tX\t_\t_\t0\troot\t_\t_\n\n")
	if _, err := ReadTreebank(blank, false, nil); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "in the sentence of line 1 has no characters but white space") {
		t.Error(err)
	}
	if _, err := ReadTreebank(blank, false, remarks.New(true)); err == nil ||
		err.Error() != blank+": no sentence is left" {
		t.Error(err)
	}
}

// Tables of stages have the form as models see it, the fields that earlier stages filled, and the gold field as the
// label.
func TestTablesOfStages(t *testing.T) {
	gold := read(t, sample)
	seen := copyOf(gold)
	for i := range seen {
		for k := range seen[i].Words {
			seen[i].Words[k].Fields[conllu.UPOS], seen[i].Words[k].Fields[conllu.XPOS] = "U", "V"
		}
	}
	seen[0].Words[0].Fields[conllu.Form] = "I\u200bl"
	for _, c := range []struct{ name, columns, first, labels string }{
		{upos, "word", "Il", "PRON VERB ADP DET NOUN PUNCT NOUN VERB"}, {xpos, "word upos", "Il U", "Cl V P D N Z N V"},
		{feats, "word upos xpos", "Il U V", "Number=Sing _ _ _ _ _ Number=Plur _"},
	} {
		for _, s := range tagStages {
			if s.name != c.name {
				continue
			}
			table := s.table(seen, gold)
			var first []string
			for _, column := range table.columns {
				first = append(first, column[0])
			}
			if got := strings.Join(table.names, " "); got != c.columns || strings.Join(first, " ") != c.first ||
				strings.Join(table.labels, " ") != c.labels || fmt.Sprint(table.offsets) != "[0 6 8]" {
				t.Errorf("%s: columns %s, first %q, labels %q, offsets %v", c.name, got, first, table.labels, table.offsets)
			}
			filled := copyOf(gold)
			labels := strings.Fields("a b c d e f g h")
			s.fill(filled, labels)
			at := 0
			for i := range filled {
				for k := range filled[i].Words {
					if got := filled[i].Words[k].Fields[s.field]; got != labels[at] {
						t.Errorf("%s: word %d is filled with %s", c.name, at, got)
					}
					at++
				}
			}
		}
	}
	for want, labels := range map[string][]string{"a": {"a", "a"}, "": {"a", "b"}, " ": nil} {
		if got, ok := (&table{labels: labels}).constant(); got != strings.TrimSpace(want) || ok != (got != "") {
			t.Errorf("%q: %q, %v", labels, got, ok)
		}
	}
}

// Stages with many labels have no scores of neighbours, and leave out rare attributes.
func TestSettingsOfStages(t *testing.T) {
	def := config.Default()
	for k, want := range []struct {
		edges, loss, method string
		count               int
		plainReg            bool
	}{{def.Edges, def.Loss, def.Method, def.MinCount, true}, {"none", "hinge", "bcpfw", 2, false},
		{"none", "hinge", "bcpfw", 4, false}, {"none", "hinge", "bcpfw", 4, true}} {
		c := config.Default()
		if set := tagStages[k].settings; set != nil {
			set(&c)
		}
		if c.Edges != want.edges || c.Loss != want.loss || c.Method != want.method || c.MinCount != want.count ||
			(c.Reg == def.Reg) != want.plainReg || !want.plainReg && c.Reg != 40 {
			t.Errorf("%s: edges %s, loss %s, method %s, count %d, reg %v", tagStages[k].name, c.Edges, c.Loss,
				c.Method, c.MinCount, c.Reg)
		}
	}
	if got := list(stageNames()); got != "characters, words, upos, xpos, feats, lemma, trees" ||
		list(rowStages()) != "upos, xpos, feats" {
		t.Errorf("%s; %s", got, list(rowStages()))
	}
}

// Whether a space follows is said once in MISC, beside what else it has.
func TestSetSpace(t *testing.T) {
	for _, c := range []struct {
		misc    string
		follows bool
		want    string
	}{
		{"_", true, "_"}, {"_", false, "SpaceAfter=No"}, {"SpaceAfter=No", true, "_"},
		{"SpaceAfter=No", false, "SpaceAfter=No"}, {"a=b|SpaceAfter=No|c=d", true, "a=b|c=d"},
		{"a=b", false, "a=b|SpaceAfter=No"},
	} {
		token := conllu.Token{Misc: c.misc}
		if setSpace(&token, c.follows); token.Misc != c.want {
			t.Errorf("%s, %v: %s, expected %s", c.misc, c.follows, token.Misc, c.want)
		}
	}
	for form, want := range map[string]bool{"a": true, "a.": false, "": false, "3": true, "é": true} {
		if wordEnds(form) != want {
			t.Errorf("%q ends as words do: %v", form, !want)
		}
	}
	for form, want := range map[string]bool{"?": true, "??": false, "": false, "»": true, "a": false} {
		if isOneOf(form, spacedSigns) != want {
			t.Errorf("%q is a sign: %v", form, !want)
		}
	}
}
