import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { wholeList } from '../../../payment-service/paging.js';
import type { Account } from '../../deps.js';
import { noReading, reasonOf } from '../../failures.js';
import { ordersOfIds } from '../../orders-of-ids.js';
import { PacedReads } from '../../paced-reads.js';
import { areOneId, sheetKeys } from './spreadsheet-ids.js';
import { type BatchWarnings, likelyForms, looseForm } from './warnings.js';

/** Maximum ids per request, and orders per answer. */
const IDS_AT_ONCE = 1_000;
/** Attempts for a list that a plan can do without. */
const TRIES = 3;
/** Heartbeat interval: a request may wait for its turn longer than the heartbeat time-out. */
const BEAT_EVERY_MS = 5_000;

/** Warns of ids, or likely other forms of them, that already have an order. `lineOf`: all ids. */
export async function warnOfExisting(
  account: Account,
  lineOf: ReadonlyMap<string, number>,
  warnings: BatchWarnings,
): Promise<void> {
  const reads = new PacedReads(account, TRIES);
  const ids = [...lineOf.keys()];
  const [existing, similar] = [new Set<number>(), new Set<number>()];
  let fromLine: number | undefined;
  let problem: string | undefined;
  const show = () => heartbeat({ askedFromLine: fromLine });
  const beat = setInterval(show, BEAT_EVERY_MS);
  try {
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const some = ids.slice(at, at + IDS_AT_ONCE);
      fromLine = lineOf.get(some[0] ?? '');
      show();
      const looseLines = new Map(some.map((id) => [looseForm(id), lineOf.get(id)]));
      const readAs = some.flatMap((id) => sheetKeys(id).map((key) => ({ key, line: lineOf.get(id) })));
      for (const id of await listedIds(reads, [...some, ...likelyForms(some)])) {
        const line = lineOf.get(id);
        const keys = sheetKeys(id);
        const madeOf = readAs.find(({ key }) => keys.some((other) => areOneId(key, other)));
        const looseLine = looseLines.get(looseForm(id)) ?? madeOf?.line;
        if (line !== undefined) existing.add(line);
        else if (looseLine !== undefined) similar.add(looseLine);
      }
    }
  } catch (error) {
    cancellationSignal().throwIfAborted();
    problem = `the order list was not to be had (${reasonOf(error)}): whether rows have an order already was not checked from line ${fromLine} on`;
  } finally {
    clearInterval(beat);
  }
  const similarText = `${similar.size} of ${ids.length} rows have an id that differs only by case, leading zeros, ".0" or as spreadsheets write dates and numbers from that of an order at the service, and are paid besides it; check first whether that order paid the same`;
  const existingText = `${existing.size} of ${ids.length} rows have an order at the service already and are not paid again; a new payroll needs order ids of its own`;
  if (similar.size > 0) warnings.addFirst(similarText, sorted(similar));
  if (existing.size > 0) warnings.addFirst(existingText, sorted(existing));
  if (problem) warnings.addFirst(problem);
}

const sorted = (lines: Iterable<number>): number[] => [...lines].sort((a, b) => a - b);

/**
 * Returns which ids have an order. Throws service errors, and NoReading if an answer proves
 * nothing.
 */
async function listedIds(reads: PacedReads, ids: readonly string[]): Promise<string[]> {
  const listed: string[] = [];
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const { items, malformed } = await wholeList(ordersOfIds(ids.slice(at, at + IDS_AT_ONCE), reads.orders()));
    if (malformed.length > 0) throw noReading('it shows an order that cannot be read');
    listed.push(...items.map(({ user_order_id }) => user_order_id));
  }
  return listed;
}
