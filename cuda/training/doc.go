// Package training trains and predicts on a GPU. Accelerator implements engine.Accelerator: it keeps the data, the weights of the
// optimiser's path and the memories of methods on the device, and replays steps as captured graphs. Chains are evaluated by
// kernels (Objective); for other structures the network runs on the device and the structure's oracle on the host.
package training
