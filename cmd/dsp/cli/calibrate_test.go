package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// calibrate says which measure got worse, and which likelihood fits it.
func TestCalibrateSaysWorse(t *testing.T) {
	was := slog.Default()
	defer slog.SetDefault(was)
	before, after := 0.0066, 0.015
	for _, x := range []struct {
		r    calibrated
		want string
	}{
		{calibrated{Likelihood: "tokens", Units: "tokens", ECEBefore: 0.02, ECEAfter: 0.01, EntitiesBefore: &before, EntitiesAfter: &after}, "use --likelihood entities"},
		{calibrated{Likelihood: "entities", Units: "tokens", ECEBefore: 0.01, ECEAfter: 0.02, EntitiesBefore: &after, EntitiesAfter: &before}, "use --likelihood tokens"},
		{calibrated{Likelihood: "tokens", Units: "tokens", ECEBefore: 0.01, ECEAfter: 0.02}, "use the model as it was"},
		{calibrated{Likelihood: "tokens", Units: "tokens", ECEBefore: 0.02, ECEAfter: 0.01, EntitiesBefore: &after, EntitiesAfter: &before}, ""},
	} {
		var log bytes.Buffer
		slog.SetDefault(slog.New(newLog(&log, slog.LevelInfo)))
		x.r.sayWorse()
		if (log.Len() == 0) != (x.want == "") || !strings.Contains(log.String(), x.want) {
			t.Errorf("%+v: %q, want %q", x.r, &log, x.want)
		}
	}
}
