package main

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// version returns the module version from the build information, for example "v1.2.3",
// "v0.0.0-20261121120855-a313d0efb1ae" or "(devel)".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return cmp.Or(info.Main.Version, "(unknown)")
}

// committed returns the date of the built commit, for example "2026-11-21", or "" if it is unknown.
func committed() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.time" {
			day, _, _ := strings.Cut(setting.Value, "T")
			return day
		}
	}
	return ""
}
