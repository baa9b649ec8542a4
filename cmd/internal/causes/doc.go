// Package causes finds out why a step changes something: from the checked program, whose expressions have places and
// know what they refer to, from the inputs in the state, and from the configuration of the operation before.
//
// The program of the last operation is not kept, so what has changed in its text is inferred. A changed property is
// made from atoms: literals, configuration values, outputs of resources and results of calls. Of configuration and
// outputs it is known whether they have changed. Of the others, those remain with which the expression could have
// given the recorded value while everything else was as it is now; if more than one does, each is only possible.
//
// An Explainer answers for one program and one stack. It computes nothing until something has changed.
package causes
