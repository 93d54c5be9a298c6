import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createNameResolver } from '../../../src/activities/events/resolve-name.js';

/** Response codes of name servers: no such name. */
const NXDOMAIN = 3;

/** A name server that counts what it is asked, and answers nothing unless a code is given. */
async function nameServer(code?: number): Promise<{ asked: () => number; servers: string[] }> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  let asked = 0;
  socket.on('message', (query, { port, address }) => {
    asked += 1;
    if (code === undefined) return;
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8180 | code, 2);
    socket.send(answer, port, address);
  });
  return { asked: () => asked, servers: [`127.0.0.1:${socket.address().port}`] };
}

/** Runs it and returns how long it took, in ms. */
async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await run();
  return performance.now() - startedAtMs;
}

test('silent name servers of 40 receivers hold no look-up of the service', async () => {
  const { servers } = await nameServer();
  const resolve = createNameResolver(servers);
  const pending = Array.from({ length: 40 }, (_, n) => resolve(`hooks${n}.example`).catch((error: unknown) => error));
  const service = await timed(() => lookup('localhost'));
  const failures = Promise.all(pending);
  expect(await timed(() => failures)).toBeLessThan(3_000);
  expect(new Set((await failures).map((error) => String(Object(error).code)))).toEqual(new Set(['ETIMEOUT']));
  expect(service).toBeLessThan(500);
});

test('a name that failed is not asked again for a while', async () => {
  const { servers, asked } = await nameServer();
  const resolve = createNameResolver(servers);
  await expect(resolve('hooks.example')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  const before = asked();
  expect(before).toBeGreaterThan(0);
  expect(await timed(() => resolve('hooks.example').catch(() => undefined))).toBeLessThan(100);
  expect(asked()).toBe(before);
});

test('a name that only this machine knows is found', async () => {
  const { servers, asked } = await nameServer(NXDOMAIN);
  const [first] = await createNameResolver(servers)('localhost');
  expect(first?.address).toMatch(/^(127\.0\.0\.1|::1)$/);
  expect(asked()).toBeGreaterThan(0);
});
