import { expect, test } from 'vitest';
import { orderQuery } from '../../src/client/list-orders.js';
import { endedAfterTerm } from '../../src/contract/names.js';
import { selects } from '../../src/testing/query.js';

const HOUR_AGO_MS = Date.now() - 3_600_000;

/** An open run, as lists of Temporal before 1.32 see it: they take it for one that ends last. */
const OPEN = { WorkflowType: 'withdraw', ExecutionStatus: 'Running', CloseTime: new Date('9999-12-31T23:59:59Z') };
const ENDED = { WorkflowType: 'withdraw', ExecutionStatus: 'Completed', CloseTime: new Date() };

test.each([
  ['what ended late enough to prove something', endedAfterTerm(HOUR_AGO_MS)],
  ['a list of ended orders', orderQuery({ endedAfter: new Date(HOUR_AGO_MS).toISOString() })],
])('%s holds no open run, whatever the server takes its end for', (_, query) => {
  expect([OPEN, ENDED].filter((run) => selects(query, run))).toEqual([ENDED]);
});
