package embedded

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/yamlhost/yamlhost/internal/cidr"
	"github.com/yamlhost/yamlhost/internal/value"
)

// stdNetworks are functions for addresses in CIDR notation (RFC 4632).
func stdNetworks() map[string]formula {
	return map[string]formula{
		"cidrhost": ofNetwork(func(network netip.Prefix, args value.Value) (value.Value, error) {
			n, err := whole(args, "host")
			if err != nil {
				return value.Null, err
			}
			host, err := cidr.Host(network, big.NewInt(int64(n)))
			if err != nil {
				err = fmt.Errorf("the network %s has %s addresses, and none with the number %d", network, cidr.Size(network), n)
			}
			return value.String(host.String()), err
		}),
		"cidrnetmask": ofNetwork(func(network netip.Prefix, args value.Value) (value.Value, error) {
			mask, ok := cidr.Mask(network)
			if !ok {
				return value.Null, errors.New("only networks of IPv4 have a mask in the form of an address")
			}
			return value.String(mask.String()), nil
		}),
		"cidrsubnet": ofNetwork(func(network netip.Prefix, args value.Value) (value.Value, error) {
			bits, err := whole(args, "newbits")
			if err != nil {
				return value.Null, err
			}
			n, err := whole(args, "netnum")
			if err != nil {
				return value.Null, err
			}
			part, err := cidr.Subnet(network, bits, big.NewInt(int64(n)))
			switch {
			case errors.Is(err, cidr.ErrPrefix):
				err = fmt.Errorf("the prefix of %s cannot be longer by %d", network, bits)
			case err != nil:
				err = fmt.Errorf("the number %d does not fit into a prefix that is longer by %d", n, bits)
			}
			return value.String(part.String()), err
		}),
		"cidrsubnets": ofNetwork(consecutiveSubnets),
	}
}

// ofNetwork returns a formula for a function of the network in the argument input.
func ofNetwork(fn func(network netip.Prefix, args value.Value) (value.Value, error)) formula {
	return func(args value.Value) (value.Value, error) {
		text := lookupString(args, "input")
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return value.Null, fmt.Errorf("input must be a network such as 10.0.0.0/8, not %q", text)
		}
		return fn(network.Masked(), args)
	}
}

// consecutiveSubnets divides a network into subnets of the given sizes, in order. Each begins at the next address that
// its prefix allows.
func consecutiveSubnets(network netip.Prefix, args value.Value) (value.Value, error) {
	total := network.Addr().BitLen() - network.Bits() // bits of an address inside the network
	var bits []int
	var wrong error
	for i, v := range listArg(args, "newbits") {
		f, _ := v.AsNumber()
		if longer := int(f); longer < 1 || longer > min(32, total) {
			wrong = fmt.Errorf("newbits[%d]: the prefix of %s can be longer by 1 to %d, not by %s", i, network,
				min(32, total), value.FormatNumber(f))
			break
		}
		bits = append(bits, int(f))
	}
	parts, err := cidr.Pack(network, bits)
	if err != nil {
		return value.Null, fmt.Errorf("newbits[%d]: the rest of %s has no room for this network", len(parts), network)
	}
	if wrong != nil {
		return value.Null, wrong
	}
	var list []string
	for _, part := range parts {
		list = append(list, part.String())
	}
	return value.Strings(list), nil
}
