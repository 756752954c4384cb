package lwtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
)

func TestZZ(t *testing.T) {
	s, _ := Start(nil)
	defer s.Close()
	refused, other := 0, map[string]int{}
	for range 300 {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n")
		r := bufio.NewReader(conn)
		r.ReadString('\n')
		done := make(chan struct{})
		go func() {
			defer close(done)
			io.Copy(io.Discard, r)
			conn.Close()
			c2, err := net.Dial("tcp", s.addr)
			if errors.Is(err, syscall.ECONNREFUSED) {
				refused++
			} else {
				other[fmt.Sprint(err)]++
			}
			if c2 != nil {
				c2.Close()
			}
		}()
		s.Stop()
		<-done
		s.Restart()
	}
	t.Log(refused, other)
}
