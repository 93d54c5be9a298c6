import type { Command } from 'commander';
import { listUndelivered, sendUndelivered, testReceiver } from '../client/events.js';
import type { CommonOptions } from './arguments.js';
import { whileShowing } from './progress.js';
import { EXIT, type StarterIo, type Verbs } from './report.js';
import { listText, rowsText } from './text.js';

/** Adds `event`: undelivered events, whether a receiver answers, and the feed of ended orders. */
export function addEventVerbs(program: Command, { stdout, stderr }: StarterIo, verbs: Verbs): void {
  const event = program.command('event').description('events for your backends: list, send, test, feed');
  const list = event.command('list').description('events that receivers refuse, and why');
  verbs.add(list, async (connect, { account }: CommonOptions) => {
    const listed = await listUndelivered((await connect()).client, account);
    const deliveries = listed.map((one) => ({ ...one, since: one.since?.toISOString() }));
    const rows = deliveries.flatMap(({ refused, ...one }) =>
      (refused.length > 0 ? refused : [undefined]).map((now) => ({ ...one, ...now, next: now?.next?.toISOString() })),
    );
    const columns = ['receiver', 'failure', 'attempts', 'next', 'account', 'since', 'id'];
    const text = rows.length > 0 ? rowsText(columns, rows, stdout.columns) : 'no receiver refuses events';
    return { exitCode: EXIT.done, json: { deliveries }, text };
  });
  const feed = event.command('feed').description('orders that ended, one page, then the cursor for the next call');
  feed.option('--after <cursor>', 'cursor of the call before; without it from the oldest end');
  verbs.add(feed, async (connect, { account, after }: CommonOptions & { after?: string }) => {
    const ended = await (await connect()).ended({ account, after });
    const text = [listText(ended.orders, stdout.columns), `cursor: ${ended.cursor}`].join('\n');
    return { exitCode: EXIT.done, json: ended, text };
  });
  const send = event.command('send').description('send undelivered events again, oldest first');
  verbs.addLocal(send.argument('<what>', 'receiver or id of `event list`'), async (connect, what: string) => {
    const ids = await sendUndelivered((await connect()).client, what);
    return { exitCode: EXIT.done, json: { ids, sent: true }, text: `sent again: ${ids.join(' ')}` };
  });
  const test = event.command('test').description('send a receiver an event of the kind `test`');
  verbs.add(test.argument('<receiver>', 'its name'), async (connect, receiver: string, { account }: CommonOptions) => {
    const ask = async () => testReceiver((await connect()).client, receiver, account);
    const problem = await whileShowing(stderr, `waiting for ${receiver}`, ask);
    const delivered = problem === undefined;
    return {
      exitCode: delivered ? EXIT.done : EXIT.endedWithoutSuccess,
      json: { receiver, delivered, ...(!delivered && { problem }) },
      text: `${receiver}: ${problem ?? 'delivered'}`,
    };
  });
}
