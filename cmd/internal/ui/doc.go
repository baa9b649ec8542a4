// Package ui is the local console: a server on the loopback with one page that shows the stacks of a backend, their
// resources, history and runs. Nothing on the page changes a resource.
//
// Server is the central type. Its guard admits only requests that come from the page itself: by the token, which is
// never in a file or in the text of the page, by the host and by the origin. Values are masked before they leave:
// secrets stay sealed in memory, and one is opened only for a request that brings the passphrase of the stack.
//
// The page is in web, in TypeScript; `npm run build` writes web/dist.
package ui
