package hostile

import "testing"

func TestFollowsCorrectServers(t *testing.T) { play(t, correctServers()) }

func TestRecoversFromWrongWatches(t *testing.T) { play(t, wrongWatches()) }

func TestRecoversFromShortWatches(t *testing.T) { play(t, shortWatches()) }

func TestRecoversFromWrongLists(t *testing.T) { play(t, wrongLists()) }

func TestRecoversFromMalformedLists(t *testing.T) { play(t, malformedLists()) }

func TestRecoversFromErrorResponses(t *testing.T) { play(t, hostileErrorResponses()) }

func TestRecoversFromWrongStreamingLists(t *testing.T) { play(t, wrongStreamingLists()) }

func TestRecoversFromUnusualServers(t *testing.T) { play(t, unusualServers()) }
