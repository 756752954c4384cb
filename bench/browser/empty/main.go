// Command empty does nothing. The benchmark starts it in a browser to show how long any Go program needs to start there.
package main

func main() { select {} }
