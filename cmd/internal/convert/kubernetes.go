package convert

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// object is a Kubernetes object. uses holds the references that were made, so that no further one closes a cycle: an
// object of Kubernetes may name any other, and a program needs an order.
type object struct {
	node      *yamlnode.Node // the input
	item      *Item
	kind      string
	name      string
	namespace string
	resource  string         // name in the program
	token     string         // type token
	out       *yamlnode.Node // properties in the program
	typed     bool           // reports whether the resource has a type with fields to refer to
	uses      map[*object]bool
}

// Kubernetes converts manifests. It returns no program if the diagnostics have errors. All inputs are read before the
// first is converted, since definitions may stand in any of them; and all objects exist before names in them become
// references. Comments come last, when nothing is moved any more.
func Kubernetes(sources []*diag.Source, o Options) (*Program, diag.Diagnostics) {
	k := &kubernetes{Program: newProgram(o.Name), options: o, byName: map[string]*object{},
		byResource: map[string]*object{}, defined: map[string]string{}}
	var diags diag.Diagnostics
	read, left := make([][]*yamlnode.Node, len(sources)), newBudget()
	for i, src := range sources {
		in, found := documents(src, left)
		if diags.Add(found...); found.HasErrors() {
			continue
		}
		k.outside(src, in)
		for _, doc := range in.documents {
			// What flatten leaves out has been quoted, and the rest is in its objects; comments that are in neither go
			// to the top.
			all := k.flatten(src, doc)
			k.mention(k.lost(all, doc))
			read[i] = append(read[i], all...)
		}
		for _, doc := range read[i] {
			k.define(doc)
		}
	}
	for i, src := range sources {
		for _, doc := range read[i] {
			diags.Add(k.document(src, doc)...)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	// The order of the three is the order of their worth: the first reference of a possible cycle wins.
	for _, obj := range k.objects {
		k.link(obj)
		k.awaitDefinition(obj)
		k.mentions(obj)
	}
	k.selectors()
	for i := 0; i < len(k.sections["resources"].Content); i += 2 {
		key, value := k.sections["resources"].Content[i], k.sections["resources"].Content[i+1]
		k.keep(key, value, k.byResource[key.Value].node)
	}
	return k.Program, diags
}

// kubernetes converts the manifests of one program. One converts all inputs: an object may be named in any file.
type kubernetes struct {
	*Program
	options Options
	objects []*object
	byName  map[string]*object // by kind, namespace and name
	// byResource are the objects by their names in the program.
	byResource map[string]*object
	defined    map[string]string // names of the definitions in the input, by the type tokens they define
}

// definitionName matches names of definitions that are safe as names of files.
var definitionName = lazyregexp.New(`^[a-z0-9][a-z0-9.-]*$`)

// define records the kinds that a definition of custom resources declares, and keeps it as a file of the project if
// Options.Definitions is set. Its name becomes that of a file, and so it must be one that cannot lead anywhere else.
func (k *kubernetes) define(doc *yamlnode.Node) {
	name := yamlnode.TextAt(doc, "metadata", "name")
	if yamlnode.TextAt(doc, "kind") != "CustomResourceDefinition" ||
		yamlnode.TextAt(doc, "apiVersion") != "apiextensions.k8s.io/v1" || !definitionName().MatchString(name) {
		return
	}
	versions := yamlnode.Member(doc, "spec", "versions")
	if versions == nil {
		return
	}
	described := false
	for _, version := range versions.Content {
		if yamlnode.Member(version, "schema", "openAPIV3Schema") == nil {
			continue
		}
		k.defined["kubernetes:"+yamlnode.TextAt(doc, "spec", "group")+"/"+yamlnode.TextAt(version, "name")+":"+
			yamlnode.TextAt(doc, "spec", "names", "kind")] = name
		described = true
	}
	if !described || !k.options.Definitions {
		return
	}
	// The file is the definition as it was, since a cluster reads it, too.
	if content, err := encode(doc, nil); err == nil {
		k.Files["crds/"+name+".yaml"] = content
	}
}

// awaitDefinition makes a custom resource depend on its definition, if that is a resource of the program.
func (k *kubernetes) awaitDefinition(obj *object) {
	definition := k.byName[id("CustomResourceDefinition", "", k.defined[obj.token])]
	// A definition that is in the cluster already needs no waiting.
	if definition == nil || !k.use(obj, definition) {
		return
	}
	put(yamlnode.Member(k.sections["resources"], obj.resource), "options",
		mappingOf("dependsOn", list(text("${"+definition.resource+"}"))))
}

// flatten returns the objects of a document, which may be a list of them. Whatever else a list has, such as metadata of
// its own, is left out with a remark.
func (k *kubernetes) flatten(src *diag.Source, doc *yamlnode.Node) []*yamlnode.Node {
	kind, items := yamlnode.TextAt(doc, "kind"), yamlnode.Member(doc, "items")
	switch {
	case doc.Kind == yamlnode.List:
		items = doc
	case items == nil || items.Kind != yamlnode.List || !strings.HasSuffix(kind, "List"):
		return []*yamlnode.Node{doc}
	}
	var all []*yamlnode.Node
	for _, item := range items.Content {
		// The items of a typed list may leave out what the list says.
		if yamlnode.Member(item, "kind") == nil && kind != "List" && kind != "" && item.Kind == yamlnode.Map { // of a DeploymentList
			item.Content = slices.Concat([]*yamlnode.Node{text("apiVersion"), text(yamlnode.TextAt(doc, "apiVersion")), text("kind"),
				text(strings.TrimSuffix(kind, "List"))}, item.Content)
		}
		all = append(all, k.flatten(src, item)...)
	}
	if doc.Kind == yamlnode.Map {
		rest := mapping()
		each(doc, func(key, value *yamlnode.Node) {
			if key.Value != "apiVersion" && key.Value != "kind" && key.Value != "items" && !blankData(value) {
				rest.Content = append(rest.Content, key, value)
			}
		})
		if len(rest.Content) > 0 {
			item := &Item{Kind: kind, File: src.Name(), Line: lineOf(src, doc)}
			k.Items = append(k.Items, item)
			k.drop(item, rest, "only the items of a list are objects")
		}
	}
	return all
}

// blankData reports whether a value is empty: null, an empty text or collection, or a map of such values.
func blankData(n *yamlnode.Node) bool {
	if n.Kind == yamlnode.Scalar {
		return n.Value == "" || n.ShortTag() == yamlnode.NullTag
	}
	for i, child := range n.Content {
		if (n.Kind != yamlnode.Map || i%2 == 1) && !blankData(child) {
			return false
		}
	}
	return true
}

// document converts one object; empty documents are ignored. Files of tools beside the manifests are named as what they
// are, instead of failing as objects.
func (k *kubernetes) document(src *diag.Source, doc *yamlnode.Node) diag.Diagnostics {
	if doc.Kind == yamlnode.Scalar && doc.ShortTag() == yamlnode.NullTag {
		k.mention(k.lost(nil, doc))
		return nil
	}
	kind, version := yamlnode.TextAt(doc, "kind"), yamlnode.TextAt(doc, "apiVersion")
	item := &Item{Name: yamlnode.TextAt(doc, "metadata", "name"), Kind: strings.TrimPrefix(version+"/"+kind, "/"),
		File: src.Name(), Line: lineOf(src, doc)}
	k.Items = append(k.Items, item)
	// A template that is not YAML has failed before. This one is, by chance.
	if kind == "" && bytes.Contains(src.Text(), []byte("{{")) {
		return fault(src, lineOf(src, doc), "render it first, as with `helm template`, and convert the result",
			"this is a template of Helm, not a manifest")
	}
	switch {
	case doc.Kind != yamlnode.Map || kind == "" || version == "":
		k.drop(item, doc, "it has no apiVersion and no kind, so it is not an object of Kubernetes")
		return nil
	case strings.HasPrefix(version, "kustomize.config.k8s.io/"):
		// Such files lie beside manifests, so a folder has them.
		k.drop(item, doc, "kustomize reads it, not the cluster: convert what `kustomize build` writes")
		return nil
	case strings.HasPrefix(version, "skaffold/"):
		k.drop(item, doc, "skaffold reads it, not the cluster")
		return nil
	}
	k.object(doc, item, version, kind)
	return nil
}

// object converts an object. The name of its resource is that of the object with its kind; the namespace joins it only
// where two would be equal.
func (k *kubernetes) object(doc *yamlnode.Node, item *Item, version, kind string) {
	obj := &object{node: doc, item: item, kind: kind, name: item.Name,
		namespace: yamlnode.TextAt(doc, "metadata", "namespace"), uses: map[*object]bool{}}
	if obj.name == "" {
		item.Name = yamlnode.TextAt(doc, "metadata", "generateName")
	}
	base := camel(item.Name, kind)
	// The common case, one namespace, gives the shortest names.
	if k.names[base] && obj.namespace != "" {
		base = camel(obj.namespace, item.Name, kind)
	}
	obj.resource = k.unique(base)
	item.As = obj.resource
	k.items[obj.resource] = item
	key := id(kind, obj.namespace, obj.name)
	if first := k.byName[key]; first != nil && obj.name != "" {
		// Both are converted. The cluster would take the second for an update of the first.
		item.remark("%s:%d declares an object of the same kind and name", first.item.File, first.item.Line)
	} else {
		k.byName[key] = obj
	}
	k.objects = append(k.objects, obj)
	k.byResource[obj.resource] = obj
	if !strings.Contains(version, "/") {
		// The core group has no name in manifests.
		version = "core/" + version
	}
	token := "kubernetes:" + version + ":" + kind
	obj.token = token
	k.secrets[obj.resource] = kind == "Secret"
	// The copy belongs to the program from here on; node stays the input.
	properties := data(doc, true)
	head := []string{properties.Head()}
	properties.SetHead("")
	for i := 0; i < len(properties.Content); i += 2 { // YAML attaches the comment of a document to its first key
		name, value := properties.Content[i], properties.Content[i+1]
		if i == 0 || name.Value == "apiVersion" || name.Value == "kind" {
			of, behind := name.Notes(), value.Notes()
			head = append(head, of.Head, of.Line, behind.Line)
			of.Head, of.Line, behind.Line = "", "", ""
			name.SetNotes(of)
			value.SetNotes(behind)
		}
	}
	notes := strings.Join(slices.DeleteFunc(head, func(c string) bool { return c == "" }), "\n")
	if kind == "Secret" {
		k.secret(obj, properties)
	}
	known := true
	if pkg := k.options.schemaOf("kubernetes"); pkg != nil {
		r, err := pkg.Resource(token)
		// An overlay is a type of the SDKs, which no program in YAML can use.
		known = err == nil && !r.Overlay
	} else {
		// Without a schema, only the groups of Kubernetes itself are known to have types.
		known = builtinGroup(version)
	}
	known = known || k.options.Definitions && k.defined[token] != ""
	resource := mapping()
	put(k.sections["resources"], obj.resource, resource).SetHead(notes)
	obj.out, obj.typed = properties, known
	if !known {
		k.asObject(obj.resource, properties, "the provider has no type for "+strings.TrimPrefix(version, "core/")+" "+kind)
		return
	}
	// Repair passes on the whole object if the checker refuses a property of it.
	k.Program.objects[obj.resource] = properties
	put(resource, "type", text(token))
	remaining := mapping()
	each(properties, func(key, value *yamlnode.Node) {
		switch key.Value {
		case "apiVersion", "kind":
		case "status":
			if len(value.Content) > 0 || !blankData(value) {
				k.leaveOut(obj.resource, "status", "the cluster writes it", value)
			}
		default:
			remaining.Content = append(remaining.Content, key, value)
		}
	})
	// Repair passes properties on as a whole, where status must not be either.
	remove(properties, "status")
	obj.out = remaining
	put(resource, "properties", remaining)
}

// builtinGroup reports whether a group belongs to the Kubernetes API itself. It is used without a schema.
func builtinGroup(version string) bool {
	group, _, _ := strings.Cut(version, "/")
	switch group {
	case "core", "apps", "batch", "autoscaling", "policy", "events.k8s.io":
		return true
	}
	name, found := strings.CutSuffix(group, ".k8s.io")
	return found && slices.Contains([]string{"networking", "rbac.authorization", "storage", "apiextensions",
		"apiregistration", "admissionregistration", "coordination", "discovery", "scheduling", "node", "certificates",
		"flowcontrol.apiserver", "resource"}, name)
}

// secret moves the values of a Secret to secret configuration. A program is put under version control, which a secret
// must not be. data and stringData are both replaced, though one is in Base64: the value that a person sets has the
// same encoding as its field.
func (k *kubernetes) secret(obj *object, properties *yamlnode.Node) {
	for _, field := range []string{"data", "stringData"} {
		each(yamlnode.Member(properties, field), func(key, value *yamlnode.Node) {
			name := k.unique(camel(obj.name, key.Value))
			k.addConfig(name, "string", "")
			k.seal(name)
			obj.item.remark("set its value with `yamlhost config set --secret %s`: it is %s.%s of the manifest", name, field,
				key.Value)
			notes := value.Notes()
			*value = *text("${" + name + "}")
			value.SetNotes(notes)
		})
	}
}

// id returns the key of an object in byName. Line breaks separate its parts, since no valid name has one.
func id(kind, namespace, name string) string { return kind + "\n" + namespace + "\n" + name }

// nameFields holds the fields that contain names of other objects, with the kind of those objects. A field is given by
// its key, preceded by the key above if necessary. The keys are those of the API's types. A field that is missing here
// stays a name, which works but is not waited for.
var nameFields = map[string]string{
	"configMapKeyRef.name": "ConfigMap", "configMapRef.name": "ConfigMap", "configMap.name": "ConfigMap",
	"secretKeyRef.name": "Secret", "secretRef.name": "Secret", "secret.secretName": "Secret", "secret.name": "Secret",
	"imagePullSecrets.name": "Secret", "tls.secretName": "Secret", "nodePublishSecretRef.name": "Secret",
	"serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount",
	"persistentVolumeClaim.claimName": "PersistentVolumeClaim", "spec.volumeName": "PersistentVolume",
	"metadata.namespace": "Namespace", "subjects.namespace": "Namespace", "spec.serviceName": "Service",
	"service.name": "Service", "backend.serviceName": "Service", "storageClassName": "StorageClass",
	"priorityClassName": "PriorityClass", "ingressClassName": "IngressClass", "runtimeClassName": "RuntimeClass",
}

// clusterKinds holds the kinds of objects that fields name and that belong to no namespace.
var clusterKinds = map[string]bool{"Namespace": true, "PersistentVolume": true, "StorageClass": true,
	"PriorityClass": true, "IngressClass": true, "RuntimeClass": true, "ClusterRole": true}

// link replaces the names of other objects by references to them. A reference makes the program wait for the other
// object, which a name alone does not.
func (k *kubernetes) link(obj *object) {
	var walk func(node *yamlnode.Node, above string)
	walk = func(node *yamlnode.Node, above string) {
		if node.Kind == yamlnode.List {
			for _, item := range node.Content {
				walk(item, above)
			}
		}
		namespace := cmp.Or(yamlnode.TextAt(node, "namespace"), obj.namespace) // of the objects that node names
		each(node, func(key, value *yamlnode.Node) {
			kind := cmp.Or(nameFields[above+"."+key.Value], nameFields[key.Value])
			// These name the kind beside the name.
			if key.Value == "name" && slices.Contains([]string{"scaleTargetRef", "roleRef", "subjects"}, above) {
				kind = yamlnode.TextAt(node, "kind")
			}
			if kind != "" && value.Kind == yamlnode.Scalar && value.Value != "" {
				k.refer(obj, value, kind, namespace)
				return
			}
			walk(value, key.Value)
		})
	}
	walk(obj.out, "")
}

// refer replaces the name of an object by a reference, if the program has that object with a type and needs no cycle
// for it.
func (k *kubernetes) refer(obj *object, value *yamlnode.Node, kind, namespace string) {
	if clusterKinds[kind] {
		namespace = ""
	}
	target := k.byName[id(kind, namespace, value.Value)]
	if target == nil || !target.typed || !k.use(obj, target) {
		return
	}
	k.replace(value, target, text("${"+target.resource+".metadata.name}"))
}

// use records that obj needs target and reports true, unless target already needs obj. The first of two references that
// need each other is kept, and the other stays a name.
func (k *kubernetes) use(obj, target *object) bool {
	// Without this test a pair of objects that name each other, as is usual in Kubernetes, would be a program that
	// cannot be ordered.
	if target.needs(obj, map[*object]bool{}) {
		return false
	}
	obj.uses[target] = true
	return true
}

// needs reports whether o is target, or needs it indirectly. seen are the objects that the search has visited. It
// searches anew each time, for references are added between the questions.
func (o *object) needs(target *object, seen map[*object]bool) bool {
	if o == target || seen[o] {
		return o == target
	}
	seen[o] = true
	for next := range o.uses {
		if next.needs(target, seen) {
			return true
		}
	}
	return false
}

// hostName matches words that may be the name of a service.
var hostName = lazyregexp.New(`[a-z][a-z0-9-]*`)

// mentions records that a workload needs the services its containers call, so that these do not wait for the workload.
// A service waits for no pod, but a workload often calls other services when it starts.
func (k *kubernetes) mentions(obj *object) {
	var walk func(node *yamlnode.Node, inside bool)
	walk = func(node *yamlnode.Node, inside bool) {
		for i, child := range node.Content {
			key := ""
			if node.Kind == yamlnode.Map && i%2 == 1 {
				key = node.Content[i-1].Value
			}
			// Only what a container is told counts: a word in a label means nothing.
			walk(child, inside || key == "command" || key == "args" || key == "env")
		}
		if inside && node.Kind == yamlnode.Scalar {
			for _, name := range hostName().FindAllString(node.Value, -1) {
				if service := k.byName[id("Service", obj.namespace, name)]; service != nil {
					k.use(obj, service)
				}
			}
		}
	}
	if obj.labelPath() != nil {
		walk(obj.node, false)
	}
}

// selectors makes the selectors of services refer to the labels of the pods they select. It comes last, because the
// references before it matter more: a selector works as a text as well.
func (k *kubernetes) selectors() {
	byLabel := map[string][]*object{}
	for _, obj := range k.objects {
		if labels := obj.labels(); labels != nil && obj.typed {
			each(labels, func(key, value *yamlnode.Node) {
				id := obj.namespace + "\n" + key.Value + "\n" + value.Value
				byLabel[id] = append(byLabel[id], obj)
			})
		}
	}
	for _, obj := range k.objects {
		selector := yamlnode.Member(obj.out, "spec", "selector")
		if obj.kind != "Service" || selector == nil || len(selector.Content) < 2 {
			continue
		}
		// One pair of the selector finds the candidates, so that services times pods are not compared.
		candidates := byLabel[obj.namespace+"\n"+selector.Content[0].Value+"\n"+selector.Content[1].Value]
		for _, target := range candidates {
			fits := true
			each(selector, func(key, value *yamlnode.Node) {
				fits = fits && yamlnode.TextAt(target.labels(), key.Value) == value.Value
			})
			if !fits || !k.use(obj, target) {
				continue
			}
			path := target.resource + "." + strings.Join(target.labelPath(), ".")
			if len(selector.Content) == len(target.labels().Content) {
				k.replace(selector, target, text("${"+path+"}"))
				break
			}
			each(selector, func(key, value *yamlnode.Node) { k.replace(value, target, text("${"+path+`["`+key.Value+`"]}`)) })
			break
		}
	}
}

// labelPath returns the path to the labels of an object's pods; nil if it has none.
func (o *object) labelPath() []string {
	switch o.kind {
	case "Pod":
		return []string{"metadata", "labels"}
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController":
		return []string{"spec", "template", "metadata", "labels"}
	}
	return nil
}

// labels returns the labels of an object's pods in the input, or nil.
func (o *object) labels() *yamlnode.Node {
	path := o.labelPath()
	if path == nil {
		return nil
	}
	return yamlnode.Member(o.node, path...)
}
