package controlplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestControlPlane runs scenarios on one control plane, each in a namespace of its own. Each verifies the result with
// the API server.
func TestControlPlane(t *testing.T) {
	p := newPlane(t)
	for _, c := range []struct {
		name string
		play func(s *sandbox)
	}{
		{"life", life},
		{"drift", drift},
		{"imports", imports},
		{"taking-over", takingOver},
		{"conflict", conflict},
		{"refused-name", refusedName},
		{"quota", quota},
		{"throttling", throttling},
		{"expired-token", expiredToken},
		{"finaliser", finaliser},
		{"killed", killed},
		{"definitions", definitions},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.play(p.sandbox(t, c.name))
		})
	}
}

// configMap returns a resource with one entry, and with the given name unless it is empty.
func configMap(resource, name, value string) string {
	if name != "" {
		name = "name: " + name + ", "
	}
	return fmt.Sprintf("  %s:\n    type: kubernetes:core/v1:ConfigMap\n    properties:\n"+
		"      metadata: {%snamespace: NAMESPACE, labels: LABELS}\n      data: {key: %q}\n", resource, name, value)
}

// several returns a program of n config maps: every second has a name, the provider names the others.
func several(n int, value string) string {
	var y strings.Builder
	y.WriteString("resources:\n")
	for i := range n {
		name := ""
		if i%2 == 0 {
			name = fmt.Sprintf("own-%d", i)
		}
		y.WriteString(configMap(fmt.Sprintf("map-%d", i), name, value))
	}
	return y.String()
}

// everyday is a small application. It does not wait for pods, because no node runs them.
const everyday = `resources:
  account:
    type: kubernetes:core/v1:ServiceAccount
    properties:
      metadata: {name: shop, namespace: NAMESPACE, labels: LABELS}
  role:
    type: kubernetes:rbac.authorization.k8s.io/v1:Role
    properties:
      metadata: {namespace: NAMESPACE, labels: LABELS}
      rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
  binding:
    type: kubernetes:rbac.authorization.k8s.io/v1:RoleBinding
    properties:
      metadata: {namespace: NAMESPACE, labels: LABELS}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "${role.metadata.name}"}
      subjects: [{kind: ServiceAccount, name: "${account.metadata.name}", namespace: NAMESPACE}]
  settings:
    type: kubernetes:core/v1:ConfigMap
    properties:
      metadata: {namespace: NAMESPACE, labels: LABELS}
      data: {greeting: GREETING}
  password:
    type: kubernetes:core/v1:Secret
    properties:
      metadata: {name: PASSWORD, namespace: NAMESPACE, labels: LABELS}
      stringData: {password: {fn::secret: s3cret-word}}
  app:
    type: kubernetes:apps/v1:Deployment
    properties:
      metadata: {name: app, namespace: NAMESPACE, labels: LABELS, annotations: {pulumi.com/skipAwait: "true", pulumi.com/patchForce: "true"}}
      spec:
        replicas: 2
        selector: {matchLabels: {app: shop}}
        template:
          metadata: {labels: {app: shop}}
          spec:
            serviceAccountName: ${account.metadata.name}
            containers:
              - name: shop
                image: example.com/shop:1
                envFrom: [{configMapRef: {name: "${settings.metadata.name}"}}]
  service:
    type: kubernetes:core/v1:Service
    properties:
      metadata: {name: shop, namespace: NAMESPACE, labels: LABELS, annotations: {pulumi.com/skipAwait: "true"}}
      spec: {selector: {app: shop}, ports: [{port: 80, targetPort: 8080}]}
outputs:
  address: ${service.spec.clusterIP}
`

func everydayWith(greeting, password string) string {
	return strings.NewReplacer("GREETING", greeting, "PASSWORD", password).Replace(everyday)
}

// life creates objects, runs without a change, updates, replaces and removes objects, and destroys the stack.
func life(s *sandbox) {
	s.program(everydayWith("hello", "first"))
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 7, s.audit())
	require.Equal(s.t, "10.0.", s.yamlhost(0, "stack", "output", "address")[:5])
	require.NotContains(s.t, s.yamlhost(0, "stack", "export"), "s3cret-word")
	s.settled()
	s.versions(func() { s.yamlhost(0, "run", "--stack", "dev") }) // again: nothing is written

	s.program(everydayWith("good day", "second"))
	said := s.yamlhost(0, "run", "--stack", "dev")
	s.t.Log(said)
	code, _ := s.get(folder("v1", "Secret", s.namespace) + "/first")
	require.Equal(s.t, http.StatusNotFound, code)
	s.do("GET", folder("v1", "Secret", s.namespace)+"/second", "")
	require.Equal(s.t, "good day", s.list(folder("v1", "ConfigMap", s.namespace) + "?labelSelector=" + made)[0].at("data", "greeting"))
	s.settled()

	s.program("resources:\n" + configMap("settings", "", "alone"))
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 1, s.audit("v1 Secret", "v1 Service", "v1 ServiceAccount", "apps/v1 Deployment",
		"rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 RoleBinding"))
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
	require.Equal(s.t, 0, s.audit())
}

