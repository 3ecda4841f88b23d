package registry

var (
	ParseServer    = parseServer
	ParseClusterID = parseClusterID
	ErrZnode       = errZnode
)
