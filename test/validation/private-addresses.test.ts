import { expect, test } from 'vitest';
import { isPrivateAddress, literalAddressOf } from '../../src/validation/private-addresses.js';

test.for([
  ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1'],
  ...['0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1', '192.0.0.1'],
  ...['::1', '::', '::ffff:10.0.0.1', '::ffff:7f00:1', '::7f00:1', 'fd00::1', 'fc00::1', 'fe80::1', 'fec0::1'],
  ...['ff02::1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::1', '::ffff:0:7f00:1', '::ffff:0:127.0.0.1'],
  ...['2001::1', '2001:0:4136:e378:8000:63bf:80ff:fffe', '192.88.99.1', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
  ...['100::1', '2001:db8::1', '3fff::1', '5f00::1', '2001:2::1', '::ffff:192.88.99.1'],
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.for([
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.128.0.1',
  '11.0.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
])('%s is public', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

test.for([
  ['http://2130706433/', '127.0.0.1'],
  ['https://0x7f.1/', '127.0.0.1'],
  ['https://[::1]/', '::1'],
  ['https://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['https://hooks.example/', undefined],
])('%s names the address %s', ([url, address]) => {
  expect(literalAddressOf(new URL(url as string))).toBe(address);
});
