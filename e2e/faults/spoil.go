package faults

import (
	"context"
	"time"
)

// spoil brings one fault after another over the link, until it ends, or the faults do.
func (l *link) spoil() {
	// Faults end with the link and with Calm.
	ctx, stop := context.WithCancel(l.ctx)
	defer stop()
	defer context.AfterFunc(l.fair, stop)()
	for {
		fault := l.next()
		if !l.pause(ctx, fault.After) {
			return
		}
		l.inflict(ctx, fault)
		if !fault.Kind.lasts() {
			return
		}
	}
}

func (l *link) inflict(ctx context.Context, fault Fault) {
	if fault.Kind == Truncate {
		l.left.Store(int64(fault.Bytes)) // it counts when it happens
		context.AfterFunc(ctx, func() { l.left.Store(unlimited) })
		<-ctx.Done()
		return
	}
	l.happened[fault.Kind].Add(1)
	switch fault.Kind {
	case Reset:
		l.end()
	case Stall:
		gate, open := context.WithTimeout(ctx, fault.For)
		l.gate.Store(&gate)
		<-gate.Done()
		open()
		l.gate.Store(nil)
	case Throttle:
		l.rate.Store(int64(fault.Bytes))
		l.pause(ctx, fault.For)
		l.rate.Store(0)
	case EndToClient:
		l.clientEnded.Store(true)
		_ = l.client.CloseWrite() // it fails only if the client is gone
	case EndToServer:
		l.serverEnded.Store(true)
		_ = l.server.CloseWrite() // it fails only if the server is gone
	}
}

// pause lets some time pass, or returns false when ctx ends first.
func (l *link) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil // both may be true
	case <-ctx.Done():
		return false
	}
}
