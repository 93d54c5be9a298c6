import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** Genuine callbacks for some seconds, and what became of them. A callback without an answer counts as 10 s. */
export interface Figures {
  sent: number;
  answered: number;
  p50Ms: number;
  p99Ms: number;
}

/** A genuine sender gives up after that. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Not the attacker's address. */
const SENDER = '127.0.0.2';

/** What the service sends: the order object, 1 to 3 KiB. */
function bodyOf(orderId: string): string {
  return JSON.stringify({
    order_uuid: `uuid-of-${orderId}`,
    order_type: 'withdraw',
    user_order_id: orderId,
    status: 'completed',
    description: 'x'.repeat(1_500),
    amount_to: '12.50',
    wallet_to: '************1111',
    client_info: { client_id: '7', client_ip: '192.0.2.1', client_email: 'someone@example.org' },
  });
}

/** Posts one callback over a connection of its own: milliseconds to its answer, undefined when it was not accepted. */
export function postGenuine(url: string, orderId: string): Promise<number | undefined> {
  const [body, startedAtMs] = [bodyOf(orderId), performance.now()];
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  return new Promise((resolve) => {
    const options = { method: 'POST', headers, agent: false, localAddress: SENDER, rejectUnauthorized: false } as const;
    const sent = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? performance.now() - startedAtMs : undefined);
    });
    const tooLate = setTimeout(() => sent.destroy(), ANSWER_TIMEOUT_MS);
    sent.on('error', () => resolve(undefined));
    sent.on('close', () => {
      clearTimeout(tooLate);
      resolve(undefined);
    });
    sent.end(body);
  });
}

/** Posts callbacks of these orders in turn at a steady pace, whatever became of those before. */
export async function genuineCallbacks(
  orders: readonly { orderId: string; url: string }[],
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Figures> {
  const count = Math.round(perSecond * seconds);
  const startedAtMs = performance.now();
  const answers: Promise<number | undefined>[] = [];
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, startedAtMs + (n * 1_000) / perSecond - performance.now()));
    const order = orders[n % orders.length];
    if (order) answers.push(postGenuine(order.url, order.orderId));
  }
  const tookMs = (await Promise.all(answers)).map((ms) => ms ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const percentile = (share: number): number =>
    Math.min(ANSWER_TIMEOUT_MS, tookMs[Math.ceil(share * count) - 1] ?? Number.NaN);
  return {
    sent: count,
    answered: tookMs.filter((ms) => ms < ANSWER_TIMEOUT_MS).length,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}
