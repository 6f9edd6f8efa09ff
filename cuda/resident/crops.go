package resident

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured/images"
)

// Crops is an images.Crops on a device: the squares are cut out of the pixels there, for each batch.
type Crops struct {
	Side, Width int
	Beside      device.Array[float32] // [positions×Width]
	At          device.Array[int32]   // [positions×3]
	Shapes      device.Array[int64]   // [images×3]
	Pixels      device.Array[uint8]   // [pixels×3]
}

func newCrops(d *device.Device, c *images.Crops) *Crops {
	return &Crops{
		Side: c.Side, Width: c.Width,
		Beside: device.NewFrom(d, c.Beside, "the features"),
		At:     device.NewFrom(d, c.At, "the places of crops"),
		Shapes: device.NewFrom(d, c.Shapes, "the sizes of images"),
		Pixels: device.NewFrom(d, c.Pixels, "the pixels of images"),
	}
}

func (c *Crops) free(d *device.Device) {
	device.Free(d, c.Beside)
	device.Free(d, c.At)
	device.Free(d, c.Shapes)
	device.Free(d, c.Pixels)
}
