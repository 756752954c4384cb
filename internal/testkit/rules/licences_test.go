package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// licences maps each accepted licence to a phrase from its text. These licences require only a notice.
var licences = map[string]string{
	"Apache-2.0": "Apache License Version 2.0",
	"BSD":        "Redistribution and use in source and binary forms, with or without modification, are permitted",
	"MIT":        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software",
}

func TestDependenciesHaveAcceptedLicences(t *testing.T) {
	modules := map[string]string{} // folder by module path
	for _, line := range goList(t, nil, "-deps", "-test", "-f", "{{with .Module}}{{.Path}}={{.Dir}}{{end}}", "./...") {
		path, folder, _ := strings.Cut(line, "=")
		modules[path] = folder
	}
	require.Greater(t, len(modules), 5)
	for path, folder := range modules {
		require.NotEmpty(t, licenceIn(t, folder), "%s has no licence that this project accepts", path)
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
