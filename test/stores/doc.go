// Package stores holds nothing but the versions of real servers that tests run: its go.mod pins versitygw, a server of
// S3 over a folder, which make store-test builds from here. It is a module of its own so that what servers need never
// reaches the program.
package stores
