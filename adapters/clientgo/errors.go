package clientgo

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// apiError wraps an [lw.StatusError] so that functions of package apierrors such as IsForbidden recognize it. It
// returns other errors unchanged.
func apiError(err error) error {
	status, ok := errors.AsType[*lw.StatusError](err)
	if !ok {
		return err
	}
	return &statusError{api: &apierrors.StatusError{ErrStatus: statusOf(status)}, lw: err}
}

// statusError matches both an [apierrors.StatusError] and the error of package lw.
type statusError struct {
	api *apierrors.StatusError
	lw  error
}

func (e *statusError) Error() string { return e.api.Error() }

func (e *statusError) Unwrap() []error { return []error{e.api, e.lw} }

func statusOf(from *lw.StatusError) metav1.Status {
	details := &metav1.StatusDetails{
		Name:              from.Name,
		Group:             from.Group,
		Kind:              from.Kind,
		RetryAfterSeconds: int32(from.RetryAfter.Seconds()),
	}
	for _, cause := range from.Causes {
		details.Causes = append(details.Causes, metav1.StatusCause{Type: metav1.CauseType(cause.Reason), Message: cause.Message, Field: cause.Field})
	}
	status := metav1.Status{
		Status: metav1.StatusFailure, Message: from.Message, Reason: metav1.StatusReason(from.Reason), Code: int32(from.Code), Details: details,
	}
	if status.Reason == "" {
		generic := apierrors.NewGenericServerResponse(from.Code, "get", schema.GroupResource{}, "", from.Message, 0, false)
		status.Reason = generic.ErrStatus.Reason
	}
	if status.Message == "" {
		status.Message = from.Error()
	}
	return status
}
