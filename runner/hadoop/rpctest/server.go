package rpctest

import (
	"net"
	"sync"
	"testing"
)

// A Handler answers a call: request and response are the encoded messages. The request is only valid until it returns.
// An error that is an *Exception is sent as such, any other as a java.io.IOException. It is called by one goroutine for
// each connection, so a handler that waits holds up the connection, unless its method is in Options.Held.
type Handler func(method string, request []byte) (response []byte, err error)

// An Exception is what a server answers with instead of a response.
type Exception struct {
	Class, Message string
	Code           int32 // RpcErrorCodeProto; 0 means none
	Fatal          bool  // the connection is closed behind it
}

// Error is class and message.
func (e *Exception) Error() string { return e.Class + ": " + e.Message }

// A Request is a call as it came.
type Request struct {
	Connection            int    // number of the connection, from 0
	User                  string // of the connection's context
	Context               string // the protocol of the connection's context
	Protocol, Method      string
	CallID, Retry         int32
	ClientID, RouterState string
	CallerContext         string
	StateID               int64
	ContextFrames         int // on the connection
}

// Options of a [Server].
type Options struct {
	Handler Handler
	// Observe is told of each call before it is answered. It is called by one goroutine for each connection.
	Observe func(Request)
	// Pinged is told of each ping.
	Pinged func()
	// StateID and RouterState are sent with each response if they are not nil.
	StateID     func() int64
	RouterState func() []byte
	// Kerberos makes the server ask for authentication; nil means SIMPLE.
	Kerberos *Acceptor

	Faults
}

// Faults are ways to misbehave. The zero value means none.
type Faults struct {
	// Held methods are not answered before their channel is closed; other calls are answered meanwhile.
	Held map[string]<-chan struct{}
	// DropAt is the number of the call, from 1, on each connection instead of whose answer the connection is closed.
	DropAt int
	// Reverse is how many answers are held back and then sent in reverse order.
	Reverse int
	// WrongID adds so much to the call id of each answer.
	WrongID int32
	// RefuseContext answers a connection's context with this exception and closes the connection.
	RefuseContext *Exception
	// Raw is sent in place of the first answer on each connection.
	Raw []byte
	// Offers are the ways to authenticate that a server without Kerberos offers, as method/mechanism; none means that it
	// answers with success.
	Offers []string
}

// A Server listens on the loopback interface.
type Server struct {
	o        Options
	listener net.Listener
	wait     sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool
	count int
	ended bool
}

// Start makes a server that is closed when the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen makes a server on a free port.
func Listen(o Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, listener: l, open: map[net.Conn]bool{}}
	s.wait.Add(1)
	go s.accept()
	return s, nil
}

// Address is host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Connections is how many were accepted so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// DropAll closes all connections. New ones are accepted.
func (s *Server) DropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close()
	}
}

// Close ends the server and waits for its goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	_ = s.listener.Close()
	s.DropAll()
	s.wait.Wait()
}

func (s *Server) accept() {
	defer s.wait.Done()
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			_ = nc.Close()
			return
		}
		s.open[nc] = true
		c := newConn(s, nc, s.count)
		s.count++
		s.wait.Add(1)
		s.mu.Unlock()
		go c.serve()
	}
}

func (s *Server) forget(nc net.Conn) {
	defer s.wait.Done()
	_ = nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, nc)
}
