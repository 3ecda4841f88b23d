package nnthroughput

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Connect connects threads to the name service that plan and configuration name, by Hadoop's own protocols. For preflight
// it finds out within seconds that there is none. Its errors are *steps.Error or those of package namenode.
func Connect(ctx context.Context, env *Env, _ int) (Target, error) {
	fs, err := env.Conf.FileSystem(env.Plan.Target.FS)
	if err != nil {
		return nil, steps.ConfigError(err)
	}
	login, err := logIn(env)
	if err != nil {
		return nil, err
	}
	o, err := namenode.FromConf(env.Conf, fs, namenode.Identity{User: env.User, Kerberos: login})
	if err != nil {
		return nil, errors.Join(steps.ConfigError(err), closeLogin(login))
	}
	o.Clock, o.Log, o.RPC.Connections = env.Clock, env.Log, int(env.Plan.NNThroughput.Connections)
	if env.Plan.Identity.Step == plan.StepPreflight {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, reach.Timeout)
		defer cancel()
		if err := (reach.Network{}).Probe(ctx, env.Log, fs.Addresses); err != nil {
			return nil, errors.Join(err, closeLogin(login))
		}
		o.Failover.Deadline, o.RPC.DialTimeout = min(o.Failover.Deadline, reach.AddressTimeout), min(o.RPC.DialTimeout, reach.AddressTimeout)
		if o.Failover.Deadline == 0 {
			o.Failover.Deadline = reach.AddressTimeout
		}
	}
	c := &connection{login: login}
	o.OnFailover = func(string, string) { c.failovers.Add(1) }
	if c.client, err = namenode.Connect(ctx, o); err != nil {
		return nil, errors.Join(err, closeLogin(login))
	}
	return c, nil
}

// logIn is who acts under Kerberos: the plan's principal by its keytab, or by the ticket cache of the environment. It is
// nil under simple authentication. No ticket is asked for yet.
func logIn(env *Env) (sasl.Login, error) {
	k := env.Plan.Target.Kerberos
	if k == nil {
		return nil, nil
	}
	fromEnv, _ := env.LookupEnv("KRB5_CONFIG")
	krb5Conf := cmp.Or(k.Krb5Conf, fromEnv, "/etc/krb5.conf")
	var login sasl.Login
	var err error
	if k.Keytab != "" {
		login, err = sasl.FromKeytab(k.Principal, k.Keytab, krb5Conf)
	} else {
		cache, _ := env.LookupEnv("KRB5CCNAME")
		login, err = sasl.FromCache(cmp.Or(cache, fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())), krb5Conf)
	}
	if err != nil {
		return nil, &steps.Error{Exit: report.ExitPlan, Cause: err, Failure: report.Failure{
			Reason: steps.ReasonLoginFailed, Message: fmt.Sprintf("log in as %s: %v", k.Principal, err),
			Remedy: "correct principal, keytab and krb5.conf in spec.target.kerberos",
		}}
	}
	return login, nil
}

func closeLogin(login sasl.Login) error {
	if login == nil {
		return nil
	}
	return login.Close()
}

// connection is a client as a target.
type connection struct {
	client    *namenode.Client
	login     sasl.Login
	failovers atomic.Int64

	mu      sync.Mutex
	workers []*namenode.Worker
}

func (c *connection) Thread(i int) NameNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.workers) <= i {
		c.workers = append(c.workers, c.client.Worker(len(c.workers)))
	}
	return c.workers[i]
}

func (c *connection) DataNodeSides() []DataNodeSide {
	sides := c.client.DataNodeSides()
	list := make([]DataNodeSide, len(sides))
	for i, side := range sides {
		list[i] = side
	}
	return list
}

func (c *connection) Close() error { return errors.Join(c.client.Close(), closeLogin(c.login)) }

// Address is host:port of the NameNode that calls go to now.
func (c *connection) Address() string { return c.client.Address() }

// Failovers is how often another NameNode than before became the one that calls go to.
func (c *connection) Failovers() int64 { return c.failovers.Load() }
