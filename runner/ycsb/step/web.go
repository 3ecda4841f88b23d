package step

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	webTimeout = 10 * time.Second // of one server, all its pages; /conf alone has half a megabyte
	maxWeb     = 4 << 20          // bytes of a page

	jvmPath    = "/jmx?qry=java.lang:type=Runtime"
	memoryPath = "/jmx?qry=java.lang:type=Memory"
	serverPath = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server"
	confPath   = "/conf"
	walName    = "hbase.wal.provider"
)

// webURL completes host:port or http(s)://host:port by a path.
func webURL(address, path string) (string, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no web address such as http://<regionserver>:16030", address)
	}
	return u.Scheme + "://" + u.Host + path, nil
}

// fetch reads a page of a server.
func fetch(ctx context.Context, client *http.Client, address, path string) ([]byte, error) {
	target, err := webURL(address, path)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err // it names the address
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWeb+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	case len(body) > maxWeb:
		return nil, fmt.Errorf("%s answers more than %d bytes", address, maxWeb)
	}
	return body, nil
}

// A webServer is what a server tells of itself on its web pages.
type webServer struct {
	address      string
	regionServer bool
	jvm          string // name and version
	heapMiB      int64  // at most
	cacheMiB     int64  // size of a RegionServer's block cache
	wal          string // of a RegionServer; empty: not configured
	err          error
}

// readWeb asks all servers at once, each within webTimeout. Nothing is kept open, and no proxy stands between.
func readWeb(ctx context.Context, addresses []string) []webServer {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	servers := make([]webServer, len(addresses))
	var wait sync.WaitGroup
	for i, address := range addresses {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, webTimeout)
			defer cancel()
			servers[i] = readServer(ctx, client, address)
		})
	}
	wait.Wait()
	return servers
}

func readServer(ctx context.Context, client *http.Client, address string) webServer {
	w := webServer{address: address}
	for _, page := range []struct {
		path string
		read func([]byte) error
	}{
		{jvmPath, w.readJVM},
		{memoryPath, w.readMemory},
		{serverPath, w.readRegionServer},
		{confPath, w.readConf},
	} {
		body, err := fetch(ctx, client, address, page.path)
		if err == nil {
			err = page.read(body)
		}
		if err != nil {
			w.err = err
			break
		}
	}
	return w
}

// bean reads the one bean that a query asks for; ok is false if there is none.
func bean(body []byte, into any) (ok bool, err error) {
	var answer struct {
		Beans []json.RawMessage `json:"beans"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return false, fmt.Errorf("read JMX: %w", err)
	}
	if len(answer.Beans) == 0 {
		return false, nil
	}
	if err := json.Unmarshal(answer.Beans[0], into); err != nil {
		return false, fmt.Errorf("read JMX: %w", err)
	}
	return true, nil
}

func (w *webServer) readJVM(body []byte) error {
	var runtime struct {
		Name    string `json:"VmName"`
		Version string `json:"VmVersion"`
	}
	ok, err := bean(body, &runtime)
	if err == nil && !ok {
		err = errors.New("read JMX: there is no bean of the virtual machine")
	}
	w.jvm = strings.TrimSpace(runtime.Name + " " + runtime.Version)
	return err
}

func (w *webServer) readMemory(body []byte) error {
	var memory struct {
		Heap struct {
			Max int64 `json:"max"`
		} `json:"HeapMemoryUsage"`
	}
	_, err := bean(body, &memory)
	w.heapMiB = memory.Heap.Max >> 20
	return err
}

// readRegionServer reads the bean that only RegionServers have.
func (w *webServer) readRegionServer(body []byte) error {
	var server struct {
		Used int64 `json:"blockCacheSize"`
		Free int64 `json:"blockCacheFreeSize"`
	}
	var err error
	w.regionServer, err = bean(body, &server)
	w.cacheMiB = (server.Used + server.Free) >> 20
	return err
}

func (w *webServer) readConf(body []byte) error {
	var conf struct {
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(body, &conf); err != nil {
		return fmt.Errorf("read %s: %w", confPath, err)
	}
	for _, p := range conf.Properties {
		if p.Name == walName {
			w.wal = strings.TrimSpace(p.Value)
		}
	}
	return nil
}

// webFacts are what the plan's web addresses tell. What cannot be had is a fact as well: the run does without.
func (s *step) webFacts(ctx context.Context) map[string]string {
	if len(s.y.HTTP) == 0 {
		const unknown = "unknown: spec.target.http names no web addresses"
		return map[string]string{"hbase.walProvider": unknown, "hbase.blockCacheMiB": unknown, "hbase.jvm": unknown}
	}
	return factsOfWeb(readWeb(ctx, s.y.HTTP))
}

// factsOfWeb are the facts that servers' pages make. Those in which all servers agree are told once.
func factsOfWeb(servers []webServer) map[string]string {
	told := map[string][]string{}
	add := func(name, value string) { told[name] = append(told[name], value) }
	for _, w := range servers {
		switch {
		case w.err != nil:
			add("hbase.webErrors", w.err.Error())
			continue
		case !w.regionServer:
			add("hbase.masterJvm", w.jvm)
			add("hbase.masterHeapMiB", fmt.Sprint(w.heapMiB))
			continue
		}
		add("hbase.jvm", w.jvm)
		add("hbase.heapMiB", fmt.Sprint(w.heapMiB))
		add("hbase.blockCacheMiB", fmt.Sprint(w.cacheMiB))
		if w.wal == "" {
			w.wal = "not configured: the version's default"
		}
		add("hbase.walProvider", w.wal)
	}
	facts := map[string]string{}
	for name, values := range told {
		slices.Sort(values)
		facts[name] = list(slices.Compact(values))
	}
	return facts
}

// regionServerAddresses are those of the plan's web addresses at which RegionServers answer, for their queues.
func (s *step) regionServerAddresses(ctx context.Context) []string {
	var addresses []string
	for _, w := range readWeb(ctx, s.y.HTTP) {
		// One that does not answer now may do so later, and until then its queue is not known.
		if w.regionServer || w.err != nil {
			addresses = append(addresses, w.address)
		}
	}
	return addresses
}
