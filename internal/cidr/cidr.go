// Package cidr divides ranges of network addresses, of either version of IP, in the notation of RFC 4632. The
// functions of the language and of the package std share it; each words its errors itself.
//
// A network must be masked: the bits of its address behind the prefix are zero.
package cidr

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
)

var (
	// ErrPrefix is returned for a prefix that would be shorter than the network's, or longer than an address.
	ErrPrefix = errors.New("the prefix cannot have this length")
	// ErrNumber is returned for an address or a network that has no such number.
	ErrNumber = errors.New("there is no address or network with this number")
	// ErrRoom is returned for a network that does not fit behind the others.
	ErrRoom = errors.New("there is no room left")
)

// Host returns the address of a network with a 0-based number; a negative one counts from the end.
func Host(network netip.Prefix, number *big.Int) (netip.Addr, error) {
	size := Size(network)
	position := new(big.Int).Set(number)
	if position.Sign() < 0 {
		position.Add(position, size)
	}
	if position.Sign() < 0 || position.Cmp(size) >= 0 {
		return netip.Addr{}, ErrNumber
	}
	return behind(network.Addr(), position), nil
}

// Size returns how many addresses a network has.
func Size(network netip.Prefix) *big.Int { return power(network.Addr().BitLen() - network.Bits()) }

// Mask returns the mask of a network of IPv4 as an address; ok is false for IPv6, which has none.
func Mask(network netip.Prefix) (mask netip.Addr, ok bool) {
	if !network.Addr().Is4() {
		return netip.Addr{}, false
	}
	ones, err := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(network.Bits())
	return ones.Addr(), err == nil
}

// Subnet returns the network with a 0-based number among the equal ones whose prefix is so many bits longer.
func Subnet(network netip.Prefix, bits int, number *big.Int) (netip.Prefix, error) {
	length := network.Bits() + bits
	if bits < 0 || length > network.Addr().BitLen() {
		return netip.Prefix{}, ErrPrefix
	}
	if number.Sign() < 0 || number.BitLen() > bits {
		return netip.Prefix{}, ErrNumber
	}
	distance := new(big.Int).Lsh(number, uint(network.Addr().BitLen()-length))
	return netip.PrefixFrom(behind(network.Addr(), distance), length), nil
}

// Pack returns networks whose prefixes are so many bits longer, one behind the other from the start of a network, each
// at a multiple of its size. With an error come those before the one that it is about.
func Pack(network netip.Prefix, bits []int) ([]netip.Prefix, error) {
	packed := make([]netip.Prefix, 0, len(bits))
	next := new(big.Int) // how many addresses are taken
	for _, longer := range bits {
		length := network.Bits() + longer
		if longer < 0 || length > network.Addr().BitLen() {
			return packed, ErrPrefix
		}
		size := power(network.Addr().BitLen() - length)
		if rest := new(big.Int).Mod(next, size); rest.Sign() != 0 {
			next.Add(next, size).Sub(next, rest)
		}
		end := new(big.Int).Add(next, size)
		if end.Cmp(Size(network)) > 0 {
			return packed, ErrRoom
		}
		packed = append(packed, netip.PrefixFrom(behind(network.Addr(), next), length))
		next = end
	}
	return packed, nil
}

func power(bits int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(bits)) }

// behind is the address that comes n after start. The caller has made sure that there is one.
func behind(start netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).SetBytes(start.AsSlice())
	bytes := make([]byte, start.BitLen()/8)
	addr, ok := netip.AddrFromSlice(sum.Add(sum, n).FillBytes(bytes))
	if !ok {
		panic(fmt.Sprintf("%d bytes make no address", len(bytes))) // a fault of ours: Addr has 4 or 16
	}
	return addr
}
