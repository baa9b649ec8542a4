package console

// DownloadOverrides is the environment variable that sends downloads elsewhere (F2.35).
const DownloadOverrides = "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"

// DownloadsForbidden names what forbids downloads; empty when nothing does.
func DownloadsForbidden(a *Console) string {
	switch {
	case a.Global.Offline:
		return "--offline"
	case a.World.Enabled("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"):
		return "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
	}
	return ""
}
