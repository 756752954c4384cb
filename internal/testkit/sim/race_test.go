//go:build race

package sim

func init() { seedsByDefault, referenceSeeds = 300, 50 }
