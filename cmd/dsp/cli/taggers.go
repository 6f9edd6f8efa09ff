package cli

import (
	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
)

// taggers are models that label words before another model reads them: [COLUMN=]MODEL each.
type taggers []string

func (t *taggers) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar((*[]string)(t), "tagger", nil, "`[COLUMN=]MODEL` labels the words first, and its labels replace the column that the model reads beside the words, such as upos of a parser; may be repeated")
}

// first has the taggers label the words of all that m reads. The encoders of those that refer to one are in a folder.
func (t taggers) first(m *models.Model, encoders *encoderFolder) error {
	by := map[string]*models.Model{}
	for _, value := range t {
		column, path := models.ParseTagger(value)
		if by[column] != nil {
			return structured.BadInput("--tagger %s: another --tagger fills this column, too; name the columns: --tagger COLUMN=MODEL", value)
		}
		var err error
		if by[column], err = encoders.read(path); err != nil {
			return err
		}
	}
	return m.TagFirst(by)
}
