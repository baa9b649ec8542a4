package rpc

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

// Headers of our client and our server beyond the protocol. Other programs never see them: the client sends idHeader
// only to a server that answered with exactHeader, and the server does that only for a client that sent exactHeader.
const (
	exactHeader = "yamlhost-exact"  // request: the client is yamlhost's; response header: the server is too
	knownHeader = "yamlhost-known"  // trailer: "1" if absent outputs are null, "0" if they are unknown
	idHeader    = "yamlhost-id-bin" // request or trailer: an ID that the protocol cannot express, as a protobuf Value
	// defaultsHeader is in requests: the path of an input with a default of the package's schema, as JSON.
	defaultsHeader = "yamlhost-defaults-bin"
)

// packDefaults adds the paths of defaults to the headers of a request.
func packDefaults(ctx context.Context, paths []value.Path) (context.Context, error) {
	for _, path := range paths {
		text, err := json.Marshal(path)
		if err != nil {
			return ctx, err
		}
		ctx = metadata.AppendToOutgoingContext(ctx, defaultsHeader, string(text))
	}
	return ctx, nil
}

// unpackDefaults decodes the paths of defaults from the headers of a request.
func unpackDefaults(ctx context.Context) (paths []value.Path, err error) {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, text := range md.Get(defaultsHeader) {
		var path value.Path
		if err := json.Unmarshal([]byte(text), &path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// isExact reports whether a call comes from a yamlhost client.
func isExact(ctx context.Context) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	return len(md.Get(exactHeader)) > 0
}

// plainID returns an ID as the protocol expresses it, where unknown and absent IDs are both empty. fits reports whether
// a client decodes it to the same ID.
func plainID(id value.Value) (text string, fits bool) {
	text, ok := id.AsString()
	return text, ok && text != "" && !id.IsSecret() && len(id.Deps()) == 0
}

// packID encodes an ID for a header.
func packID(id value.Value) (string, error) {
	w, err := wire.KeepAll().EncodeValue(id)
	if err != nil {
		return "", err
	}
	packed, err := proto.Marshal(w)
	return string(packed), err
}

// unpackID decodes the ID in a header; ok is false if there is none.
func unpackID(md metadata.MD) (id value.Value, ok bool, err error) {
	packed := md.Get(idHeader)
	if len(packed) == 0 {
		return value.Null, false, nil
	}
	w := new(structpb.Value)
	if err := proto.Unmarshal([]byte(packed[0]), w); err != nil {
		return value.Null, false, err
	}
	id, err = wire.KeepAll().DecodeValue(w)
	if !id.IsKnown() {
		id = id.UnknownAs(value.KindString) // an ID is always a string
	}
	return id, err == nil, err
}
