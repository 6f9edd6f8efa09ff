package models

import "github.com/dsp-go/dsp/models/config"

// ReadData resolves c, reads or draws the data sets that it names, and makes their inputs.
func ReadData(c *config.Config) (*Data, error) {
	r, err := Resolve(*c)
	if err != nil {
		return nil, err
	}
	*c = r.config
	return r.Data()
}
