// Package models trains models from a configuration, keeps them as files, and predicts and evaluates with them.
//
// A training goes one way: Config.Resolve resolves the data format, ReadFiles and FitInputs read the data, NewRun makes the model,
// the objective and the method, and Run trains.
package models
