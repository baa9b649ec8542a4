// Package mask hides secrets in text: in logs, errors, findings, traces and all other output of the program.
//
// A Masker learns secrets, as values or as texts, and replaces every occurrence by value.SecretText. It finds a secret
// verbatim and in the forms in which programs write it: its lines, quoted for JSON, YAML and shells, percent-encoded,
// in hexadecimal and in base64 (forms.go lists them). If secrets overlap, all of their bytes are hidden, so no part of
// a secret that contains another one is shown.
//
// Short secrets have rules of their own:
//
//   - A text of at least LeastText bytes is hidden wherever it occurs.
//   - A number of at least LeastText characters is hidden where it stands alone: 5432 is hidden in "port 5432" and
//     "db:5432", but not in "154320", "1.5432" or "id5432".
//   - Everything else, including booleans, is hidden only if it is the whole text, apart from surrounding spaces.
//
// Names of resources are not hidden: a known URN or type in a text stays unchanged (Masker.LearnName).
//
// The cost is linear: learning n secrets and masking m texts in any order costs the sum of their lengths times the
// logarithm of the number of secrets. A Writer masks a stream, even if a secret is split between writes.
package mask
