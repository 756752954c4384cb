package hostile

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

// onList returns a handler that lets serve answer lists. Its watches are correct for 20 seconds and then expire, so
// that the client lists again.
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
		c.write(edit(c, List(c.version(at), next, items)))
	})
}

func wrongLists() []Scenario {
	return []Scenario{
		{Name: "future-list", Does: "sends lists at a resourceVersion far in the future", Lies: true, Restart: true, Lists: true,
			serve: func(c *call) {
				if c.watch {
					c.follow(c.from())
					return
				}
				at, items, next := c.page()
				c.write(List(c.version(at+1e9), next, items))
			}},
		{Name: "410-lists", Does: "rejects each list with 410 and a fresh continue token", Causes: []error{lw.ErrExpired}, Lists: true,
			serve: func(c *call) { c.reject(410, "", freshToken) }},
		{Name: "410-lists-alternating", Does: "rejects every other list and every watch with 410", Causes: []error{lw.ErrExpired}, Lists: true,
			serve: func(c *call) {
				if c.watch || c.nth%2 == 0 {
					c.reject(410, "", Status(410, "Expired", "expired", ""))
				}
				c.list()
			}},
		{Name: "pages-ahead", Does: "sends each page of a list at the latest resourceVersion instead of at the first page's resourceVersion", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: onList(func(c *call) {
				_, items, next := c.page()
				c.Step()
				c.write(List(c.version(c.now()), next, items))
			}), Lies: true},
		{Name: "long-tokens", Does: "sends continue tokens of 128 KiB", Lists: true,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				if next != "" {
					next += "/" + strings.Repeat("x", 128<<10)
				}
				c.write(List(c.version(at), next, items))
			})},
		{Name: "remaining", Does: "sends a wrong remainingItemCount", Lists: true,
			serve: edited(func(c *call, text string) string {
				count := []string{"-5", "1000000000000000000", `"many"`, "1e99", "null", "{}"}[c.nth%6]
				return strings.Replace(text, `"continue"`, `"remainingItemCount":`+count+`,"continue"`, 1)
			})},
		{Name: "shrinking-pages", Does: "sends smaller and smaller pages", Lists: true, serve: onList(func(c *call) {
			at, items, next := c.page()
			var offset int
			if fmt.Sscanf(next, "%d/%d", new(int), &offset); next != "" {
				keep := max(1, len(items)-offset/3)
				next, items = fmt.Sprintf("%d/%d", at, offset-len(items)+keep), items[:keep]
			}
			c.write(List(c.version(at), next, items))
		})},
		{Name: "empty-pages", Does: "sends empty pages with new continue tokens forever", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: onList(func(c *call) {
				if c.q.Get("limit") == "" {
					c.list()
					return
				}
				c.write(List(c.version(1005), fmt.Sprintf("1005/0/%d", c.nth), nil))
			})},
		{Name: "repeated-page", Does: "sends the second page of a list twice", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				if token := c.q.Get("continue"); strings.HasSuffix(token, "/7") {
					next = token + "/again"
				}
				c.write(List(c.version(at), next, items))
			})},
		{Name: "endless-pages", Does: "never ends a list: sends one page per second, each with one new object", Lies: true, Lists: true,
			serve: func(c *call) {
				c.sleep(time.Second)
				c.write(List(c.version(1005), fmt.Sprintf("endless-%d", c.nth), []string{c.object(fmt.Sprintf("new-%d", c.nth), 1, 1)}))
			}},
		{Name: "odd-names", Does: "lists objects whose names differ only in case or contain NUL or slashes", Lists: true,
			naming: func(n int) string {
				return []string{"x%d", "X%d", "x\x00%d", "shop/x%d", "/x%d", "x%d/"}[n%6][:] + fmt.Sprint(n/6)
			},
			serve: onList((*call).list)},
		{Name: "foreign-items", Does: "includes in each list an object of another kind from another namespace", Lies: true, Lists: true,
			serve: edited(func(c *call, text string) string {
				return strings.Replace(text, `"items":[`, `"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"kube-system","resourceVersion":"5"}},`, 1)
			})},
		{Name: "twice", Does: "lists each object twice, first in its current state and then in an older state", Lies: true, Lists: true,
			serve: onList(func(c *call) {
				at, items, next := c.page()
				c.write(List(c.version(at), next, append(items, c.items(at-3)...)))
			})},
		{Name: "regressing-check", Does: "sends no watch events and returns resourceVersion 5 for a list with limit 1", Lists: true,
			serve: func(c *call) {
				if c.watch {
					c.begin()
					c.sleep(c.timeout())
				} else if c.q.Get("limit") == "1" {
					c.write(List("5", "", nil))
				} else {
					c.list()
				}
			}},
	}
}

