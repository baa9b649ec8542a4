package builtins

import (
	"errors"
	"math/big"
	"net/netip"

	"github.com/yamlhost/yamlhost/internal/cidr"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// networkEvals are the functions on ranges of IPv4 and IPv6 addresses. The cty library has none.
var networkEvals = map[string]evalFunc{
	"cidrHost": ofNetwork(func(network netip.Prefix, args []value.Value) (value.Value, error) {
		number, _ := args[1].AsNumber()
		whole, _ := big.NewFloat(number).Int(nil)
		host, err := cidr.Host(network, whole)
		if err != nil {
			return value.Null, blame(1, "number: the network has no such address: its prefix has %s",
				diag.Count(network.Bits(), "bit"))
		}
		return value.String(host.String()), nil
	}),
	"cidrNetmask": ofNetwork(func(network netip.Prefix, args []value.Value) (value.Value, error) {
		mask, ok := cidr.Mask(network)
		if !ok {
			return value.Null, blameText(0, str(args[0]), "network: must be an IPv4 network; IPv6 has no masks")
		}
		return value.String(mask.String()), nil
	}),
	"cidrSubnet": ofNetwork(func(network netip.Prefix, args []value.Value) (value.Value, error) {
		bits, number := clampInt(args[1]), clampInt(args[2])
		part, err := cidr.Subnet(network, bits, big.NewInt(int64(number)))
		switch {
		case errors.Is(err, cidr.ErrPrefix):
			return value.Null, wrongLength(1, network, bits)
		case err != nil:
			return value.Null, blame(2, "number: %s make fewer networks", diag.Count(bits, "bit"))
		}
		return value.String(part.String()), nil
	}),
	"cidrSubnets": ofNetwork(func(network netip.Prefix, args []value.Value) (value.Value, error) {
		bits := make([]int, 0, len(args)-1)
		for _, arg := range args[1:] {
			bits = append(bits, clampInt(arg))
		}
		parts, err := cidr.Pack(network, bits)
		switch i := len(parts) + 1; {
		case errors.Is(err, cidr.ErrPrefix):
			return value.Null, wrongLength(i, network, bits[i-1])
		case err != nil:
			return value.Null, blame(i, "bits: there is no room for network %d after the others", i)
		}
		networks := make([]value.Value, len(parts))
		for i, part := range parts {
			networks[i] = value.String(part.String())
		}
		return value.List(networks...), nil
	}),
	"cidrContains": ofNetwork(func(network netip.Prefix, args []value.Value) (value.Value, error) {
		if part, err := netip.ParsePrefix(str(args[1])); err == nil {
			return value.Bool(part.Bits() >= network.Bits() && network.Contains(part.Addr())), nil
		}
		part, err := netip.ParseAddr(str(args[1]))
		if err != nil {
			return value.Null, blameText(1, str(args[1]), "part: must be an address or a network such as 10.0.0.0/16")
		}
		return value.Bool(network.Contains(part.WithZone(""))), nil
	}),
}

// ofNetwork returns the body of a function whose first argument is a network.
func ofNetwork(body func(network netip.Prefix, args []value.Value) (value.Value, error)) evalFunc {
	return plainly(func(args []value.Value) (value.Value, error) {
		network, err := parseNetwork(args[0])
		if err != nil {
			return value.Null, err
		}
		return body(network, args)
	})
}

// parseNetwork parses a network and clears the address bits after the prefix.
func parseNetwork(v value.Value) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(str(v))
	if err != nil {
		return network, blameText(0, str(v), "network: must be an address and the length of its prefix, such as 10.0.0.0/16")
	}
	if network.Addr().Is4In6() {
		return network, blameText(0, str(v), "network: write an IPv4 network without ::ffff:")
	}
	return network.Masked(), nil
}

// wrongLength returns the error about an argument that would extend a prefix by an invalid number of bits.
func wrongLength(arg int, network netip.Prefix, bits int) error {
	return blame(arg, "bits: the prefix would be %s long, from %d to %d are possible",
		diag.Count(network.Bits()+bits, "bit"), network.Bits(), network.Addr().BitLen())
}
