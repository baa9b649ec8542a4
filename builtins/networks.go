package builtins

import (
	"context"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/value"
)

// networkFuncs divide ranges of network addresses, of either version of IP. cty's library has none.
var networkFuncs = []*Func{
	{
		Name:    "cidrHost",
		Summary: "An address inside a network, by its number.",
		Params: []Param{
			{Name: "network", Type: schema.String, Doc: "the network, such as 10.0.0.0/16"},
			{Name: "number", Type: schema.Integer, Doc: "0-based number of the address; a negative one counts from the end"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::cidrHost: [10.12.0.0/16, 260]`,
		Call:    `cidrHost("10.12.0.0/16", 260)`,
		Gives:   `"10.12.1.4"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			network, err := parseNetwork(args[0])
			if err != nil {
				return value.Null, err
			}
			number, _ := args[1].AsNumber()
			whole, _ := big.NewFloat(number).Int(nil)
			size := new(big.Int).Lsh(big.NewInt(1), uint(network.Addr().BitLen()-network.Bits()))
			if whole.Sign() < 0 {
				whole.Add(whole, size)
			}
			if whole.Sign() < 0 || whole.Cmp(size) >= 0 {
				return value.Null, blame(1, "number: the network has no such address, its prefix is %d bits", network.Bits())
			}
			return value.String(offset(network.Addr(), whole).String()), nil
		},
	},
	{
		Name:    "cidrNetmask",
		Summary: "The mask of an IPv4 network in the dotted notation.",
		Params:  []Param{{Name: "network", Type: schema.String, Doc: "the network, such as 10.0.0.0/16"}},
		Result:  always(schema.String),
		Example: `fn::cidrNetmask: 172.16.0.0/12`,
		Call:    `cidrNetmask("172.16.0.0/12")`,
		Gives:   `"255.240.0.0"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			network, err := parseNetwork(args[0])
			if err != nil {
				return value.Null, err
			}
			if !network.Addr().Is4() {
				return value.Null, blameText(0, str(args[0]), "network: must be of IPv4; IPv6 has no masks")
			}
			mask, _ := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(network.Bits())
			return value.String(mask.Addr().String()), nil
		},
	},
	{
		Name:    "cidrSubnet",
		Summary: "One of the equal networks that a network can be divided into.",
		Params: []Param{
			{Name: "network", Type: schema.String, Doc: "the network to divide, such as 10.0.0.0/16"},
			{Name: "bits", Type: schema.Integer, Doc: "how many bits longer the new prefix is; 8 makes 256 networks"},
			{Name: "number", Type: schema.Integer, Doc: "0-based number of the network that is wanted"},
		},
		Shape:   Positional,
		Result:  always(schema.String),
		Example: `fn::cidrSubnet: [10.12.0.0/16, 8, 2]`,
		Call:    `cidrSubnet("10.12.0.0/16", 8, 2)`,
		Gives:   `"10.12.2.0/24"`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			network, err := parseNetwork(args[0])
			if err != nil {
				return value.Null, err
			}
			bits, number := clampInt(args[1]), clampInt(args[2])
			length := network.Bits() + bits
			if bits < 0 || length > network.Addr().BitLen() {
				return value.Null, blame(1, "bits: the prefix would be %d bits long, from %d to %d are possible", length,
					network.Bits(), network.Addr().BitLen())
			}
			if number < 0 || bits < 31 && number >= 1<<bits {
				return value.Null, blame(2, "number: %d bits number fewer networks", bits)
			}
			shift := uint(network.Addr().BitLen() - length)
			start := offset(network.Addr(), new(big.Int).Lsh(big.NewInt(int64(number)), shift))
			return value.String(netip.PrefixFrom(start, length).String()), nil
		},
	},
	{
		Name:    "cidrSubnets",
		Summary: "Networks of several sizes, one behind the other from the start of a network.",
		Params: []Param{
			{Name: "network", Type: schema.String, Doc: "the network to divide, such as 10.0.0.0/16"},
			{Name: "bits", Type: schema.Integer, Doc: "for each network, how many bits longer its prefix is"},
		},
		Variadic: true,
		Shape:    Positional,
		Result:   always(textList),
		Example:  `fn::cidrSubnets: [10.12.0.0/16, 4, 4, 8]`,
		Call:     `cidrSubnets("10.12.0.0/16", 4, 4, 8)`,
		Gives:    `["10.12.0.0/20", "10.12.16.0/20", "10.12.32.0/24"]`,
		Since:    "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			network, err := parseNetwork(args[0])
			if err != nil {
				return value.Null, err
			}
			networks := make([]string, 0, len(args)-1)
			next := new(big.Int) // how many addresses are taken
			total := new(big.Int).Lsh(big.NewInt(1), uint(network.Addr().BitLen()-network.Bits()))
			for i, arg := range args[1:] {
				length := network.Bits() + clampInt(arg)
				if length < network.Bits() || length > network.Addr().BitLen() {
					return value.Null, blame(i+1, "bits: the prefix would be %d bits long, from %d to %d are possible", length,
						network.Bits(), network.Addr().BitLen())
				}
				size := new(big.Int).Lsh(big.NewInt(1), uint(network.Addr().BitLen()-length))
				if rest := new(big.Int).Mod(next, size); rest.Sign() != 0 {
					next.Add(next, size).Sub(next, rest) // networks start at multiples of their size
				}
				end := new(big.Int).Add(next, size)
				if end.Cmp(total) > 0 {
					return value.Null, blame(i+1, "bits: there is no room for network %d behind the others", i+1)
				}
				networks = append(networks, netip.PrefixFrom(offset(network.Addr(), next), length).String())
				next = end
			}
			return textItems(networks), nil
		},
	},
	{
		Name:    "cidrContains",
		Summary: "Whether an address or a network lies wholly inside a network.",
		Params: []Param{
			{Name: "network", Type: schema.String, Doc: "the network, such as 10.0.0.0/16"},
			{Name: "part", Type: schema.String, Doc: "an address or another network"},
		},
		Shape:   Positional,
		Result:  always(schema.Bool),
		Example: `fn::cidrContains: [10.12.0.0/16, 10.12.1.4]`,
		Call:    `cidrContains("10.12.0.0/16", "10.12.1.4")`,
		Gives:   `true`,
		Since:   "0.1.0", Rule: "D6",
		Eval: func(_ context.Context, _ Env, args []value.Value) (value.Value, error) {
			network, err := parseNetwork(args[0])
			if err != nil {
				return value.Null, err
			}
			if part, err := netip.ParsePrefix(str(args[1])); err == nil {
				return value.Bool(part.Bits() >= network.Bits() && network.Contains(part.Addr())), nil
			}
			part, err := netip.ParseAddr(str(args[1]))
			if err != nil {
				return value.Null, blameText(1, str(args[1]), "part: must be an address or a network such as 10.0.0.0/16")
			}
			return value.Bool(network.Contains(part.WithZone(""))), nil
		},
	},
}

// parseNetwork reads a network; bits of the address behind the prefix count as zero.
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

// offset is the address that comes n after start. The caller has made sure that there is one.
func offset(start netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).SetBytes(start.AsSlice())
	bytes := make([]byte, start.BitLen()/8)
	addr, ok := netip.AddrFromSlice(sum.Add(sum, n).FillBytes(bytes))
	if !ok {
		panic(fmt.Sprintf("%d bytes make no address", len(bytes))) // a fault of ours: Addr has 4 or 16
	}
	return addr
}
