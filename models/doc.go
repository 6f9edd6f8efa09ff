// Package models holds what users name and keep: the configuration of a run, the data sets and networks that it asks for,
// trained models as files, and what is done with them: predicting, evaluating, exporting.
package models
