# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# etcd, API server, controller manager and scheduler in namespace $NS. Source it after hack/lib.sh and pki.sh.

CONTROL_PLANE=(etcd kube-apiserver kube-controller-manager kube-scheduler)
ETCD_URL=http://127.0.0.1:2379

# start_in_ns NAME ARGS...: the binary NAME as a service in $NS.
start_in_ns() { service_start "$1" nsenter --net="/run/netns/$NS" "$BIN/$1" "${@:2}"; }

# k: kubectl as admin; every call ends, whatever the server does.
k() { in_ns "$NS" "$BIN/kubectl" --kubeconfig "$PKI/admin.kubeconfig" --request-timeout=5s "$@"; }

api_start() {
  start_in_ns etcd --data-dir "$STATE/etcd" --log-level warn --unsafe-no-fsync \
    --listen-client-urls $ETCD_URL --advertise-client-urls $ETCD_URL \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster default=http://127.0.0.1:2380
  start_in_ns kube-apiserver --etcd-servers=$ETCD_URL --secure-port="$API_PORT" --bind-address=0.0.0.0 \
    --advertise-address="$CP_IP" --service-cluster-ip-range="$SERVICE_CIDR" --authorization-mode=Node,RBAC \
    --allow-privileged=true --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --client-ca-file="$PKI/ca.crt" --kubelet-certificate-authority="$PKI/ca.crt" \
    --kubelet-client-certificate="$PKI/apiserver-kubelet.crt" \
    --kubelet-client-key="$PKI/apiserver-kubelet.key" --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$PKI/sa.pub" \
    --service-account-signing-key-file="$PKI/sa.key"
}

api_ready() { k get --raw /readyz; }

# controllers_start: one replica of each, so no leader election. With the default of 20 requests a second a Job's pods
# would come at about 10 a second.
controllers_start() {
  start_in_ns kube-controller-manager --kubeconfig="$PKI/controller-manager.kubeconfig" --bind-address=127.0.0.1 \
    --service-account-private-key-file="$PKI/sa.key" --root-ca-file="$PKI/ca.crt" \
    --use-service-account-credentials=true --leader-elect=false --kube-api-qps=300 --kube-api-burst=600 \
    --flex-volume-plugin-dir="$STATE/volume-plugins" # the default is made in /usr
  start_in_ns kube-scheduler --kubeconfig="$PKI/scheduler.kubeconfig" --bind-address=127.0.0.1 --leader-elect=false \
    --kube-api-qps=300 --kube-api-burst=600
}
