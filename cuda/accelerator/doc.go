// Package accelerator trains and predicts on a GPU. Accelerator implements engine.Accelerator: it keeps the data, the optimiser's path and
// the methods' memories on the device, and replays steps as captured graphs. Kernels evaluate chains (Objective). For other
// structures the network runs on the device and the structure's oracle on the host.
package accelerator
