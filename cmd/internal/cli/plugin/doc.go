// Package plugin implements the command plugin and its subcommands: bundle.go has bundle and the installation from a
// bundle, plugin.go the others. Downloads, archives and the lock file are in runtime/plugin/install.
package plugin
