// Package mask hides secrets in text: in logs, errors, findings, traces and everything else that leaves the program.
//
// A Masker learns secrets, as values or as texts, and replaces every occurrence by value.SecretText. It looks for a
// secret as it is and in the forms in which programs write it: its lines, quoted for JSON, YAML and shells,
// percent-encoded, in hexadecimal and in base64 (forms.go lists them). Where secrets overlap, all of their bytes are
// hidden, so a secret that contains another one never leaves a rest.
//
// Secrets that are too short to be searched everywhere have rules of their own:
//
//   - A text of at least LeastText bytes is hidden wherever it occurs.
//   - A number of at least LeastText characters is hidden where it stands as a number of its own: 5432 is hidden in
//     "port 5432" and "db:5432", and neither in "154320" nor in "1.5432" nor in "id5432".
//   - Everything else, booleans included, is hidden only where it is the whole text, apart from spaces around it.
//
// Names of resources are no values: in a known URN or type that stands in a text, nothing is hidden (Masker.LearnName).
//
// The cost is linear: learning n secrets and masking m texts in any order costs the sum of their lengths times the
// logarithm of the number of secrets. A Writer masks a stream, also where a secret is cut in two.
package mask
