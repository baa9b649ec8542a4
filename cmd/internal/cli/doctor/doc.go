// Package doctor implements the command doctor, which checks the machine and reports problems with their solutions.
package doctor
