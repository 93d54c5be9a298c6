/**
 * What `PAYLOAD_ENCRYPTION=required` costs, compared with plain payloads: orders a second and CPU of the process in which worker,
 * client, receiver and sandbox run: `node --import tsx bench/encryption-overhead.ts [orders] [rounds]`. Rounds alternate, so that a
 * busy machine slows both down.
 */
import { randomBytes } from 'node:crypto';
import { type Installation, openInstallation } from '../scripts/replay/installation.js';

const [MIN_PACE, MAX_CPU] = [0.95, 1.1];
const AT_ONCE = 100;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [count = 300, rounds = 5] = process.argv.slice(2).map(Number);

interface Cost {
  perSecond: number;
  cpuMs: number;
}

/** Withdraws, as many open at a time as a batch has, each awaited to its end. */
async function costOf({ orders }: Installation, label: string): Promise<Cost> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      const order = { order_id: `${label}-${next}`, currency: 'usd', network: 'card', amount: '12.50' } as const;
      const handle = await orders.start('withdraw', { order: { ...order, wallet: '4111111111111111' } });
      await handle.result();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (count * 1000) / (performance.now() - begun), cpuMs: (user + system) / 1000 / count };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const PACE = { ORDER_POLL_INITIAL: '5m', ORDER_POLL_MAX: '5m' };
const KEYS = { PAYLOAD_ENCRYPTION: 'required', PAYLOAD_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` };
const plain = await openInstallation(say, PACE);
const encrypted = await openInstallation(say, { ...PACE, ...KEYS });
try {
  await Promise.all([costOf(plain, 'warm-up'), costOf(encrypted, 'warm-up')]);
  const ratios: { pace: number; cpu: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    // Who goes first takes turns.
    const pair = round % 2 ? [plain, encrypted] : [encrypted, plain];
    const costs = new Map<Installation, Cost>();
    for (const one of pair) costs.set(one, await costOf(one, `round-${round}`));
    const [a, b] = [costs.get(plain) as Cost, costs.get(encrypted) as Cost];
    ratios.push({ pace: b.perSecond / a.perSecond, cpu: b.cpuMs / a.cpuMs });
    const shown = (name: string, { perSecond, cpuMs }: Cost) =>
      `${name} ${perSecond.toFixed(1)} orders/s, ${cpuMs.toFixed(1)} ms CPU an order`;
    say(`round ${round}: ${shown('plain', a)}; ${shown('encrypted', b)}`);
  }
  const [pace, cpu] = [median(ratios.map((one) => one.pace)), median(ratios.map((one) => one.cpu))];
  say(`encrypted / plain, medians: ${pace.toFixed(3)} of the orders a second, ${cpu.toFixed(3)} of the CPU`);
  if (pace < MIN_PACE || cpu > MAX_CPU) process.exitCode = 1;
} finally {
  await encrypted.close();
  await plain.close();
}