func malformedLists() []Scenario {
	strange := func(texts ...string) func(*call) {
		return func(c *call) {
			if c.watch {
				c.news()
				return
			}
			c.write(texts[c.nth%len(texts)])
		}
	}
	return []Scenario{
		{Name: "empty-200", Does: "responds to every request with 200 and an empty body", serve: func(c *call) {}},
		{Name: "not-lists", Does: "responds to list requests with JSON that is not the requested list", Lists: true, Causes: []error{lw.ErrNotList},
			serve: strange(`{}`, `null`, `[]`, `""`, `7`, `{"kind":"Status","apiVersion":"v1","status":"Success","code":200}`,
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`,
				`{"kind":"SecretList","apiVersion":"evil/v9","metadata":{"resourceVersion":"9"},"items":[]}`)},
		{Name: "html-lists", Does: "sends HTML instead of lists", Lists: true, serve: strange("<!doctype html><title>Log in</title>")},
		// Without the list's resourceVersion, the client cannot notice deletions that happen between the list and the
		// watch.
		{Name: "no-list-version", Does: "sends lists without a resourceVersion and starts each watch after 10 seconds", Lies: true, nameless: true, Lists: true,
			serve: func(c *call) {
				if c.watch {
					c.sleep(10 * time.Second)
					c.follow(c.from())
					return
				}
				c.write(strings.Replace(List("", "", c.items(c.now())), `"resourceVersion":"",`, ``, 1))
			}},
		{Name: "odd-list-versions", Does: "sends lists with malformed resourceVersions such as 00, -1 and a JSON number", Lies: true, Restart: true, Lists: true,
			serve: edited(func(c *call, text string) string {
				odd := []string{`"0"`, `"00"`, `"-1"`, `7`, `" 7"`, `null`, `{}`, `"007"`}[c.nth%8]
				return strings.Replace(text, fmt.Sprintf("%q", c.version(c.now())), odd, 1)
			})},
		{Name: "two-list-versions", Does: "sends lists with a wrong and then the correct resourceVersion", Lists: true,
			serve: edited(func(c *call, text string) string {
				return strings.Replace(text, `"resourceVersion":`, `"resourceVersion":"99999999","resourceVersion":`, 1)
			})},
		{Name: "changing-kind", Does: "changes the kind of a list between pages", Lists: true,
			serve: edited(func(c *call, text string) string {
				if c.q.Get("continue") != "" {
					return strings.Replace(text, "ConfigMapList", "SecretList", 1)
				}
				return text
			})},
		{Name: "trailing", Does: "sends trailing data after each list", Lists: true,
			serve: edited(func(c *call, text string) string { return text + []string{"{}", "garbage", "\x00", text}[c.nth%4] })},
		{Name: "torn", Does: "truncates each list at a different position", Lists: true,
			serve: edited(func(c *call, text string) string { return text[:c.nth*37%len(text)] })},
		{Name: "drip", Does: "sends lists at one byte per second", slow: true, Lists: true,
			serve: edited(func(c *call, text string) string { return c.drip(text, time.Second) })},
	}
}
