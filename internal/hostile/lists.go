package hostile

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d2a410a/listwatch/lw"
)

func wrongLists() []Scenario {
	return sourced(chunks, []Scenario{
		{Name: "future-list", Does: "sends lists at a resourceVersion far in the future", Source: versions, Lies: true, Restart: true, Lists: true,
			serve: answer(follow, func(c *call) {
				p := c.page()
				c.write(List(c.version(p.at+1e9), p.next, p.items))
			}, correct)},
		{Name: "410-lists", Does: "rejects each list with 410 and a fresh continue token", Source: "https://github.com/kubernetes/kubernetes/pull/67284", Causes: []error{lw.ErrExpired}, Lists: true, serve: reject(410, freshToken)},
		{Name: "410-lists-alternating", Does: "rejects every other list and every watch with 410", Causes: []error{lw.ErrExpired}, Lists: true,
			serve: answer(reject(410, gone), turns(reject(410, gone), list), correct)},
		{Name: "pages-ahead", Does: "sends each page of a list at the latest resourceVersion instead of at the first page's resourceVersion", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: lists(pages(func(c *call, p *page) {
				c.Step()
				p.at = c.now()
			})), Lies: true},
		{Name: "long-tokens", Does: "sends continue tokens of 128 KiB", Lists: true,
			serve: lists(replace(`"continue":"([^"]+)"`, `"continue":"$1/`+strings.Repeat("x", 128<<10)+`"`), list)},
		{Name: "remaining", Does: "sends a wrong remainingItemCount", Lists: true,
			serve: lists(replace(`"continue"`, `"remainingItemCount":`+nth+`,"continue"`, "-5", "1000000000000000000", `"many"`, "1e99", "null", "{}"), list)},
		{Name: "shrinking-pages", Does: "sends smaller and smaller pages", Lists: true,
			serve: lists(pages(func(c *call, p *page) {
				var offset int
				if fmt.Sscanf(p.next, "%d/%d", new(int), &offset); p.next != "" {
					keep := max(1, len(p.items)-offset/3) // offset is the end of the page
					p.next, p.items = fmt.Sprintf("%d/%d", p.at, offset-len(p.items)+keep), p.items[:keep]
				}
			}))},
		{Name: "empty-pages", Does: "sends empty pages with new continue tokens forever", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: lists(pages(func(c *call, p *page) {
				if c.q.Get("limit") != "" { // any revision works; page ignores the last number, which makes each token new
					*p = page{1005, nil, fmt.Sprintf("1005/0/%d", c.nth)}
				}
			}))},
		{Name: "repeated-page", Does: "sends the second page of a list twice", Causes: []error{lw.ErrInconsistent}, Lists: true,
			serve: lists(pages(func(c *call, p *page) {
				if token := c.q.Get("continue"); strings.HasSuffix(token, "/7") { // pageSize; page ignores "/again"
					p.next = token + "/again"
				}
			}))},
		{Name: "endless-pages", Does: "never ends a list: sends one page per second, each with one new object", Lies: true, Lists: true,
			serve: do(pause(time.Second), func(c *call) {
				c.writePage(&page{1005, []string{c.object(fmt.Sprintf("new-%d", c.nth), 1, 1)}, fmt.Sprintf("endless-%d", c.nth)})
			})},
		{Name: "odd-names", Does: "lists objects whose names differ only in case or contain NUL or slashes", Lists: true,
			format: format{names: []string{"x%d", "X%d", "x\x00%d", "shop/x%d", "/x%d", "x%d/"}}, serve: lists(list)},
		{Name: "foreign-items", Does: "includes in each list an object of another kind from another namespace", Lies: true, Lists: true,
			serve: lists(replace(`"items":\[`, `"items":[{"kind":"Secret","metadata":{"name":"a","namespace":"kube-system","resourceVersion":"5"}},`), list)},
		{Name: "twice", Does: "lists each object twice, first in its current state and then in an older state", Lies: true, Lists: true,
			serve: lists(pages(func(c *call, p *page) { p.items = append(p.items, c.items(c.at(p.at-3))...) }))},
		{Name: "regressing-check", Does: "sends no watch events and returns resourceVersion 5 for a list with limit 1", Source: versions, Lists: true,
			serve: answer(do(begin, func(c *call) { c.sleep(c.timeout()) }), func(c *call) {
				if c.q.Get("limit") == "1" {
					c.write(List("5", "", nil))
				} else {
					list(c)
				}
			}, correct)},
	})
}

func malformedLists() []Scenario {
	return sourced(chunks, []Scenario{
		{Name: "empty-200", Does: "responds to every request with 200 and an empty body", serve: begin},
		{Name: "not-lists", Does: "responds to list requests with JSON that is not the requested list", Source: rfcJSON, Lists: true, Causes: []error{lw.ErrNotList},
			serve: answer(news, send(nth, `{}`, `null`, `[]`, `""`, `7`, `{"kind":"Status","apiVersion":"v1","status":"Success","code":200}`,
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`,
				`{"kind":"SecretList","apiVersion":"evil/v9","metadata":{"resourceVersion":"9"},"items":[]}`), news)},
		{Name: "html-lists", Does: "sends HTML instead of lists", Source: "https://github.com/kubernetes-client/csharp/issues/662", Lists: true, serve: answer(news, send(login), news)},
		// Without the list's resourceVersion, the client cannot notice deletions that happen between the list and the
		// watch.
		{Name: "no-list-version", Does: "sends lists without a resourceVersion and starts each watch after 10 seconds", Source: versions, Lies: true, nameless: true, Lists: true,
			serve: answer(do(pause(10*time.Second), follow), do(replace(`"resourceVersion":"\d+","continue"`, `"continue"`), func(c *call) { c.whole(c.now()) }), correct)},
		{Name: "odd-list-versions", Does: "sends lists with malformed resourceVersions such as 00, -1 and a JSON number", Source: versions, Lies: true, Restart: true, Lists: true,
			serve: lists(replace(`"resourceVersion":"\d+","continue"`, `"resourceVersion":`+nth+`,"continue"`, `"0"`, `"00"`, `"-1"`, `7`, `" 7"`, `null`, `{}`, `"007"`), list)},
		{Name: "two-list-versions", Does: "sends lists with a wrong and then the correct resourceVersion", Source: rfcJSON, Lists: true,
			serve: lists(replace(`"resourceVersion":"\d+","continue"`, `"resourceVersion":"99999999",$0`), list)},
		{Name: "changing-kind", Does: "changes the kind of a list between pages", Lists: true, serve: lists(later(replace("ConfigMapList", "SecretList")), list)},
		{Name: "trailing", Does: "sends trailing data after each list", Source: rfcJSON, Lists: true, serve: lists(replace(`(?s)^.*$`, "${0}"+nth, "{}", "garbage", "\x00", "$0"), list)},
		{Name: "torn", Does: "truncates each list at a different position", Source: rfcJSON, Lists: true,
			serve: lists(edited(func(c *call, text string) string { return text[:c.nth*37%len(text)] }), list)},
		{Name: "drip", Does: "sends lists at one byte per second", slow: true, Lists: true, serve: lists(edited(drip), list)},
	})
}
