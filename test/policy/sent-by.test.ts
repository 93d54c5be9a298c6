import { expect, test } from 'vitest';
import { sentBy } from '../../src/activities/policy/rebuild.js';
import { searchAttribute } from '../../src/contract/names.js';

const [SCHEDULED, STARTED, CANCEL_REQUESTED] = [1, 2, 3];

function described(pending: Record<string, number>, shown: { status?: string; reason?: string; events?: number } = {}) {
  const { status = 'open', reason, events = 20 } = shown;
  const attributes = new Map<unknown, unknown>([
    [searchAttribute.orderStatus, status],
    [searchAttribute.attentionReason, reason],
  ]);
  const pendingActivities = Object.entries(pending).map(([name, state]) => ({ activityType: { name }, state }));
  return { raw: { pendingActivities }, historyLength: events, typedSearchAttributes: attributes } as never;
}

test.for([
  ['no', 'its create waits for a worker', described({ createOrder: SCHEDULED })],
  ['maybe', 'a worker has its create', described({ createOrder: STARTED })],
  ['maybe', 'its create was cancelled while a worker has it', described({ createOrder: CANCEL_REQUESTED })],
  ['maybe', 'it is followed', described({ pollOrder: SCHEDULED })],
  ['maybe', 'it is in doubt', described({}, { status: 'uncertain' })],
  ['maybe', 'a person is asked what is left', described({}, { status: 'parked', reason: 'remainder' })],
  ['no', 'a person is asked before its create', described({}, { status: 'parked', reason: 'policy' })],
  ['no', 'its account is stopped', described({ awaitResume: STARTED })],
  ['no', 'it has just begun', described({}, { events: 7 })],
  ['unclear', 'it waits for a time', described({})],
  ['unclear', 'it is looked up', described({ lookUpOrder: STARTED })],
  ['unclear', 'its balance changes are read', described({ readOutcome: STARTED })],
] as const)('an open order was sent: %s, because %s', ([sent, , run]) => {
  expect(sentBy(run)).toBe(sent);
});
