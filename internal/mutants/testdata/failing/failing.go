// Package failing has a test that fails without any mutant.
package failing

func Sum(a, b int) int { return a + b }
