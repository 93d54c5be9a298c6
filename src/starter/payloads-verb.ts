import type { Command } from 'commander';
import { plainPayloads } from '../client/plain-payloads.js';
import { whileWaiting } from './progress.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { table } from './text.js';

/** Adds `payloads`: what stands in the way of PAYLOAD_ENCRYPTION=required. */
export function addPayloadsVerb(program: Command, { stderr }: StarterIo, verbs: Verbs): void {
  const payloads = program
    .command('payloads')
    .description('open workflows and schedules with payloads that PAYLOAD_ENCRYPTION=required refuses');
  verbs.add(payloads, async (orders) => {
    const plain = await whileWaiting(stderr, 'reading every open history', plainPayloads(orders.client));
    const rows = plain.map(({ kind, id, at }) => [kind, id, at]);
    const text =
      plain.length > 0 ? table([['kind', 'id', 'first at'], ...rows]) : 'none: `required` may be switched on';
    return { exitCode: plain.length > 0 ? EXIT.endedWithoutSuccess : EXIT.done, json: { plain }, text };
  });
}
