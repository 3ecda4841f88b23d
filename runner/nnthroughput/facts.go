package nnthroughput

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
)

const (
	// jmxTimeout bounds the asking of one web address.
	jmxTimeout = 5 * time.Second
	// maxJMX bounds an answer, in bytes: the two beans asked for have some ten kilobytes each.
	maxJMX  = 4 << 20
	jmxPath = "/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*"
	// The NameNode's metrics are taken anew once in their period, which is ten seconds by default. probeCall is a call that
	// nothing else here makes; its count tells that they were.
	metricsTimeout = 20 * time.Second
	metricsPoll    = 250 * time.Millisecond
	probeCall      = "GetServerDefaults"
	// countSuffix ends the names of those attributes that count calls.
	countSuffix = "NumOps"
)

// callsOf are the calls of an operation that the NameNode counts by itself, in set-up and measurement.
func callsOf(op string) []string {
	switch op {
	case plan.OpCreate:
		return []string{"Create", "Complete"}
	case plan.OpMkdirs:
		return []string{"Mkdirs"}
	case plan.OpOpen:
		return []string{"Create", "Complete", "GetBlockLocations"}
	case plan.OpDelete:
		return []string{"Create", "Complete", "Delete"}
	case plan.OpAppend:
		return []string{"Create", "Complete", "Append"}
	case plan.OpFileStatus:
		return []string{"Create", "Complete", "GetFileInfo"}
	case plan.OpRename:
		return []string{"Create", "Complete", "Rename"}
	case plan.OpBlockReport:
		return []string{"Create", "Complete", "AddBlock", "BlockReport"}
	}
	return nil
}

// countCalls puts the NameNodes' own counts of the run's calls into the facts, as calls.<when>.<call>. They are cumulative
// over the life of the NameNodes. What cannot be had is a fact as well, no failure: the run does without.
func (s *step) countCalls(ctx context.Context, when string) {
	if len(s.nnt.HTTP) == 0 {
		return
	}
	total, err := s.freshCalls(ctx)
	if err != nil {
		s.fact("calls."+when, "unavailable: "+cut(err.Error(), 150))
		s.env.Log.Warn("Call counts cannot be had", "error", err)
		return
	}
	for _, op := range s.nnt.Operations {
		for _, call := range callsOf(op) {
			s.fact("calls."+when+"."+call, strconv.FormatInt(total[call], 10))
		}
	}
}

// freshCalls are counts that include every call made before. Since what a web server answers may be one period old, it is
// asked until a call made in between changes it.
func (s *step) freshCalls(ctx context.Context) (map[string]int64, error) {
	began := s.env.Clock.Now()
	last, err := s.fetchTotal(ctx)
	for err == nil && s.env.Clock.Now().Sub(began) < metricsTimeout {
		if _, err := s.control().ServerDefaults(ctx); err != nil {
			return nil, err
		}
		if err := s.env.Clock.Wait(ctx, metricsPoll); err != nil {
			return nil, err
		}
		var next map[string]int64
		if next, err = s.fetchTotal(ctx); err == nil && next[probeCall] != last[probeCall] {
			return next, nil
		}
		last = next
	}
	if err == nil {
		err = fmt.Errorf("the metrics stood still for %s", metricsTimeout)
	}
	return nil, err
}

// fetchTotal adds the counts of all NameNodes up. Without one of them, the sum would be a wrong number.
func (s *step) fetchTotal(ctx context.Context) (map[string]int64, error) {
	total := map[string]int64{}
	for _, address := range s.nnt.HTTP {
		counts, err := fetchCalls(ctx, address)
		if err != nil {
			return nil, err
		}
		for call, n := range counts {
			total[call] += n
		}
	}
	return total, nil
}

// fact notes something about the target.
func (s *step) fact(name, value string) {
	if s.body.Facts == nil {
		s.body.Facts = map[string]string{}
	}
	s.body.Facts[name] = value
}

func cut(text string, n int) string { return text[:min(len(text), n)] }

// fetchCalls asks one NameNode's web server how often each call was made.
func fetchCalls(ctx context.Context, address string) (map[string]int64, error) {
	target, err := jmxURL(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, jmxTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	// A transport of its own: nothing is kept open, and no proxy stands between.
	transport := &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: jmxTimeout}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, err // it names the address
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxJMX+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if len(body) > maxJMX {
		return nil, fmt.Errorf("%s answers more than %d bytes", address, maxJMX)
	}
	counts, err := parseCalls(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return counts, nil
}

// jmxURL completes host:port or http(s)://host:port.
func jmxURL(address string) (string, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) {
		return "", fmt.Errorf("%q is no web address such as http://<namenode>:9870", address)
	}
	return u.Scheme + "://" + u.Host + jmxPath, nil
}

// parseCalls reads the counts out of a JMX answer, summed over the NameNode's ports. A call that was never made may be
// missing.
func parseCalls(body []byte) (map[string]int64, error) {
	var answer struct {
		Beans []map[string]json.RawMessage `json:"beans"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read JMX: %w", err)
	}
	if answer.Beans == nil {
		return nil, errors.New("read JMX: there are no beans")
	}
	counts := map[string]int64{}
	for _, bean := range answer.Beans {
		for name, value := range bean {
			call, found := strings.CutSuffix(name, countSuffix)
			if !found {
				continue
			}
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("read JMX: %s is %s, no count", name, cut(string(value), 40))
			}
			counts[call] += n
		}
	}
	return counts, nil
}
