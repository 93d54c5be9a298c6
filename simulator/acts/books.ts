import { setTimeout as sleep } from 'node:timers/promises';
import type { BookLine } from '../../src/contract/books/book.js';
import { decimalOrZero, toAmount } from '../../src/contract/money.js';
import { isCanary } from '../service.js';
import { type Act, attempt, MINUTE_MS } from './act.js';

/** Before every story by any clock of the service. */
const FROM = '2026-11-26';

/** A book of the whole story, once all is well: it agrees with the service's own ledger to the last digit, or says what is missing. */
const books: Act = {
  share: 0.3,
  begin({ world }) {
    const { admin } = world.service.double;
    const [opened, paidBefore] = [admin.ledger(), { ...world.paidIn }];
    /** What orders moved, by the ledger. */
    const movedOf = (currency: string) =>
      decimalOrZero(admin.ledger()[currency])
        .minus(decimalOrZero(opened[currency]))
        .minus(decimalOrZero(world.paidIn[currency]).minus(decimalOrZero(paidBefore[currency])));
    world.lastLooks.push(async () => {
      await sleep(MINUTE_MS);
      // It would be the book of the other merchant.
      if (world.isElsewhere) return [];
      const lines: BookLine[] = [];
      const isRead = await attempt(async () => {
        for await (const line of world.orders.export({ from: FROM })) lines.push(line);
      });
      if (!isRead || lines.at(-1)?.kind !== 'end') return [{ text: 'book: it came to no end when all was well' }];
      const total = (currency: string) =>
        lines.flatMap((line) => (line.kind === 'sum' && line.currency === currency ? [line.total] : []))[0];
      const wrong = Object.keys(admin.ledger()).filter(
        (currency) => !movedOf(currency).eq(decimalOrZero(total(currency))),
      );
      const missing = lines.filter((line) => line.kind === 'missing' && line.order_id && !isCanary(line.order_id));
      world.say(`a book of ${lines.length} lines`);
      return [
        ...wrong.map((currency) => ({
          text: `book: it sums ${total(currency) ?? 'nothing'} ${currency}, and orders moved ${toAmount(movedOf(currency))}`,
        })),
        ...(world.acts.includes('elsewhere') ? [] : missing.map((line) => ({ text: `book: ${JSON.stringify(line)}` }))),
      ];
    });
    return undefined;
  },
};

export const ofBooks = { books };
