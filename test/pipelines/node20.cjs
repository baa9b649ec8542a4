// gitlab-ci-local wants methods of Set that Node has from 22 on.
if (!Set.prototype.union) {
  Object.defineProperty(Set.prototype, "union", {value(other) { return new Set([...this, ...other.keys()]); }});
  Object.defineProperty(Set.prototype, "intersection", {value(other) { return new Set([...this].filter((x) => other.has(x))); }});
  Object.defineProperty(Set.prototype, "difference", {value(other) { return new Set([...this].filter((x) => !other.has(x))); }});
}
