package embedded

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"

	"github.com/yamlhost/yamlhost/value"
)

// stdNetworks are functions of addresses in the notation of CIDR (RFC 4632).
func stdNetworks() map[string]formula {
	return map[string]formula{
		"cidrhost": func(args value.Value) (value.Value, error) {
			network, err := networkArg(args)
			if err != nil {
				return value.Null, err
			}
			n, err := whole(args, "host")
			if err != nil {
				return value.Null, err
			}
			host, err := hostOf(network, n)
			return value.String(host.String()), err
		},
		"cidrnetmask": func(args value.Value) (value.Value, error) {
			network, err := networkArg(args)
			if err != nil {
				return value.Null, err
			}
			if !network.Addr().Is4() {
				return value.Null, errors.New("only networks of IPv4 have a mask in the form of an address")
			}
			var mask [4]byte
			for i := range network.Bits() {
				mask[i/8] |= 0x80 >> (i % 8)
			}
			return value.String(netip.AddrFrom4(mask).String()), nil
		},
		"cidrsubnet": func(args value.Value) (value.Value, error) {
			network, err := networkArg(args)
			if err != nil {
				return value.Null, err
			}
			bits, err := whole(args, "newbits")
			if err != nil {
				return value.Null, err
			}
			n, err := whole(args, "netnum")
			if err != nil {
				return value.Null, err
			}
			part, err := subnet(network, bits, big.NewInt(int64(n)))
			return value.String(part.String()), err
		},
		"cidrsubnets": consecutiveSubnets,
	}
}

func networkArg(args value.Value) (netip.Prefix, error) {
	text := textArg(args, "input")
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fmt.Errorf("input must be a network such as 10.0.0.0/8, not %q", text)
	}
	return network.Masked(), nil
}

// hostOf is an address of a network, counted from 0, or from -1 backwards from the end.
func hostOf(network netip.Prefix, n int) (netip.Addr, error) {
	size := new(big.Int).Lsh(big.NewInt(1), uint(network.Addr().BitLen()-network.Bits()))
	at := big.NewInt(int64(n))
	if n < 0 {
		at.Add(at, size)
	}
	if at.Sign() < 0 || at.Cmp(size) >= 0 {
		return netip.Addr{}, fmt.Errorf("the network %s has %s addresses, and none with the number %d", network, size, n)
	}
	return shifted(network.Addr(), at), nil
}

// subnet is a part of a network whose prefix is longer by bits, counted from 0.
func subnet(network netip.Prefix, bits int, n *big.Int) (netip.Prefix, error) {
	length := network.Bits() + bits
	if bits < 0 || length > network.Addr().BitLen() {
		return netip.Prefix{}, fmt.Errorf("the prefix of %s cannot be longer by %d bits", network, bits)
	}
	if n.Sign() < 0 || n.BitLen() > bits {
		return netip.Prefix{}, fmt.Errorf("%d bits are not enough for the number %s", bits, n)
	}
	distance := new(big.Int).Lsh(n, uint(network.Addr().BitLen()-length))
	return netip.PrefixFrom(shifted(network.Addr(), distance), length), nil
}

// shifted is an address that comes n after another, which must be possible.
func shifted(a netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).SetBytes(a.AsSlice())
	moved, _ := netip.AddrFromSlice(sum.Add(sum, n).FillBytes(make([]byte, a.BitLen()/8)))
	return moved
}

// consecutiveSubnets packs parts of several sizes into a network, in their order, each where its size lets it begin.
func consecutiveSubnets(args value.Value) (value.Value, error) {
	network, err := networkArg(args)
	if err != nil {
		return value.Null, err
	}
	total := network.Addr().BitLen() - network.Bits() // bits of addresses inside of the network
	next, end := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(total))
	var list []string
	for i, v := range listArg(args, "newbits") {
		f, _ := v.AsNumber()
		if bits := int(f); bits < 1 || bits > 32 || bits > total {
			return value.Null, fmt.Errorf("newbits[%d]: the prefix of %s can be longer by 1 to %d bits, not by %s", i, network,
				min(32, total), value.FormatNumber(f))
		}
		size := new(big.Int).Lsh(big.NewInt(1), uint(total-int(f)))
		if rest := new(big.Int).Mod(next, size); rest.Sign() > 0 {
			next.Add(next, size).Sub(next, rest)
		}
		if after := new(big.Int).Add(next, size); after.Cmp(end) > 0 {
			return value.Null, fmt.Errorf("newbits[%d]: what is left of %s has no room for it", i, network)
		}
		list = append(list, netip.PrefixFrom(shifted(network.Addr(), next), network.Bits()+int(f)).String())
		next.Add(next, size)
	}
	return textList(list), nil
}
