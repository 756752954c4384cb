package servers

import "testing"

func TestCorrectServers(t *testing.T) { play(t, correctServers()) }

func TestWrongWatches(t *testing.T) { play(t, wrongWatches()) }

func TestShortWatches(t *testing.T) { play(t, shortWatches()) }

func TestWrongLists(t *testing.T) { play(t, wrongLists()) }

func TestMalformedLists(t *testing.T) { play(t, malformedLists()) }

func TestHostileErrorResponses(t *testing.T) { play(t, hostileErrorResponses()) }

func TestWrongStreamingLists(t *testing.T) { play(t, wrongStreamingLists()) }

func TestUnusualServers(t *testing.T) { play(t, unusualServers()) }
