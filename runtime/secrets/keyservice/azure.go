//go:build !lean

package keyservice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	_ "gocloud.dev/secrets/azurekeyvault" // knows azurekeyvault://
)

func azureOpener() opener { return openKeeper(plainAzure) }

// plainAzure is the message in the service's answer; the library prints the request and the whole answer, over many
// lines.
func plainAzure(err error) string {
	var reply *azcore.ResponseError
	if !errors.As(err, &reply) || reply.RawResponse == nil {
		return ""
	}
	said := fmt.Sprintf("the service answered %d %s", reply.StatusCode, http.StatusText(reply.StatusCode))
	var answer struct{ Error struct{ Message string } }
	// the library keeps it for anyone who reads
	text, err := io.ReadAll(io.LimitReader(reply.RawResponse.Body, mostOfAnAnswer))
	if err == nil && json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		return said + ": " + answer.Error.Message
	}
	return said
}
