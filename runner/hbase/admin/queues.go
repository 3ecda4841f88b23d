package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
)

const (
	queuesTimeout = 5 * time.Second
	queuesBytes   = 4 << 20
	queuesBean    = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server"
)

// QueuesDelay is by how much a RegionServer's queue lengths may be late: HBase computes them every 5 s and keeps what it
// answers for 10 s more.
const QueuesDelay = 15 * time.Second

// Queues is how much work waits in a RegionServer, running work not counted. The numbers are up to QueuesDelay old. Flushes
// are not told: their queue also holds those that HBase puts off for up to five minutes, hbase:meta's all the time.
type Queues struct {
	Address    string // the RegionServer's web address, host:port
	Compaction int64  // compactions
}

// errNoBean says that a web server does not know the metrics of a RegionServer.
var errNoBean = errors.New("the answer has not the RegionServer's metrics; is this the web address of a RegionServer?")

// A RegionServer takes its metrics away for half a second when regions come or go.
const (
	beanAttempts = 5
	beanPause    = 400 * time.Millisecond
)

// ReadQueues asks RegionServers at their web addresses, host:port or http://host:port, for the lengths of their queues, in the
// order of addresses. It is an error if one of them does not tell. A nil client means one that goes through no proxy.
func ReadQueues(ctx context.Context, clock measure.Clock, client *http.Client, addresses []string) ([]Queues, error) {
	if client == nil {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		client = &http.Client{Transport: transport}
	}
	queues := make([]Queues, len(addresses))
	for i, address := range addresses {
		var err error
		queues[i], err = readQueues(ctx, client, address)
		for attempt := 1; errors.Is(err, errNoBean) && attempt < beanAttempts && clock.Wait(ctx, beanPause) == nil; attempt++ {
			queues[i], err = readQueues(ctx, client, address)
		}
		if err != nil {
			return nil, fmt.Errorf("read queue lengths of RegionServer at %s: %w", address, err)
		}
	}
	return queues, nil
}

func readQueues(ctx context.Context, client *http.Client, address string) (Queues, error) {
	ctx, cancel := context.WithTimeout(ctx, queuesTimeout)
	defer cancel()
	url := address
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+queuesBean, http.NoBody)
	if err != nil {
		return Queues{}, fmt.Errorf("make request: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return Queues{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Queues{}, fmt.Errorf("the web server answers %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, queuesBytes))
	if err != nil {
		return Queues{}, fmt.Errorf("read answer: %w", err)
	}
	queues, err := parseQueues(body)
	queues.Address = address
	return queues, err
}

// parseQueues finds the length in what /jmx answers.
func parseQueues(body []byte) (Queues, error) {
	var answer struct {
		Beans []struct {
			Compaction *int64 `json:"compactionQueueLength"`
		} `json:"beans"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return Queues{}, fmt.Errorf("decode answer: %w", err)
	}
	if len(answer.Beans) != 1 {
		return Queues{}, errNoBean
	}
	bean := answer.Beans[0]
	if bean.Compaction == nil || *bean.Compaction < 0 {
		return Queues{}, errors.New("the RegionServer's metrics lack compactionQueueLength")
	}
	return Queues{Compaction: *bean.Compaction}, nil
}
