"use strict";
// Stands in for @pulumi/pulumi: resources are declared in YAML, so its classes do nothing here.
class Resource {}
class Config {
  constructor() {
    throw new Error("a dynamic provider gets its configuration in configure(req): use req.config");
  }
}
const unwrapped = () => {
  throw new Error("a dynamic provider gets plain values: there are no outputs to unwrap");
};
const log = {};
for (const level of ["debug", "info", "warn", "error"]) log[level] = (text) => console[level](text);
module.exports = {
  Resource, CustomResource: Resource, ComponentResource: Resource, ProviderResource: Resource, Config, log,
  output: unwrapped, all: unwrapped, interpolate: unwrapped, secret: (v) => v,
  dynamic: { Resource },
};
