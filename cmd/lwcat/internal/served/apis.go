package served

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-6d2a410a/listwatch/cache"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/discovery"
	"github.com/seed-6d2a410a/listwatch/cmd/lwcat/internal/recording"
	"github.com/seed-6d2a410a/listwatch/internal/clock"
	"github.com/seed-6d2a410a/listwatch/lw"
	"github.com/seed-6d2a410a/listwatch/lw/lwtest"
)

// api describes a collection.
type api discovery.Resource

// path returns the path of the collection across all namespaces.
func (a api) path() string {
	if a.Group == "" {
		return "/api/" + a.Version + "/" + a.Plural
	}
	return "/apis/" + a.Group + "/" + a.Version + "/" + a.Plural
}

func (a api) resource() lwtest.Resource {
	return lwtest.Resource{
		Group: a.Group, Version: a.Version, Kind: a.Kind, Plural: a.Plural, ShortNames: a.ShortNames, Namespaced: a.Namespaced,
	}
}

// split parses an API path such as "/apis/apps/v1/namespaces/shop/deployments/web/scale".
func split(path string) (a api, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		a.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		a.Group, a.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return a, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		a.Namespaced, parts = true, parts[2:]
	}
	a.Plural = parts[0]
	return a, a.Plural != "" && a.Version != ""
}

// collectionOf returns the path of the collection that contains a requested path, or "".
func collectionOf(path string) string {
	of, ok := split(path)
	if !ok {
		return ""
	}
	return of.path()
}

// pathOf returns the group, version and plural of a recorded collection.
func pathOf(c recording.Collection) (of api, ok bool) {
	if c.Raw != "" {
		path, _, _ := strings.Cut(c.Raw, "?")
		return split(path)
	}
	return api{Group: c.Group, Version: c.Version, Plural: c.Plural, Namespaced: c.Namespace != ""}, true
}

// completeAPI returns of with its kind and scope from discovery. If discovery lacks the resource, it uses the first
// recorded object.
func completeAPI(ctx context.Context, recorded *recording.Recording, c recording.Collection, of api, apis []discovery.Resource) api {
	i := slices.IndexFunc(apis, func(r discovery.Resource) bool { return api(r).path() == of.path() })
	if i >= 0 {
		return api(apis[i])
	}
	of.Kind = of.Plural // used if no object was recorded
	for event := range events(ctx, recorded.Play(0).Collection(), c) {
		if o := event.Object; o != nil {
			of.Namespaced = of.Namespaced || o.GetNamespace() != ""
			of.Kind = o.Kind()
			break
		}
	}
	return of
}

// events returns an iterator over the recorded events of a collection and their changes.
func events(ctx context.Context, view *recording.Playback, c recording.Collection) func(func(lw.Event[*lw.Object], []cache.Change[*lw.Object]) bool) {
	return func(yield func(lw.Event[*lw.Object], []cache.Change[*lw.Object]) bool) {
		defer view.Close()
		client, err := lw.NewClient(view, c.Resource(), lw.RawCodec{}, &lw.ClientOptions{KeepManagedFields: true})
		if err != nil {
			yield(lw.Event[*lw.Object]{Type: lw.Interrupted, Interruption: &lw.Interruption{Err: err, Final: true}}, nil)
			return
		}
		reflector := cache.NewReflector(client, &lw.Options{
			LabelSelector: c.Labels, FieldSelector: c.Fields, ResumeFrom: c.From, StopOn: recording.Over,
		})
		reflector.Changes(clock.WithReplay(ctx, view.Now))(yield)
	}
}
