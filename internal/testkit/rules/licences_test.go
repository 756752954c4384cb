package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// licences are those of which nothing but a notice is asked, each by a sentence of its text.
var licences = map[string]string{
	"Apache-2.0": "Apache License Version 2.0",
	"BSD":        "Redistribution and use in source and binary forms, with or without modification, are permitted",
	"MIT":        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
}

// TestLicences: whatever is compiled into programs or tests may be given on by whoever names its authors.
func TestLicences(t *testing.T) {
	modules := map[string]string{} // folders, by path
	for _, line := range goList(t, nil, "-deps", "-test", "-f", "{{with .Module}}{{.Path}}={{.Dir}}{{end}}", "./...") {
		path, folder, _ := strings.Cut(line, "=")
		modules[path] = folder
	}
	require.Greater(t, len(modules), 5)
	for path, folder := range modules {
		require.NotEmpty(t, licenceIn(t, folder), "%s has no licence that is known here", path)
	}
}

func licenceIn(t *testing.T, folder string) string {
	files, err := filepath.Glob(filepath.Join(folder, "LICENSE*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		words := strings.Join(strings.Fields(string(text)), " ")
		for name, sentence := range licences {
			if strings.Contains(words, sentence) {
				return name
			}
		}
	}
	return ""
}
