// Package osfile holds the calls on files that mean something else on Windows: opening, renaming and removing files
// while other processes look at them, telling a missing path from others, and folders as a unit of durability. Code
// elsewhere calls it instead of package os where that matters; internal/layout lists these calls.
//
// On Windows a file that package os has opened can be neither renamed nor removed by anybody until it is closed, and
// virus scanners, indexers and editors open files at any moment. So Open, OpenFile and ReadFile let others rename and
// remove the file meanwhile, and Rename and Remove try again for a while. On other systems all functions are those of
// package os.
package osfile