// versions fails if do changes the version of an object in the state. It ignores objects with a status, which
// controllers change.
func (s *sandbox) versions(do func()) {
	s.t.Helper()
	version := func() map[string]any {
		all := map[string]any{}
		for path := range s.recorded() {
			if _, o := s.get(path); o["status"] == nil {
				all[path] = o.at("metadata", "resourceVersion")
			}
		}
		return all
	}
	before := version()
	do()
	require.Equal(s.t, before, version())
}

// drift reports changes by others to fields that the program sets, but not changes by controllers.
func drift(s *sandbox) {
	s.program(everydayWith("hello", "first"))
	s.yamlhost(0, "run", "--stack", "dev")
	s.yamlhost(0, "drift", "--exit-code")
	app := folder("apps/v1", "Deployment", s.namespace) + "/app"
	s.eventually("a controller that has seen the deployment", func() bool {
		_, o := s.get(app)
		return o.at("status", "observedGeneration") != nil
	})
	said := s.yamlhost(0, "drift", "--exit-code")
	s.t.Log(said)
	s.t.Log(s.yamlhost(0, "refresh", "--yes"))
	s.yamlhost(0, "preview", "--expect-no-changes")

	s.do("PATCH", app, `{"spec": {"replicas": 5}}`)
	said = s.yamlhost(17, "drift", "--exit-code")
	s.t.Log(said)
	require.Contains(s.t, said, "app")
	require.Contains(s.t, said, "replicas")
	s.yamlhost(0, "run", "--stack", "dev", "--refresh")
	require.EqualValues(s.t, 2, s.do("GET", app, "").at("spec", "replicas"))
	s.settled()

	s.do("DELETE", folder("v1", "Secret", s.namespace)+"/first", "")
	said = s.yamlhost(17, "drift", "--exit-code")
	require.Contains(s.t, said, "password")
	s.yamlhost(0, "run", "--stack", "dev", "--refresh")
	s.settled()
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
}

// foreign creates an object outside of any program.
func (s *sandbox) foreign(name, value string) (path string) {
	s.t.Helper()
	s.do("POST", folder("v1", "ConfigMap", s.namespace), fmt.Sprintf(
		`{"metadata": {"name": %q, "labels": {"made-by": "yamlhost"}}, "data": {"key": %q}}`, name, value))
	return folder("v1", "ConfigMap", s.namespace) + "/" + name
}

// imports imports an object that the program declares.
func imports(s *sandbox) {
	path := s.foreign("old", "value")
	uid := s.do("GET", path, "").at("metadata", "uid")
	s.program("resources: {}\n")
	s.t.Log(s.yamlhost(0, "import", "kubernetes:core/v1:ConfigMap", "old", s.namespace+"/old", "--yes"))
	require.Equal(s.t, 1, s.audit())
	require.Equal(s.t, uid, s.do("GET", path, "").at("metadata", "uid"))
	s.program("resources:\n" + configMap("old", "old", "value"))
	s.t.Log(s.yamlhost(0, "preview", "--diff"))
	s.yamlhost(0, "run", "--stack", "dev")
	s.settled()
}

// takingOver declares an existing object, which the provider adopts.
func takingOver(s *sandbox) {
	path := s.foreign("old", "value")
	uid := s.do("GET", path, "").at("metadata", "uid")
	s.program("resources:\n" + configMap("old", "old", "value"))
	s.t.Log(s.yamlhost(0, "run", "--stack", "dev"))
	require.Equal(s.t, uid, s.do("GET", path, "").at("metadata", "uid"))
	s.settled()
	require.Equal(s.t, 1, s.audit())
}

// conflict sets a field that another manager owns.
func conflict(s *sandbox) {
	path := s.foreign("held", "theirs")
	s.program("resources:\n" + configMap("mine", "held", "ours"))
	said := s.yamlhost(failed, "run", "--stack", "dev")
	s.t.Log(said)
	require.Contains(s.t, said, "mine")
	require.Contains(s.t, said, "conflict")
	require.Contains(s.t, said, ".data.key")
	require.Equal(s.t, "theirs", s.do("GET", path, "").at("data", "key"))
	require.Empty(s.t, s.recorded())

	s.program("resources:\n" + strings.Replace(configMap("mine", "held", "ours"), "name: held",
		`name: held, annotations: {pulumi.com/patchForce: "true"}`, 1))
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, "ours", s.do("GET", path, "").at("data", "key"))
	s.settled()
}

