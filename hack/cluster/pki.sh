# shellcheck shell=bash disable=SC2034,SC2153  # sourced: its variables are used, and come from, elsewhere
# Certificates and kubeconfigs of the local cluster, in $STATE/pki. Source it after hack/lib.sh.

PKI=$STATE/pki

# pki_up: keeps what is there as long as it is valid for another week.
pki_up() {
  if openssl x509 -checkend 604800 -noout -in "$PKI/apiserver.crt" >/dev/null 2>&1; then return; fi
  rm -rf "$PKI"
  mkdir -p "$PKI"
  chmod 700 "$PKI"
  pki_ca
  local names="IP:127.0.0.1,IP:$CP_IP,IP:$SERVICE_IP,DNS:localhost,DNS:kubernetes.default.svc"
  pki_cert admin /O=system:masters/CN=admin
  pki_cert controller-manager /CN=system:kube-controller-manager
  pki_cert scheduler /CN=system:kube-scheduler
  pki_cert proxy /CN=system:kube-proxy
  pki_cert apiserver-kubelet /O=system:masters/CN=apiserver-kubelet
  local n user users=(admin controller-manager scheduler proxy)
  for n in "${NODES[@]}"; do
    pki_cert "node$n" "/O=system:nodes/CN=system:node:node$n" "IP:$(node_ip "$n"),IP:127.0.0.1,DNS:node$n"
    users+=("node$n")
  done
  for user in "${users[@]}"; do pki_kubeconfig "$user" >"$PKI/$user.kubeconfig"; done
  openssl genrsa -out "$PKI/sa.key" 2048 2>/dev/null
  openssl rsa -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub" 2>/dev/null
  pki_cert apiserver /CN=kube-apiserver "$names" # last: its presence says that the rest is complete
}

pki_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$PKI/$1.key" 2>/dev/null; }

pki_ca() {
  pki_key ca
  openssl req -x509 -new -key "$PKI/ca.key" -subj /CN=hadoop-bench-operator-local -days 30 -out "$PKI/ca.crt" 2>/dev/null
}

pki_cert() { # NAME SUBJECT [ALTERNATIVE-NAMES]
  pki_key "$1"
  openssl req -new -key "$PKI/$1.key" -subj "$2" 2>/dev/null |
    openssl x509 -req -CA "$PKI/ca.crt" -CAkey "$PKI/ca.key" -CAcreateserial -days 30 -out "$PKI/$1.crt" \
      -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s' "${3:+subjectAltName=$3}") 2>/dev/null
}

# pki_kubeconfig USER: everything inline, so that the file works wherever it is copied to.
pki_kubeconfig() {
  cat <<YAML
apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: https://$CP_IP:$API_PORT
    certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w0 "$PKI/$1.crt")
    client-key-data: $(base64 -w0 "$PKI/$1.key")
contexts:
- name: local
  context: {cluster: local, user: $1}
current-context: local
YAML
}
