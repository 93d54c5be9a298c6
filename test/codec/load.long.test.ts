import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { endProcesses, peakMib, startProcess } from '../worker/process.fixture.js';

const LIMIT_MIB = 256;
const CALLERS = 12;
const ROUNDS = 20;

afterAll(endProcesses);

/** A body of about that many bytes. */
const bodyOf = (bytes: number): Buffer =>
  Buffer.from(
    JSON.stringify({ payloads: [{ metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'QUFB'.repeat(bytes / 4 - 30) }] }),
  );

/** Bodies that are small for what parsing and decoding them takes. */
const COSTLY = [
  Buffer.from(`{"payloads":[${Array(349_525).fill('{}').join()}]}`),
  Buffer.from(`{"payloads":[${Array(2_090_000).fill('{}').join()}]}`),
  Buffer.from(`{"payloads":${'['.repeat(2_999_990)}${']'.repeat(2_999_990)}}`),
  Buffer.from(`{"payloads":[{"data":"${'\\u0041'.repeat(900_000)}"}]}`),
];

/** Status of one POST; 0 where the connection was cut. */
function post(url: string, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${url}/encode`, { method: 'POST', headers }, (answer) => {
      answer
        .resume()
        .on('end', () => resolve(answer.statusCode ?? 0))
        .on('error', () => resolve(0));
    });
    sent.on('error', () => resolve(0)).end(body);
  });
}

// 195 MiB at most; without V8's setting 371 by 20 large bodies, one at a time.
test('large bodies, many at a time, do not take more than 256 MiB, and small questions are answered meanwhile', async () => {
  const keys = { PAYLOAD_ENCRYPTION_KEYS: `a:${randomBytes(32).toString('base64')}` };
  const codec = startProcess('src/codec.ts', { ...keys, CODEC_ADDRESS: '127.0.0.1:0' });
  const { codec: url = '' } = await codec.ready;
  const large = [bodyOf(6_000_000), bodyOf(60_000_000)] as const;
  const flood = async (body: Buffer): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await post(url, body);
      await sleep(20);
    }
  };
  const flooding = Promise.all([
    ...Array.from({ length: CALLERS }, (_, at) => flood(at % 2 ? large[1] : large[0])),
    ...COSTLY.map(flood),
  ]);
  const isOver = flooding.then(() => true);
  const small = bodyOf(1_000);
  const statuses: number[] = [];
  while (!(await Promise.race([isOver, sleep(50, false)]))) statuses.push(await post(url, small));
  expect(await peakMib(codec.pid)).toBeLessThan(LIMIT_MIB);
  expect(statuses.filter((status) => status === 200).length / statuses.length).toBeGreaterThan(0.9);
  expect(await post(url, bodyOf(5_500_000))).toBe(200);
});
