package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// The kinds of device.
const (
	AutoDevice = "auto" // the first CUDA device if there is one, else the CPU
	CPU        = "cpu"
	CUDA       = "cuda" // may be followed by a colon and the number of one
)

// ParseDevice reads the name of a device: its kind, and for cuda its number, 0 where none is given.
func ParseDevice(name string) (kind string, ordinal int, err error) {
	kind, number, numbered := strings.Cut(name, ":")
	if numbered && kind == CUDA {
		if ordinal, err = strconv.Atoi(number); err != nil || ordinal < 0 || number != strconv.Itoa(ordinal) {
			return "", 0, structured.BadInput("--device %s: expected the number of a device, as in cuda:0", name)
		}
		return kind, ordinal, nil
	}
	return name, 0, settings.OneOf("--device", name, []string{AutoDevice, CPU, CUDA, CUDA + ":0"})
}

// CheckDevice refuses a device that does not exist, and settings that need one.
func (c Config) CheckDevice() error {
	kind, ordinal, err := ParseDevice(c.Device)
	switch {
	case err != nil:
		return err
	case kind == CPU && c.TF32:
		return structured.BadInput("--tf32 is for matrix products on a GPU: give --device cuda too")
	case kind == CPU && c.DeviceParts > 0:
		return structured.BadInput("--device-parts %d is for GPUs: give --device cuda too, or leave it out: on the CPU the model does not depend on the number of ranks", c.DeviceParts)
	case kind != CUDA:
		return nil
	}
	if err := CheckCUDA(ordinal); err != nil {
		return structured.BadInput("--device %s: %w; use --device cpu, or auto", c.Device, err)
	}
	return nil
}

// CheckCUDA returns why there is no CUDA device of that number, or nil.
func CheckCUDA(ordinal int) error {
	all, err := device.Devices()
	if err == nil && ordinal >= len(all) {
		err = fmt.Errorf("there is no such device, the last one is cuda:%d", len(all)-1)
	}
	return err
}

// OpenDevice opens the CUDA device of a name as the setting device has it. Nil is the CPU. A device that does not exist
// is bad input.
func OpenDevice(name string) (*device.Device, error) {
	c := Config{RunSettings: RunSettings{Device: name}}
	if err := c.CheckDevice(); err != nil {
		return nil, err
	}
	ordinal, found, err := FindDevice(name)
	if !found || err != nil {
		return nil, err
	}
	return device.Open(ordinal)
}

// FindDevice returns the number of the CUDA device of a name as the setting device has it; for auto the first, unless
// it is emulated. It finds none for the CPU.
func FindDevice(name string) (ordinal int, found bool, err error) {
	kind, ordinal, err := ParseDevice(name)
	switch {
	case err != nil || kind == CPU:
		return 0, false, err
	case kind == AutoDevice:
		if all, err := device.Devices(); err != nil {
			if device.Built {
				return 0, false, err
			}
			return 0, false, nil
		} else if all[0].Emulated() {
			return 0, false, nil
		}
	}
	return ordinal, true, nil
}
