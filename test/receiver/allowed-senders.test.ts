import { describe, expect, test } from 'vitest';
import type { SenderRules } from '../../src/http-port/senders.js';
import type { SignalOrder } from '../../src/receiver/signals.js';
import { exchange, listOf, ORDER, rawPost, runReceiver } from './receiver.fixture.js';

const start = (rules: SenderRules, signal?: SignalOrder) => runReceiver(signal, undefined, undefined, rules);
const forwarded = (address: string): string => `X-Forwarded-For: ${address}\r\n`;
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('with a list of allowed addresses', () => {
  test('others are closed without an answer, though their token is genuine, and counted', async () => {
    const receiver = await start({ allowedAddresses: listOf('127.0.0.2') });
    const callback = rawPost(receiver.pathOf(ORDER));
    expect(await exchange(receiver.port, callback, '127.0.0.1')).toBe('');
    expect(await exchange(receiver.port, HEALTH, '127.0.0.1')).toBe('');
    expect(receiver.signals).toEqual([]);
    expect(await exchange(receiver.port, callback, '127.0.0.2')).toContain('200 OK');
    expect(await exchange(receiver.port, HEALTH, '127.0.0.2')).toContain('200 OK');
    await receiver.close();
    expect(receiver.log.at(-1)).toMatchObject({ refused: 2, reasons: { notAllowed: 2 } });
  });

  test('those behind a trusted proxy are told by its header: others get the 404 of unknown paths', async () => {
    const rules = { allowedAddresses: listOf('203.0.113.0/24'), trustedProxies: listOf('127.0.0.1') };
    const receiver = await start(rules);
    const from = (header: string) => exchange(receiver.port, rawPost(receiver.pathOf(ORDER), '{}', header));
    expect(await from(forwarded('203.0.113.5'))).toContain('200 OK');
    for (const header of [forwarded('198.51.100.9'), forwarded('203.0.113.5, 198.51.100.9'), forwarded('x'), ''])
      expect(await from(header)).toContain('404 Not Found');
    // Two headers are one list.
    expect(await from(forwarded('203.0.113.5') + forwarded('198.51.100.9'))).toContain('404 Not Found');
    expect(receiver.signals).toHaveLength(1);
    expect(await exchange(receiver.port, HEALTH)).toContain('200 OK');
  });

  test('the header of a proxy that is not trusted changes nothing', async () => {
    const receiver = await start({ allowedAddresses: listOf('203.0.113.5') });
    const callback = rawPost(receiver.pathOf(ORDER), '{}', forwarded('203.0.113.5'));
    expect(await exchange(receiver.port, callback)).toBe('');
    expect(receiver.signals).toEqual([]);
  });
});
