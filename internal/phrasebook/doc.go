// Package phrasebook holds words of other tools and languages with what this language writes instead, one table per
// tool, for the hints of findings. It knows neither programs nor schemas.
package phrasebook
