package clientgo

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// attempt describes an informer's current request, and decides which failures to report. It imitates client-go, which
// tries a streaming list and then an ordinary list, and reports only a failure of the ordinary list. client-go reports
// a watch that could not be opened, unless the connection was closed or timed out, and waits silently while the server
// refuses connections or asks the client to wait.
type attempt struct {
	kind     requestKind
	latest   bool // whether the request is for the first page of a list of the latest state; for such a request, client-go reports even an Expired error
	opened   bool // whether the response to a watch or a streaming list has begun
	failures int  // number of consecutive failures since the last complete list or open watch
	failed   bool // whether this request has failed
}

type requestKind uint8

const (
	listing requestKind = iota
	streaming
	watching // a watch, or lw's check before a watch, which client-go does not have
)

// begin records the start of a request.
func (a *attempt) begin(kind requestKind, opts *lw.ListOptions) {
	failures := a.failures
	if !a.failed { // the last request was successful
		failures = 0
	}
	*a = attempt{kind: kind, latest: opts.ResourceVersion == "" && opts.Continue == "", failures: failures}
}

// retries is how often client-go's HTTP client repeats a request after a 429 or 5xx response with a Retry-After header.
// After further 429 responses, client-go's reflector repeats streaming lists and watches without a limit.
const retries = 10

// fail records that the request has failed, and reports whether client-go would call its watch error handler.
func (a *attempt) fail(cause error) (reported bool) {
	if a.failed = true; a.kind == watching && a.opened { // client-go does not report the end of an open watch
		a.failures = 0
		return false
	}
	a.failures++
	status, answered := errors.AsType[*lw.StatusError](cause)
	limited := answered && status.Code == http.StatusTooManyRequests
	outdated := errors.Is(cause, lw.ErrExpired) || errors.Is(cause, lw.ErrResourceVersionTooLarge) || errors.Is(cause, lw.ErrInconsistent)
	switch {
	case errors.Is(cause, errNotWrapped):
		return true
	case utilnet.IsConnectionRefused(cause), answered && status.RetryAfter > 0 && (limited || status.Code >= 500 && a.failures <= retries):
		return false
	case a.kind == listing:
		return !outdated || a.latest
	case a.kind == streaming && answered:
		return lw.IsPermanent(cause) // otherwise lw falls back to an ordinary list, whose failure would be reported
	case a.kind == streaming && !errors.Is(cause, lw.ErrInvalidResponse):
		return a.failures > 1 || !a.opened && !utilnet.IsProbableEOF(cause) // client-go would now send an ordinary list
	}
	// The request is for a watch that could not be opened, or for a streaming list with an invalid response.
	return answered && !limited ||
		!answered && !outdated && !errors.Is(cause, lw.ErrInvalidResponse) && !errors.Is(cause, lw.ErrSilent) &&
			!utilnet.IsProbableEOF(cause) && !utilnet.IsTimeout(cause)
}

// interrupted reports an error the way client-go would: to the watch error handler, or in the log. It returns true
// if the informer must stop because of a programming error that no retry can fix.
func (i *informer) interrupted(cause error) (stop bool) {
	attempt := &i.client.attempt
	i.cause, i.reported = cause, attempt.fail(cause)
	ctx, handler := i.running()
	if !i.reported || ctx.Err() != nil {
		return false
	}
	err := apiError(cause)
	if attempt.kind != watching {
		err = fmt.Errorf("failed to list %v: %w", i.description, err)
	}
	switch {
	case handler != nil:
		handler(ctx, i.reflector, err)
	case !errors.Is(cause, lw.ErrExpired): // warn logs it at level info, as client-go does
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", i.about()...)
	}
	return errors.Is(cause, errNotWrapped)
}

// about returns keys and values that identify the informer in a log line.
func (i *informer) about() []any {
	return []any{"type", i.description, "collection", i.source.String()}
}

// warn logs lw's warnings to klog at level info. The method interrupted has already reported some errors, and warn omits
// those.
func (i *informer) warn(_ string, args ...any) {
	ctx, handler := i.running()
	if i.reported && (handler != nil || !errors.Is(i.cause, lw.ErrExpired)) {
		return
	}
	klog.FromContext(ctx).Info("The list or watch was interrupted", append(args, i.about()...)...)
}

// apiError wraps an [lw.StatusError] so that functions of package apierrors such as IsForbidden recognize it. It
// returns other errors unchanged.
func apiError(err error) error {
	from, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return err
	}
	details := &metav1.StatusDetails{Name: from.Name, Group: from.Group, Kind: from.Kind, RetryAfterSeconds: int32(from.RetryAfter.Seconds())}
	for _, cause := range from.Causes {
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseType(cause.Reason), Message: cause.Message, Field: cause.Field})
	}
	status := metav1.Status{
		Status: metav1.StatusFailure, Message: cmp.Or(from.Message, from.Error()), Reason: metav1.StatusReason(from.Reason), Code: int32(from.Code), Details: details,
	}
	if status.Reason == "" {
		status.Reason = apierrors.NewGenericServerResponse(from.Code, "get", schema.GroupResource{}, "", from.Message, 0, false).ErrStatus.Reason
	}
	return &statusError{&apierrors.StatusError{ErrStatus: status}, err}
}

// statusError matches both an [apierrors.StatusError] and the error of package lw.
type statusError struct {
	*apierrors.StatusError
	lw error
}

func (e *statusError) Unwrap() []error { return []error{e.StatusError, e.lw} }
