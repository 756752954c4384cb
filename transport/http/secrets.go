package http

import "github.com/seed-6d2a410a/listwatch/internal/redact"

// identities begin the names of headers that say who asks. A server names the same user when it explains an error.
var identities = []string{"impersonate-", "x-remote-"}

// headerSecrets returns the words of all other headers of the caller, because each may be an API key or a cookie.
func headerSecrets(header map[string][]string) (secrets redact.Secrets) {
	for name, values := range header {
		if isIdentity(name) {
			continue
		}
		for _, value := range values {
			begin := 0
			for i := 0; i <= len(value); i++ {
				if i < len(value) && value[i] != ' ' && value[i] != ';' && value[i] != ',' {
					continue
				}
				if i-begin >= leastHeader {
					secrets = append(secrets, value[begin:i])
				}
				begin = i + 1
			}
		}
	}
	return secrets
}

// leastHeader is the length in bytes of the shortest word of a header that may be a secret.
const leastHeader = 8

func isIdentity(name string) bool {
	for _, begin := range identities {
		same := len(name) >= len(begin)
		for i := 0; same && i < len(begin); i++ {
			same = name[i] == begin[i] || name[i]|0x20 == begin[i]
		}
		if same {
			return true
		}
	}
	return false
}
