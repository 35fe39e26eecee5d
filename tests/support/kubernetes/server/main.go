// A Kubernetes API on one machine: etcd, kube-apiserver and kube-controller-manager in one program.
// The first argument names the daemon to be; the others are its own.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

var daemons = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
}

func main() {
	if len(os.Args) < 2 {
		fail("name a daemon: etcd, kube-apiserver or kube-controller-manager")
	}
	name := os.Args[1]
	os.Args = os.Args[1:]
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, known := daemons[name]
	if !known {
		fail("no such daemon: " + name)
	}
	os.Exit(cli.Run(command()))
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
