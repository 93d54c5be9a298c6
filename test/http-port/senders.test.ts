import { describe, expect, test } from 'vitest';
import { isListed, senderOf } from '../../src/http-port/senders.js';
import { listOf } from '../receiver/receiver.fixture.js';

const PROXIES = listOf('10.0.0.0/8', '192.0.2.7', 'fd00::/8');

describe('the sender', () => {
  test.each([
    ['is the peer without a header', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the peer where that is no trusted proxy, whatever it claims', '198.51.100.9', '203.0.113.5', '198.51.100.9'],
    ['is the one that the proxy forwards for', '10.0.0.1', '203.0.113.5', '203.0.113.5'],
    ['is the rightmost hop, whatever stands left of it', '10.0.0.1', '1.1.1.1, 2.2.2.2, 203.0.113.5', '203.0.113.5'],
    [
      'is the rightmost hop behind all trusted proxies',
      '10.0.0.1',
      '1.1.1.1, 203.0.113.5, 192.0.2.7, fd00::1',
      '203.0.113.5',
    ],
    ['is the leftmost of nothing but proxies', '10.0.0.1', '10.0.0.2,10.0.0.3', '10.0.0.2'],
    ['is the last known hop before one that is no address', '10.0.0.1', '203.0.113.5, unknown', '10.0.0.1'],
    ['is the proxy where the header is empty', '10.0.0.1', '', '10.0.0.1'],
    ['may come with its port', '10.0.0.1', '203.0.113.5:4711', '203.0.113.5'],
    ['may be an IPv6 address with its port', '10.0.0.1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['is known behind a socket that listens on IPv6, too', '::ffff:10.0.0.1', '::ffff:203.0.113.5', '203.0.113.5'],
  ])('%s', (_what, peer, header, sender) => {
    expect(senderOf(peer, header, PROXIES)).toBe(sender);
  });

  test('is the peer where no proxy is trusted', () => {
    expect(senderOf('127.0.0.1', '203.0.113.5', undefined)).toBe('127.0.0.1');
  });
});

test('a list holds addresses and networks of both kinds, and nobody without a list', () => {
  for (const address of ['10.255.0.1', '192.0.2.7', '::ffff:10.0.0.1', 'fd12::1'])
    expect(isListed(PROXIES, address)).toBe(true);
  for (const address of ['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', 'fe80::1', '::1', '', 'x'])
    expect(isListed(PROXIES, address)).toBe(false);
  expect(isListed(undefined, '10.0.0.1')).toBe(false);
});
