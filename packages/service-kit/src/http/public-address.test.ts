import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPublicAddress } from './public-address.ts';

describe('isPublicAddress()', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.1.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a9fe:a9fe',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    '5f00::1',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '1.1.1.1 ',
  ])('rejects %s', (address) => expect(isPublicAddress(address)).toBe(false));

  test('rejects the addresses of this machine', () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
    expect(own.filter(isPublicAddress)).toEqual([]);
  });

  test('rejects private ranges and IPv6 forms of IPv4 addresses', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, (b, c, d) => {
        const inside = [
          `10.${b}.${c}.${d}`,
          `127.${b}.${c}.${d}`,
          `192.168.${c}.${d}`,
          `169.254.${c}.${d}`,
          `172.${16 + (b % 16)}.${c}.${d}`,
        ];
        expect(inside.filter(isPublicAddress)).toEqual([]);
        const hex = (x: number, y: number) => ((x << 8) | y).toString(16);
        expect(isPublicAddress(`::ffff:${hex(b, c)}:${hex(c, d)}`)).toBe(false);
      }),
    );
  });
});
