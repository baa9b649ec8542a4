package keyservice

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// vault is a key of Vault's transit engine.
type vault struct {
	client    *http.Client
	address   string // of the server, without a trailing slash
	token     string
	namespace string
	engine    string
	key       string
}

// openVault opens hashivault://KEY, with the engine's mount in the parameter engine. The server's address and the token
// are in VAULT_SERVER_URL and VAULT_SERVER_TOKEN, or VAULT_ADDR and VAULT_TOKEN.
func openVault(rawURL string, o Options) (secrets.Key, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("the secrets provider %q is not a URL", rawURL)
	}
	v := &vault{client: o.Client, engine: "transit", key: path.Join(u.Host, u.Path)}
	if v.client == nil {
		v.client = http.DefaultClient
	}
	for name, values := range u.Query() {
		if name != "engine" {
			return nil, fmt.Errorf("the secrets provider %q has the parameter %q; there is only the parameter engine", rawURL,
				name)
		}
		v.engine = strings.Trim(values[0], "/")
	}
	if v.key == "" || v.engine == "" {
		return nil, fmt.Errorf("the secrets provider %q names no key; it should look like hashivault://mykey", rawURL)
	}
	v.address = strings.TrimRight(first(o, "VAULT_SERVER_URL", "VAULT_ADDR"), "/")
	if v.address == "" {
		return nil, fmt.Errorf("the secrets provider %q needs the address of the server in VAULT_ADDR", rawURL)
	}
	v.token, v.namespace = first(o, "VAULT_SERVER_TOKEN", "VAULT_TOKEN"), first(o, "VAULT_NAMESPACE")
	return v, nil
}

// first returns the first environment variable that is not empty.
func first(o Options, names ...string) string {
	for _, name := range names {
		if o.Lookup == nil {
			continue
		}
		if value, ok := o.Lookup(name); ok && value != "" {
			return value
		}
	}
	return ""
}

func (v *vault) Encrypt(plain []byte) ([]byte, error) {
	answer, err := v.ask("encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)})
	if err != nil {
		return nil, err
	}
	if answer.Ciphertext == "" {
		return nil, fmt.Errorf("%s: the answer has no ciphertext", v.address)
	}
	return []byte(answer.Ciphertext), nil
}

func (v *vault) Decrypt(wrapped []byte) ([]byte, error) {
	answer, err := v.ask("decrypt", map[string]string{"ciphertext": string(wrapped)})
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(answer.Plaintext)
	if err != nil || len(plain) == 0 {
		return nil, fmt.Errorf("%s: the answer has no plain text", v.address)
	}
	return plain, nil
}

type vaultAnswer struct {
	Ciphertext string `json:"ciphertext"`
	Plaintext  string `json:"plaintext"`
}

const mostOfAnAnswer = 1 << 20 // bytes; keys are small

func (v *vault) ask(what string, question map[string]string) (vaultAnswer, error) {
	failed := func(err error) (vaultAnswer, error) {
		return vaultAnswer{}, fmt.Errorf("%s the data key with Vault's key %s at %s: %w", what, v.key, v.address, err)
	}
	body, err := json.Marshal(question)
	if err != nil {
		return failed(err)
	}
	ctx, cancel := withPatience()
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, v.address+"/v1/"+v.engine+"/"+what+"/"+v.key,
		bytes.NewReader(body))
	if err != nil {
		return failed(errors.New("the address is not a URL"))
	}
	request.Header.Set("X-Vault-Token", v.token)
	request.Header.Set("X-Vault-Request", "true")
	request.Header.Set("Content-Type", "application/json")
	if v.namespace != "" {
		request.Header.Set("X-Vault-Namespace", v.namespace)
	}
	response, err := v.client.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return failed(err)
	}
	defer func() { _ = response.Body.Close() }() // already read, or another error is returned
	text, err := io.ReadAll(io.LimitReader(response.Body, mostOfAnAnswer))
	if err != nil {
		return failed(err)
	}
	var answer struct {
		Data   vaultAnswer `json:"data"`
		Errors []string    `json:"errors"`
	}
	decoding := json.Unmarshal(text, &answer)
	switch {
	case response.StatusCode != http.StatusOK && len(answer.Errors) > 0:
		return failed(errors.New(strings.Join(answer.Errors, "; ")))
	case response.StatusCode != http.StatusOK:
		return failed(fmt.Errorf("the server answered %s", response.Status))
	case decoding != nil:
		return failed(errors.New("the answer is not JSON"))
	}
	return answer.Data, nil
}
