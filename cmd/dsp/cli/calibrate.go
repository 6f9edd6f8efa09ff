package cli

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/calibration"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/training/closing"
	"github.com/dsp-go/dsp/structured"
)

// calibrated is the result of dsp calibrate.
type calibrated struct {
	Model       string  `json:"model"` // the file that was written
	Temperature float64 `json:"temperature"`
	Likelihood  string  `json:"likelihood"`
	Count       int     `json:"count"` // parts, whole outputs or entities
	Was         float64 `json:"temperature_before"`
	Before      float64 `json:"nll_before"` // mean negative log-likelihood
	After       float64 `json:"nll_after"`
	ECEBefore   float64 `json:"ece_before"` // of parts
	ECEAfter    float64 `json:"ece_after"`
	Units       string  `json:"units"`

	OutputsBefore *float64 `json:"nll_outputs_before,omitempty"` // of whole outputs, where others were fitted
	OutputsAfter  *float64 `json:"nll_outputs_after,omitempty"`

	EntitiesBefore *float64 `json:"entity_ece_before,omitempty"`
	EntitiesAfter  *float64 `json:"entity_ece_after,omitempty"`
}

func calibrateCommand() *cobra.Command {
	var u modelFlags
	var out, likelihood string
	cmd := &cobra.Command{
		Use:   "calibrate --model MODEL --dev FILE",
		Short: "Fit the temperature of a model's probabilities to data",
		Long: `calibrate finds the temperature T at which the probabilities exp(score/T)/Z of a model explain the gold outputs of --dev best,
and stores it in the model file. predict and eval then use it for all probabilities. Labels, trees and boxes stay the same. Use
data that the model was not trained on. Models of --loss hinge or softmax-margin, and overconfident networks, need it most.`,
		Example: `  dsp calibrate --model runs/ner --dev dev.conll
  dsp calibrate --model runs/ner --dev dev.conll --likelihood entities --out calibrated.safetensors
  dsp eval --model runs/ner --data test.conll --calibration reliability.png`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			by, err := calibration.ParseBy(likelihood)
			if err != nil {
				return structured.BadInput("--%w", err)
			}
			defer u.close()
			m, d, err := u.read(cmd.Context(), "--dev", true)
			if err != nil {
				return err
			}
			if d.Readings != nil && !cmd.Flags().Changed("likelihood") {
				by = calibration.Sequences
			}
			r, err := u.calibrate(cmd, m, d, out, by)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, r)
			}
			return r.print()
		},
	}
	u.addFlags(cmd)
	u.taggers.addFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&u.Path, "dev", "", "`FILE` with gold labels that the model was not trained on; builtin for the drawn words, trees or scenes")
	flags.StringVar(&out, "out", "", "`FILE` for the calibrated model; empty: the temperature is stored in MODEL itself")
	flags.StringVar(&likelihood, "likelihood", "tokens", "what to fit: `tokens|sequences|entities`; tokens: the probability of each gold label, arc or box; sequences: that of whole outputs; entities: that each predicted entity is right, for predict --spans")
	flags.BoolVar(&u.Partial, "partial", false, "accept partial gold labels: ? (or _) for any label, A|B for one of these; such tokens do not count")
	complete(cmd, "likelihood", "tokens", "sequences", "entities")
	return cmd
}

// calibrate fits the temperature and stores it.
func (u *modelFlags) calibrate(cmd *cobra.Command, m *models.Model, d *structured.Dataset, out string, by calibration.By) (*calibrated, error) {
	from, err := models.FileOf(u.model)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		out = filepath.Join(out, models.ModelFile)
	}
	fitted, err := calibration.Fit(cmd.Context(), m, d, by, u.Threads)
	if err != nil {
		return nil, err
	}
	if fitted.Skipped > 0 {
		slog.Warn("gold outputs that the model cannot predict are left out", "of", fitted.Skipped+fitted.Count, "left_out", fitted.Skipped)
	}
	if !fitted.Bounded {
		slog.Warn("the data do not bound the temperature: every one beyond explains them better; more data will", "temperature", fitted.Temperature)
	}
	r := &calibrated{
		Model: cmp.Or(out, from), Temperature: fitted.Temperature, Likelihood: by.String(),
		Count: fitted.Count, Before: fitted.Before, After: fitted.After, Was: m.Temper(),
	}
	if r.OutputsBefore, err = u.outputs(cmd, m, d, by); err != nil {
		return nil, err
	}
	before, err := u.reliability(cmd, m, d)
	if err != nil {
		return nil, err
	}
	m.Temperature = fitted.Temperature
	after, err := u.reliability(cmd, m, d)
	if err != nil {
		return nil, err
	}
	if r.OutputsAfter, err = u.outputs(cmd, m, d, by); err != nil {
		return nil, err
	}
	r.ECEBefore, r.ECEAfter, r.Units = before.ECE, after.ECE, before.Units
	if before.Entities != nil && after.Entities != nil {
		r.EntitiesBefore, r.EntitiesAfter = &before.Entities.ECE, &after.Entities.ECE
	}
	r.sayWorse()
	return r, models.StoreTemperature(from, r.Model, r.Temperature)
}

