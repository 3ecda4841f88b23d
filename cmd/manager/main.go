// Command manager runs the operator's controllers.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/hadoop-bench/operator/controllers/manager"
)

func main() {
	os.Exit(manager.Main(ctrl.SetupSignalHandler(), os.Args[1:], os.Stderr))
}
