package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// onList returns a handler that passes list requests to serve. Its watches are correct for 20 seconds and then expire.
func onList(serve func(c *call)) func(c *call) {
	return func(c *call) {
		if !c.watch {
			serve(c)
			return
		}
		deadline := time.Now().Add(20 * time.Second)
		c.feed(c.from(), time.Second, func(int) {
			if time.Now().After(deadline) {
				c.write(failed(410, "Expired", "too old resource version"))
				c.hang()
			}
		})
	}
}

// edited returns a handler that passes the JSON of each list through edit.
func edited(edit func(c *call, text string) string) func(c *call) {
	return onList(func(c *call) {
		at, items, next := c.page()
		c.write(edit(c, document(c.version(at), next, items)))
	})
}

func wrongLists() []server {
	return []server{
		{name: "future-list", does: "sends lists at a resourceVersion far in the future", lies: true, restart: true, opts: ordinary,
			serve: func(c *call) {
				if c.watch {
					c.follow(c.from())
					return
				}
				at, items, next := c.page()
				c.write(document(c.version(at+1e9), next, items))
			}},
		{name: "410-lists", does: "rejects each list with 410 and a fresh continue token", causes: []error{lw.ErrExpired}, opts: ordinary,
			serve: func(c *call) {
				c.reject(410, "", strings.Replace(failure(410, "Expired", "expired"), `"metadata":{}`, `"metadata":{"continue":"1005/3"}`, 1))
			}},
		{name: "410-lists-alternating", does: "rejects every other list and every watch with 410", causes: []error{lw.ErrExpired}, opts: ordinary,
			serve: func(c *call) {
				if c.watch || c.nth%2 == 0 {
					c.reject(410, "", failure(410, "Expired", "expired"))
				}
				c.list()
			}},
		{name: "pages-ahead", does: "sends each page of a list at the latest resourceVersion instead of at the first page's resourceVersion", causes: []error{lw.ErrInconsistentPages}, opts: ordinary,
			serve: onList(func(c *call) {
				_, items, next := c.page()
				c.step()
				c.write(document(c.version(c.now()), next, items))
			}), lies: true},
		{name: "long-tokens", does: "sends continue tokens of 128 KiB", opts: ordinary,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				if next != "" {
					next += "/" + strings.Repeat("x", 128<<10)
				}
				c.write(document(c.version(at), next, items))
			})},
		{name: "remaining", does: "sends a wrong remainingItemCount", opts: ordinary,
			serve: edited(func(c *call, text string) string {
				count := []string{"-5", "1000000000000000000", `"many"`, "1e99", "null", "{}"}[c.nth%6]
				return strings.Replace(text, `"continue"`, `"remainingItemCount":`+count+`,"continue"`, 1)
			})},
		{name: "shrinking-pages", does: "sends smaller and smaller pages", opts: ordinary, serve: onList(func(c *call) {
			at, items, next := c.page()
			var offset int
			if fmt.Sscanf(next, "%d/%d", new(int), &offset); next != "" {
				keep := max(1, len(items)-offset/3)
				next, items = fmt.Sprintf("%d/%d", at, offset-len(items)+keep), items[:keep]
			}
			c.write(document(c.version(at), next, items))
		})},
		{name: "empty-pages", does: "sends empty pages with new continue tokens forever", causes: []error{lw.ErrNoProgress}, opts: ordinary,
			serve: onList(func(c *call) {
				if c.q.Get("limit") == "" {
					c.list()
					return
				}
				c.write(document(c.version(1005), fmt.Sprintf("1005/0/%d", c.nth), nil))
			})},
		{name: "repeated-page", does: "sends the second page of a list twice", causes: []error{lw.ErrNoProgress}, opts: ordinary,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				if token := c.q.Get("continue"); strings.HasSuffix(token, "/7") {
					next = token + "/again"
				}
				c.write(document(c.version(at), next, items))
			})},
		{name: "endless-pages", does: "never ends a list: sends one page per second, each with one new object", lies: true, opts: ordinary,
			serve: func(c *call) {
				c.sleep(time.Second)
				c.write(document(c.version(1005), fmt.Sprintf("endless-%d", c.nth), []string{c.object(fmt.Sprintf("new-%d", c.nth), 1, 1)}))
			}},
		{name: "odd-names", does: "lists objects whose names differ only in case or contain NUL or slashes", opts: ordinary,
			naming: func(n int) string {
				return []string{"x%d", "X%d", "x\x00%d", "shop/x%d", "/x%d", "x%d/"}[n%6][:] + fmt.Sprint(n/6)
			},
			serve: onList((*call).list)},
		{name: "foreign-items", does: "includes in each list an object of another kind from another namespace", lies: true, opts: ordinary,
			serve: edited(func(c *call, text string) string {
				return strings.Replace(text, `"items":[`, `"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"kube-system","resourceVersion":"5"}},`, 1)
			})},
		{name: "twice", does: "lists each object twice, first in its current state and then in an older state", lies: true, opts: ordinary,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				c.write(document(c.version(at), next, append(items, c.items(at-3)...)))
			})},
		{name: "regressing-check", does: "sends no watch events and returns resourceVersion 5 for a list with limit 1", opts: ordinary,
			serve: func(c *call) {
				if c.watch {
					c.begin()
					c.sleep(c.timeout())
				} else if c.q.Get("limit") == "1" {
					c.write(document("5", "", nil))
				} else {
					c.list()
				}
			}},
	}
}

