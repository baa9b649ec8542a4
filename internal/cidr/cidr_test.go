package cidr_test

import (
	"math/big"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/cidr"
)

func TestHost(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64]string{0: "10.0.0.0", 3: "10.0.0.3", -1: "10.0.0.3", -4: "10.0.0.0", 4: "", -5: ""} {
		addr, err := cidr.Host(netip.MustParsePrefix("10.0.0.0/30"), big.NewInt(number))
		if want == "" {
			require.ErrorIs(t, err, cidr.ErrNumber, number)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, addr.String())
	}
	last, err := cidr.Host(netip.MustParsePrefix("::/0"), big.NewInt(-1))
	require.NoError(t, err)
	require.Equal(t, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", last.String())
}

func TestMask(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]string{"0.0.0.0/0": "0.0.0.0", "10.0.0.0/12": "255.240.0.0",
		"10.0.0.1/32": "255.255.255.255"} {
		mask, ok := cidr.Mask(netip.MustParsePrefix(network))
		require.True(t, ok)
		require.Equal(t, want, mask.String())
	}
	_, ok := cidr.Mask(netip.MustParsePrefix("::/8"))
	require.False(t, ok)
}

func TestSubnet(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("10.12.0.0/16")
	part, err := cidr.Subnet(network, 8, big.NewInt(255))
	require.NoError(t, err)
	require.Equal(t, "10.12.255.0/24", part.String())
	_, err = cidr.Subnet(network, 8, big.NewInt(256))
	require.ErrorIs(t, err, cidr.ErrNumber)
	_, err = cidr.Subnet(network, 8, big.NewInt(-1))
	require.ErrorIs(t, err, cidr.ErrNumber)
	for _, bits := range []int{-1, 17} {
		_, err = cidr.Subnet(network, bits, new(big.Int))
		require.ErrorIs(t, err, cidr.ErrPrefix, bits)
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	network := netip.MustParsePrefix("10.0.0.0/24")
	parts, err := cidr.Pack(network, []int{2, 1, 2})
	require.ErrorIs(t, err, cidr.ErrRoom)
	require.Len(t, parts, 2)
	require.Equal(t, "10.0.0.0/26", parts[0].String())
	require.Equal(t, "10.0.0.128/25", parts[1].String(), "it begins at a multiple of its size")
	parts, err = cidr.Pack(network, []int{0, 9})
	require.ErrorIs(t, err, cidr.ErrPrefix)
	require.Len(t, parts, 1)
}
