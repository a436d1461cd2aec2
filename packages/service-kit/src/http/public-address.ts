import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** IPv4 ranges outside the public internet (IANA's special-purpose registry), and a metadata service on a public address. */
const notPublic4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Of IPv6 only 2000::/3 is public, except for reserved ranges, documentation, and those that contain an IPv4 address. */
const notPublic6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const ranges4 = toList(notPublic4, 'ipv4');
const ranges6 = toList(notPublic6, 'ipv6');
const public6 = toList(['2000::/3'], 'ipv6');

/**
 * Whether an address is a host of the public internet, and not this machine. False for anything but an address. Mapped and
 * translated forms of IPv4 addresses are never public.
 */
export function isPublicAddress(address: string): boolean {
  const isPublic =
    isIP(address) === 4
      ? !ranges4.check(address, 'ipv4')
      : isIP(address) === 6 && public6.check(address, 'ipv6') && !ranges6.check(address, 'ipv6');
  return isPublic && !isOwn(address);
}

function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flat())
    if (each !== undefined) own.addAddress(each.address, each.family === 'IPv6' ? 'ipv6' : 'ipv4');
  return own.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function toList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
