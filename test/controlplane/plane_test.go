package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// token is the bearer token of a user with all permissions.
const token = "everything"

// plane is a control plane: etcd, an API server and the controllers.
type plane struct {
	t        *testing.T
	bin, dir string
	ca       *authority
	url      string // of the API server
	etcd     string // the address of etcd
	server   *process
	client   *http.Client
}

// process is a server with its log.
type process struct {
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

func newPlane(t *testing.T) *plane {
	bin := os.Getenv("YAMLHOST_CONTROLPLANE")
	if bin == "" {
		t.Skip("takes servers of Kubernetes: set YAMLHOST_CONTROLPLANE to the folder with them, as `make controlplane-test` does")
	}
	etcd, err := exec.LookPath("etcd")
	require.NoError(t, err, "etcd is not on PATH: apt-get install etcd-server")
	p := &plane{t: t, bin: bin, dir: t.TempDir()}
	p.ca = newAuthority(t, p.dir)
	p.ca.newKey(t, "accounts")
	p.ca.issue(t, "server", "servers")
	p.ca.issue(t, "controllers", "system:masters")
	p.ca.issue(t, "me", "system:masters")
	p.write("tokens.csv", token+",somebody,1,system:masters\n")

	p.etcd = "http://" + freeAddress(t)
	peer := "http://" + freeAddress(t)
	p.start("etcd", etcd, "--data-dir", filepath.Join(p.dir, "etcd"), "--unsafe-no-fsync", "--log-level", "error",
		"--listen-client-urls", p.etcd, "--advertise-client-urls", p.etcd, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	p.url = "https://" + freeAddress(t)
	p.client = p.as("me")
	p.serve()
	p.ready()

	p.write("controllers.yaml", p.kubeconfig(p.url, fmt.Sprintf("client-certificate: %s\n    client-key: %s",
		p.ca.path("controllers.crt"), p.ca.path("controllers.key"))))
	_, port, _ := net.SplitHostPort(freeAddress(t))
	p.start("controllers", filepath.Join(bin, "kube-controller-manager"), "--kubeconfig", filepath.Join(p.dir, "controllers.yaml"),
		"--bind-address", "127.0.0.1", "--secure-port", port, "--cert-dir", p.dir, "--leader-elect=false",
		"--service-account-private-key-file", p.ca.path("accounts.key"), "--root-ca-file", p.ca.path("authority.crt"),
		"--use-service-account-credentials=false")
	p.eventually("the default account", func() bool {
		code, _ := p.get("/api/v1/namespaces/default/serviceaccounts/default")
		return code == http.StatusOK
	})
	return p
}

// freeAddress returns an unused address on the loopback.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (p *plane) write(name, text string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// kubeconfig returns a kubeconfig for the address with the given credentials.
func (p *plane) kubeconfig(address, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: plane
  cluster: {server: %q, certificate-authority: %q}
users:
- name: user
  user:
    %s
contexts:
- name: plane
  context: {cluster: plane, user: user}
current-context: plane
`, address, p.ca.path("authority.crt"), user)
}

// as returns a client with a certificate.
func (p *plane) as(name string) *http.Client {
	cert, err := tls.LoadX509KeyPair(p.ca.path(name+".crt"), p.ca.path(name+".key"))
	require.NoError(p.t, err)
	roots := x509.NewCertPool()
	roots.AddCert(p.ca.cert)
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}}}
}

// start starts a server that ends with the test.
func (p *plane) start(name, program string, args ...string) *process {
	log, err := os.OpenFile(filepath.Join(p.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	defer log.Close()
	x := &process{cmd: exec.Command(program, args...), log: log.Name(), ended: make(chan struct{})}
	x.cmd.Stdout, x.cmd.Stderr = log, log
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(p.t, x.cmd.Start())
	go func() {
		_ = x.cmd.Wait() // the reason is in the log
		close(x.ended)
	}()
	p.t.Cleanup(x.kill)
	return x
}

func (x *process) hasEnded() bool {
	select {
	case <-x.ended:
		return true
	default:
		return false
	}
}

// kill kills the server, as a power failure would.
func (x *process) kill() {
	_ = x.cmd.Process.Kill() // it may have ended
	<-x.ended
}

// serve starts the API server.
func (p *plane) serve() {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(p.url, "https://"))
	require.NoError(p.t, err)
	p.server = p.start("apiserver", filepath.Join(p.bin, "kube-apiserver"),
		"--etcd-servers", p.etcd, "--bind-address", host, "--secure-port", port, "--endpoint-reconciler-type", "none",
		"--tls-cert-file", p.ca.path("server.crt"), "--tls-private-key-file", p.ca.path("server.key"),
		"--client-ca-file", p.ca.path("authority.crt"), "--token-auth-file", filepath.Join(p.dir, "tokens.csv"),
		"--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/16",
		"--service-account-issuer", "https://plane", "--service-account-key-file", p.ca.path("accounts.key"),
		"--service-account-signing-key-file", p.ca.path("accounts.key"))
}

// ready waits until the API server answers.
func (p *plane) ready() {
	p.eventually("an API server that is ready", func() bool {
		code, _ := p.get("/readyz")
		return code == http.StatusOK
	})
}

// eventually waits up to some minutes for a condition, because the machine may be busy.
func (p *plane) eventually(what string, is func() bool) {
	p.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if p.server.hasEnded() || time.Now().After(end) {
			text, _ := os.ReadFile(p.server.log)
			require.FailNow(p.t, "in vain: "+what, string(text[max(0, len(text)-4000):]))
		}
	}
}

// object is a Kubernetes object.
type object map[string]any

// at returns the value at a path of an object; nil if there is none.
func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// get sends a GET to the API server. The code is 0 if the server cannot be reached.
func (p *plane) get(path string) (code int, answer object) { return p.call("GET", path, "") }

// call sends a request to the API server. The body is JSON, for PATCH a merge patch.
func (p *plane) call(method, path, body string) (code int, answer object) {
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	return p.pass(method, path, kind, body)
}

func (p *plane) pass(method, path, kind, body string) (code int, answer object) {
	r, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	r.Header.Set("Content-Type", kind)
	response, err := p.client.Do(r)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	_ = json.Unmarshal(text, &answer) // /readyz is no JSON
	return response.StatusCode, answer
}

// do sends a request that must succeed.
func (p *plane) do(method, path, body string) object {
	p.t.Helper()
	code, answer := p.call(method, path, body)
	require.Less(p.t, code, 300, "%s %s: %v", method, path, answer)
	require.NotZero(p.t, code, "%s %s", method, path)
	return answer
}

// send creates an object from a manifest in YAML.
func (p *plane) send(path, manifest string) {
	p.t.Helper()
	code, answer := p.pass("POST", path, "application/yaml", manifest)
	require.Equal(p.t, http.StatusCreated, code, "%s: %v", path, answer)
}

// list returns the objects at a path of the API server that a scenario has created.
func (p *plane) list(path string) (list []object) {
	p.t.Helper()
	for _, item := range p.do("GET", path, "").at("items").([]any) {
		list = append(list, object(item.(map[string]any)))
	}
	return list
}
