//go:build race

package sim

func init() { seedsByDefault = 300 }
