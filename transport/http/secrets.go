package http

import "github.com/seed-6d2a410a/listwatch/internal/redact"

// headerSecrets returns the words in the values of custom headers, because each word may be an API key or a cookie. It
// skips words shorter than 8 bytes. It also skips identity headers, so that error messages can contain the user name.
func headerSecrets(header map[string][]string) (secrets redact.Secrets) {
	for name, values := range header {
		if hasPrefixFold(name, "impersonate-") || hasPrefixFold(name, "x-remote-") {
			continue
		}
		for _, value := range values {
			begin := 0
			for i := range len(value) + 1 {
				if i == len(value) || value[i] == ' ' || value[i] == ';' {
					if i-begin >= 8 {
						secrets = append(secrets, value[begin:i])
					}
					begin = i + 1
				}
			}
		}
	}
	return secrets
}

// hasPrefixFold reports whether a header name starts with prefix, ignoring case.
func hasPrefixFold(name, prefix string) bool {
	for i := range len(prefix) {
		if i == len(name) || name[i]|0x20 != prefix[i]|0x20 {
			return false
		}
	}
	return true
}
