package admin

// ParseQueues is parseQueues.
func ParseQueues(body []byte) (Queues, error) { return parseQueues(body) }
