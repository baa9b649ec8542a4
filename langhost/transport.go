package langhost

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const messageLimit = 400 << 20 // bytes (F2.7)

func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0),
	}
}

func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.MaxRecvMsgSize(messageLimit), grpc.MaxSendMsgSize(messageLimit)}
}
