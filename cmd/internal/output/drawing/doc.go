// Package drawing draws graphs of boxes, groups of boxes and arrows as SVG.
//
// The layout is layered, from left to right: cycles are opened, boxes are put in columns by the longest path to them,
// no column much higher than the picture is wide, columns are ordered by barycentres so that few arrows cross, and
// boxes are moved as close to their neighbours as that order allows. Arrows of one box share a line until they part,
// and run between the boxes of the columns that they pass, never through one. A group is laid out by itself and then
// treated as a box. Unconnected parts are packed side by side.
//
// The same picture always gives the same text. The cost is close to linear: the number of sweeps, and of arrows routed
// around boxes, is bounded for big pictures.
package drawing
