// Package cidr divides ranges of IPv4 and IPv6 addresses in the notation of RFC 4632. The built-in functions and the
// package std share it; each phrases its own error messages.
//
// A network must be masked: the address bits after the prefix are zero.
package cidr

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
)

var (
	// ErrPrefix is returned if the new prefix would be shorter than the network's or longer than an address.
	ErrPrefix = errors.New("the prefix cannot have this length")
	// ErrNumber is returned if there is no address or network with the given number.
	ErrNumber = errors.New("there is no address or network with this number")
	// ErrRoom is returned if the remaining addresses are not enough for another network.
	ErrRoom = errors.New("there is no room left")
)

// Host returns the address of a network with a 0-based number. Negative numbers count from the end.
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

// Size returns the number of addresses in a network.
func Size(network netip.Prefix) *big.Int { return power(network.Addr().BitLen() - network.Bits()) }

// Mask returns the mask of an IPv4 network as an address; ok is false for IPv6, which has no masks.
func Mask(network netip.Prefix) (mask netip.Addr, ok bool) {
	if !network.Addr().Is4() {
		return netip.Addr{}, false
	}
	ones, err := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(network.Bits())
	return ones.Addr(), err == nil
}

// Subnet divides a network into equal ones whose prefixes are longer by the given number of bits, and returns the one
// with a 0-based number.
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

// Pack returns consecutive networks from the start of a network. The prefix of each is longer than the network's by the
// corresponding element of bits, and each starts at a multiple of its size. On error it returns the networks before the
// one that caused it.
func Pack(network netip.Prefix, bits []int) ([]netip.Prefix, error) {
	packed := make([]netip.Prefix, 0, len(bits))
	next := new(big.Int) // number of addresses allocated so far
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

// behind returns the address that is n after start. The caller ensures that it exists.
func behind(start netip.Addr, n *big.Int) netip.Addr {
	sum := new(big.Int).SetBytes(start.AsSlice())
	bytes := make([]byte, start.BitLen()/8)
	addr, ok := netip.AddrFromSlice(sum.Add(sum, n).FillBytes(bytes))
	if !ok {
		panic(fmt.Sprintf("%d bytes make no address", len(bytes))) // cannot happen: an Addr has 4 or 16 bytes
	}
	return addr
}