func malformedLists() []server {
	strange := func(texts ...string) func(*call) {
		return func(c *call) {
			if c.watch {
				c.news()
				return
			}
			c.write(texts[c.nth%len(texts)])
		}
	}
	return []server{
		{name: "empty-200", does: "responds to every request with 200 and an empty body", serve: func(c *call) {}},
		{name: "not-lists", does: "responds to list requests with JSON that is not the requested list", opts: ordinary, causes: []error{lw.ErrNotList},
			serve: strange(`{}`, `null`, `[]`, `""`, `7`, `{"kind":"Status","apiVersion":"v1","status":"Success","code":200}`,
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`,
				`{"kind":"SecretList","apiVersion":"evil/v9","metadata":{"resourceVersion":"9"},"items":[]}`)},
		{name: "html-lists", does: "sends HTML instead of lists", opts: ordinary, serve: strange("<!doctype html><title>Log in</title>")},
		// Without the resourceVersion of the list, the client cannot notice deletions between the list and its watch.
		{name: "no-list-version", does: "sends lists without a resourceVersion and starts each watch after 10 seconds", lies: true, nameless: true, opts: ordinary,
			serve: func(c *call) {
				if c.watch {
					c.sleep(10 * time.Second)
					c.follow(c.from())
					return
				}
				c.write(strings.Replace(document("", "", c.items(c.now())), `"resourceVersion":"",`, ``, 1))
			}},
		{name: "odd-list-versions", does: "sends lists with malformed resourceVersions such as 00, -1 and a JSON number", lies: true, restart: true, opts: ordinary,
			serve: edited(func(c *call, text string) string {
				odd := []string{`"0"`, `"00"`, `"-1"`, `7`, `" 7"`, `null`, `{}`, `"007"`}[c.nth%8]
				return strings.Replace(text, fmt.Sprintf("%q", c.version(c.now())), odd, 1)
			})},
		{name: "two-list-versions", does: "sends lists with two resourceVersions, of which the second is correct", opts: ordinary,
			serve: edited(func(c *call, text string) string {
				return strings.Replace(text, `"resourceVersion":`, `"resourceVersion":"99999999","resourceVersion":`, 1)
			})},
		{name: "changing-kind", does: "changes the kind of a list between pages", opts: ordinary,
			serve: edited(func(c *call, text string) string {
				if c.q.Get("continue") != "" {
					return strings.Replace(text, "ConfigMapList", "SecretList", 1)
				}
				return text
			})},
		{name: "trailing", does: "sends trailing data after each list", opts: ordinary,
			serve: edited(func(c *call, text string) string { return text + []string{"{}", "garbage", "\x00", text}[c.nth%4] })},
		{name: "torn", does: "truncates each list at a different position", opts: ordinary,
			serve: edited(func(c *call, text string) string { return text[:c.nth*37%len(text)] })},
		{name: "drip", does: "sends lists at one byte per second", slow: true, opts: ordinary,
			serve: edited(func(c *call, text string) string { return c.drip(text, time.Second) })},
	}
}
