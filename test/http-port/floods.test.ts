import { createSecretKey } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCodec } from '../../src/codec/server.js';
import { startMonitoring } from '../../src/monitoring/server.js';
import { exchange, openRaw, runReceiver } from '../receiver/receiver.fixture.js';

const PROBES = 50;
const PROBE = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

/** Starts each of our ports; a `/metrics` answer has about 4 MiB, more than a socket buffers. */
const PORTS = {
  monitoring: async () => {
    const registry = new Registry();
    const gauge = new Gauge({ name: 'large', help: 'x', labelNames: ['a'], registers: [registry] });
    for (let n = 0; n < 200; n += 1) gauge.set({ a: `${n}`.padEnd(20_000, 'x') }, n);
    const shown = { whyNotReady: async () => undefined, registry };
    const server = await startMonitoring({ host: '127.0.0.1', port: 0 }, shown);
    if (!server) throw new Error('monitoring did not start');
    return server;
  },
  codec: async () => {
    const encryptionKeys = [{ id: 'a', key: createSecretKey(Buffer.alloc(32, 1)) }];
    return startCodec({ host: '127.0.0.1', port: 0, encryptionKeys, uiOrigin: undefined });
  },
  receiver: async () => runReceiver(),
};

/** What an attacker writes first, and then twice a second. */
const ATTACKS = {
  'that say nothing': ['', ''],
  'that never end their headers': ['GET /healthz HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'],
  'that never end their body': ['POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n', ' '],
} as const;

const portOf = (url: string): number => Number(new URL(url).port);

async function startPort(name: keyof typeof PORTS): Promise<number> {
  const { url, close } = await PORTS[name]();
  onTestFinished(() => close());
  return portOf(url);
}

/** Returns how many of 50 probes are answered, each over a connection of its own from that address. */
async function answeredProbes(port: number, from: string): Promise<number> {
  const answers: string[] = [];
  for (let n = 0; n < PROBES; n += 1) {
    answers.push(await Promise.race([exchange(port, PROBE, from), sleep(5_000, '')]));
    if (answers.length === 3 && answers.every((answer) => answer === '')) return 0;
  }
  return answers.filter((answer) => answer.startsWith('HTTP/1.1 200')).length;
}

describe.each(Object.keys(PORTS) as (keyof typeof PORTS)[])('the %s port answers every probe', (name) => {
  describe.each(Object.entries(ATTACKS))('beside connections %s', (_what, [first, more]) => {
    test.each([
      [64, '127.0.0.1'],
      [130, '127.0.0.2'],
      [1_000, '127.0.0.1'],
      [1_000, '127.0.0.2'],
    ])('%i of them, probed from %s', { timeout: 60_000 }, async (count, from) => {
      const port = await startPort(name);
      const open = await Promise.all(Array.from({ length: count }, () => openRaw(port, first)));
      const drip = setInterval(() => open.forEach(({ socket }) => void (more && socket.write(more))), 500);
      onTestFinished(() => clearInterval(drip));
      expect(await answeredProbes(port, from)).toBe(PROBES);
    });
  });
});

test('the monitoring port answers every probe beside connections that do not read their answer', {
  timeout: 60_000,
}, async () => {
  const port = await startPort('monitoring');
  Array.from({ length: 100 }, () => {
    const socket = connect({ host: '127.0.0.1', port }).pause();
    socket.on('error', () => undefined).write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    onTestFinished(() => void socket.destroy());
    return socket;
  });
  await sleep(300);
  expect(await answeredProbes(port, '127.0.0.1')).toBe(PROBES);
});