// refusedName declares a name that the API server refuses. Independent objects are created once.
func refusedName(s *sandbox) {
	s.program("resources:\n" + configMap("good", "", "value") + configMap("bad", "Not_A_Name", "value"))
	said := s.yamlhost(failed, "run", "--stack", "dev", "--continue-on-error")
	s.t.Log(said)
	require.Contains(s.t, said, "bad")
	require.Contains(s.t, said, "Not_A_Name")
	require.Equal(s.t, 1, s.audit())
	s.program("resources:\n" + configMap("good", "", "value") + configMap("bad", "a-name", "value"))
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 2, s.audit())
	s.settled()
}

// quota allows the creation of only some objects until it is raised.
func quota(s *sandbox) {
	quotas := folder("v1", "ResourceQuota", s.namespace)
	s.do("POST", quotas, `{"metadata": {"name": "few"}, "spec": {"hard": {"count/configmaps": "4"}}}`)
	s.eventually("a quota that is in force", func() bool {
		_, o := s.get(quotas + "/few")
		return o.at("status", "hard") != nil
	})
	s.program(several(8, "value"))
	said := s.yamlhost(failed, "run", "--stack", "dev", "--continue-on-error")
	s.t.Log(said)
	require.Contains(s.t, said, "exceeded quota: few")
	there := s.audit()
	require.Less(s.t, there, 8)
	require.NotZero(s.t, there)
	for path := range s.recorded() {
		s.t.Log(path)
	}
	s.do("PATCH", quotas+"/few", `{"spec": {"hard": {"count/configmaps": "20"}}}`)
	s.eventually("a raised quota", func() bool {
		_, o := s.get(quotas + "/few")
		return o.at("status", "hard", "count/configmaps") == "20"
	})
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 8, s.audit())
	s.settled()
}

// throttling responds to many requests with 429 and a delay.
func throttling(s *sandbox) {
	f := s.front(s.t)
	s.through(f.url)
	f.set(func(w http.ResponseWriter, _ *http.Request, n int) bool {
		if n%3 == 0 {
			return false
		}
		throttled(w)
		return true
	})
	s.program(several(12, "value"))
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 12, s.audit())
	require.GreaterOrEqual(s.t, f.seen(), 36, "two of three were refused")

	f.set(func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		throttled(w)
		return true
	})
	s.program(several(12, "value") + configMap("another", "another", "value"))
	said := s.yamlhost(failed, "run", "--stack", "dev")
	s.t.Log(said)
	require.Contains(s.t, said, "another")
	require.Contains(s.t, strings.ToLower(said), "too many requests")
	f.set(nil)
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 13, s.audit())
	s.settled()
}

// expiredToken replaces the token in the middle of a run by one that the API server refuses.
func expiredToken(s *sandbox) {
	f := s.front(s.t)
	s.through(f.url)
	f.set(func(_ http.ResponseWriter, r *http.Request, n int) bool {
		if n > 5 {
			r.Header.Set("Authorization", "Bearer of-yesterday")
		}
		return false
	})
	s.program(several(20, "value"))
	said := s.yamlhost(failed, "run", "--stack", "dev")
	s.t.Log(said)
	require.Contains(s.t, said, "map-")
	require.Contains(s.t, said, "Unauthorized")
	require.Equal(s.t, 5, s.audit())
	f.set(nil)
	s.yamlhost(0, "run", "--stack", "dev")
	require.Equal(s.t, 20, s.audit())
	s.settled()
}

// finaliser delays the deletion of an object.
func finaliser(s *sandbox) {
	s.program("resources:\n" + strings.Replace(configMap("kept", "kept", "value"), "name: kept",
		"name: kept, finalizers: [example.com/hold]", 1) + "    options: {customTimeouts: {delete: 5s}}\n")
	s.yamlhost(0, "run", "--stack", "dev")
	path := folder("v1", "ConfigMap", s.namespace) + "/kept"
	said := s.yamlhost(failed, "destroy", "--yes", "--skip-preview")
	s.t.Log(said)
	require.Contains(s.t, said, "kept")
	require.NotNil(s.t, s.do("GET", path, "").at("metadata", "deletionTimestamp"))
	require.Equal(s.t, 1, s.audit())
	s.do("PATCH", path, `{"metadata": {"finalizers": null}}`)
	s.yamlhost(0, "destroy", "--yes", "--skip-preview")
	require.Equal(s.t, 0, s.audit())
}
