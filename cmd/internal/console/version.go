package console

// Version is this program's version as v1.2.3.
func (a *Console) Version() string {
	if v := a.World.Version; v != "" && v[0] != 'v' {
		return "v" + v
	} else if v != "" {
		return v
	}
	return "v0.0.0-dev"
}