// outputs returns the mean negative log-likelihood of whole outputs, nil where that is what is fitted, or there is
// none.
func (u *modelFlags) outputs(cmd *cobra.Command, m *models.Model, d *structured.Dataset, by calibration.By) (*float64, error) {
	if by == calibration.Sequences {
		return nil, nil
	}
	measured, err := calibration.Measure(cmd.Context(), m, d, calibration.Sequences, u.Threads)
	switch {
	case structured.IsBadInput(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &measured.NLL, nil
}

// sayWorse warns of every measure that the new temperature made worse: one temperature fits one likelihood, and others
// may lose by it.
func (r *calibrated) sayWorse() {
	worse := func(what string, before, after float64, other string) {
		if !(after > before+1e-4) { // what the table shows
			return
		}
		advice := "--likelihood " + other
		if r.Likelihood == other {
			advice = "the model as it was"
		}
		slog.Warn(what+" are calibrated worse than before; where these matter, use "+advice,
			"error_before", closing.Percent(before), "error_after", closing.Percent(after))
	}
	if r.OutputsBefore != nil && r.OutputsAfter != nil && *r.OutputsAfter > *r.OutputsBefore+1e-4 {
		slog.Warn("whole outputs are less probable than before; where these matter, use --likelihood sequences",
			"nll_before", fmt.Sprintf("%.4f", *r.OutputsBefore), "nll_after", fmt.Sprintf("%.4f", *r.OutputsAfter))
	}
	worse(r.Units, r.ECEBefore, r.ECEAfter, "tokens")
	if r.EntitiesBefore != nil {
		worse("entities", *r.EntitiesBefore, *r.EntitiesAfter, "entities")
	}
}

func (u *modelFlags) reliability(cmd *cobra.Command, m *models.Model, d *structured.Dataset) (*review.Calibration, error) {
	_, found, err := m.Review(cmd.Context(), d, false, u.Threads)
	if err != nil {
		return nil, err
	}
	return found.Calibration(m.Temper(), true), nil
}

func (r *calibrated) print() error {
	sure := "the model was about right"
	switch log := math.Log2(r.Temperature / r.Was); {
	case log > 0.05:
		sure = "the model was too sure"
	case log < -0.05:
		sure = "the model was not sure enough"
	}
	if _, err := fmt.Printf("temperature %.4g: %s\n\n", r.Temperature, sure); err != nil {
		return err
	}
	over := map[string]string{"tokens": r.Units, "sequences": "whole outputs", "entities": "predicted entities"}[r.Likelihood]
	rows := [][]string{{"", "before", "after"},
		{"negative log-likelihood, mean over " + over, fmt.Sprintf("%.4f", r.Before), fmt.Sprintf("%.4f", r.After)},
		{"expected calibration error of " + r.Units, closing.Percent(r.ECEBefore), closing.Percent(r.ECEAfter)}}
	if r.OutputsBefore != nil && r.OutputsAfter != nil {
		rows = slices.Insert(rows, 2, []string{"negative log-likelihood, mean over whole outputs", fmt.Sprintf("%.4f", *r.OutputsBefore), fmt.Sprintf("%.4f", *r.OutputsAfter)})
	}
	if r.EntitiesBefore != nil {
		rows = append(rows, []string{"expected calibration error of entities", closing.Percent(*r.EntitiesBefore), closing.Percent(*r.EntitiesAfter)})
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	_, err := fmt.Printf("\nmodel   %s\n", r.Model)
	return err
}
