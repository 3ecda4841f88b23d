package rpc

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// Defaults of Options.
const (
	defaultDialTimeout = 10 * time.Second
	defaultCallTimeout = 20 * time.Second
	defaultMaxFrame    = 256 << 20 // hbase.ipc.max.request.size
)

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	o.Connections = max(o.Connections, 1)
	o.DialTimeout = orDefault(o.DialTimeout, defaultDialTimeout)
	o.CallTimeout = orDefault(o.CallTimeout, defaultCallTimeout)
	o.MaxFrame = orDefault(o.MaxFrame, defaultMaxFrame)
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if len(o.Protection) == 0 {
		o.Protection = []string{string(sasl.Authentication)}
	}
	for _, word := range o.Protection {
		if !sasl.Protection(word).Valid() {
			return o, fmt.Errorf("hbase.rpc.protection %q: it must be authentication, integrity or privacy", word)
		}
	}
	if o.Kerberos != nil && o.ServerPrincipal == nil {
		return o, errors.New("the servers' Kerberos principals are not known: set hbase.master.kerberos.principal and hbase.regionserver.kerberos.principal")
	}
	return o, nil
}

func orDefault[T int | time.Duration](v, fallback T) T {
	if v <= 0 {
		return fallback
	}
	return v
}
