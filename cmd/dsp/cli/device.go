package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/cmd/dsp/cli/devicebench"
	"github.com/dsp-go/dsp/cuda/device"
)

// deviceFlag adds the flag that chooses the device.
func deviceFlag(cmd *cobra.Command, device *string) {
	cmd.Flags().StringVar(device, "device", "cpu", "where to compute: `cpu|cuda[:N]`; N is the number of the GPU, from 0")
	complete(cmd, "device", "cpu", "cuda")
}

// closeDevice closes a device, which may be nil. It ignores errors that the device has already reported.
func closeDevice(d *device.Device) error {
	if d == nil || d.Err() != nil {
		return nil
	}
	return d.Close()
}

// benchDevice measures a device and prints a table, or JSON.
func benchDevice(cmd *cobra.Command, d *device.Device, o devicebench.Options) error {
	o.Small = d.Info().Emulated()
	if !isSet(cmd, "quiet") {
		o.Done = func(r devicebench.Row) { fmt.Fprintln(os.Stderr, r) }
	}
	report, err := devicebench.Run(cmd.Context(), d, o)
	if err != nil {
		return err
	}
	if isSet(cmd, "json") {
		return printJSON(os.Stdout, report)
	}
	head := fmt.Sprintf("%s\ncopy %.0f GB/s, float32 peak %.0f GFLOP/s, matrix products: %s\n", d.Info(), report.Copy, report.Peak, report.BLAS)
	if report.Small {
		head += "emulated device: the sizes are small and the times are meaningless\n"
	}
	if _, err := fmt.Print(head); err != nil {
		return err
	}
	return printTable(os.Stdout, report.Table())
}
