// Package graphs is the structure of labels on the variables of a graph whose edges score pairs of labels: parts, loss,
// constraints, enumeration and metrics. Its sub-packages make graphs of images: masks, the regions that are the
// variables, data sets, drawn scenes, pictures.
package graphs
