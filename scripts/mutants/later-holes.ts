import type { Mutant } from './mutant.js';

/** Holes of docs/reliability.md about what is left, about rules, and about what people are told. */
export const LATER_HOLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'D157: a page of known entries ends a list that has no order',
    file: 'src/payment-service/paging.ts',
    find: 'if (next.total >= total && isSeen(next)) {',
    replacement: 'if (isSeen(next)) {',
    test: {
      file: 'test/payment-service/paging.test.ts',
      name: 'after a short page of a list without an order, the next one tells whether more follow: fewer, all of them seen',
    },
  },
  {
    name: 'a run that Temporal forgot ends a wait with an error of the SDK',
    file: 'src/client/remote-run.ts',
    find: "new FailedError(subject, about.id, 'Unknown', 'Temporal no longer has its run')",
    replacement: 'error',
    test: {
      file: 'test/client/forgotten-runs.simulated.test.ts',
      name: 'a reconciliation: whoever waits gets an error of the library, which names it',
    },
  },
  {
    name: 'D126: a second order under our id is no doubt about what is left',
    file: 'src/activities/order/read-outcome.ts',
    find: 'items.filter((other) => other.order_uuid !== orderUuid &&',
    replacement: "items.filter((other) => other.order_uuid === '' &&",
    test: {
      file: 'test/activities/order/read-outcome.test.ts',
      name: 'follow-ups beside the order another order under w-1 is a doubt, on whichever page it is shown',
    },
  },
  {
    name: 'D127: later final amounts replace the first ones',
    file: 'src/workflows/compensation/assess.ts',
    find: 'const was = final ?? now;',
    replacement: 'const was = now ?? final;',
    test: {
      file: 'test/workflows/compensation/late-amounts.server.test.ts',
      name: 'what is left is unknown if a later reading shows other amounts than the first final one',
    },
  },
  {
    name: 'D128: a follow-up goes by what the list showed, not by the status after it',
    file: 'src/activities/order/read-outcome.ts',
    find: 'const { order, said } = await service.orderStatus({ order_uuid: was.order_uuid }, options);',
    replacement: "const [order, said] = [items.find((one) => one.order_uuid === was.order_uuid), ''];",
    test: {
      file: 'test/activities/order/stale-follow-up.test.ts',
      name: 'under a limit, a follow-up is not sent on an older reading than its probe if its order changes after the list was read',
    },
  },
  {
    name: 'D130: an order that skipped the policy is sent',
    file: 'src/activities/policy/ask.ts',
    find: "return notSent('it was above a cap that holds no longer: the next try asks the policy');",
    replacement: 'return undefined;',
    test: {
      file: 'test/policy/cap-gone.server.test.ts',
      name: 'the policy judges an order whose cap goes with its worker before the send',
    },
  },
  {
    name: 'D131: an order that the service shows is not counted',
    file: 'src/activities/policy/ask.ts',
    find: 'if (spends.length > 0) await',
    replacement: 'if (spends.length < 0) await',
    test: {
      file: 'test/policy/found.server.test.ts',
      name: 'an adopted order counts, also if a rule would have held it',
    },
  },
  {
    name: 'D132: sums outlive orders that they do not count',
    file: 'src/activities/policy/desk.ts',
    find: "    await end(account, 'no rule needs the sums');\n",
    replacement: '',
    test: {
      file: 'test/policy/roll-out.server.test.ts',
      name: 'sums of rules that were tried and taken back end, so that later rules count everything',
    },
  },
  {
    name: 'D133: sums by another account or key are believed',
    file: 'src/workflows/policy.ts',
    find: "!of.includes(known.of ?? '')",
    replacement: 'known.of === undefined',
    test: {
      file: 'test/workflows/run-end.server.test.ts',
      name: 'sums are read again once a worker of another account or key asks, and its question fails',
    },
  },
  {
    name: 'D134: new sums lack ended orders that the list does not show',
    file: 'src/activities/policy/rebuild.ts',
    find: "standing?.kind !== 'open' && !noOrder);",
    replacement: "standing?.kind === 'open' && !noOrder);",
    test: {
      file: 'test/policy/resumed.test.ts',
      name: 'an order that the list did not show is counted by the next attempt, also if it has ended meanwhile',
    },
  },
  {
    name: 'sums that are read count an order again whose run finds it',
    file: 'src/activities/policy/rebuild.ts',
    find: 'isFinal(item.status) && !open.has(orderId)',
    replacement: 'isFinal(item.status)',
    test: {
      file: 'test/policy/rebuilt.server.test.ts',
      name: 'sums that are read again when a run finds its order, which has ended, count it once',
    },
  },
  {
    name: 'an order counts for what was asked, whatever its end',
    file: 'src/activities/policy/settle.ts',
    find: 'const executed = executedOn(result, side, asked) ?? asked;',
    replacement: 'const executed = asked;',
    test: { file: 'test/policy/settle.test.ts', name: 'an order that executed partly counts for that alone' },
  },
  {
    name: 'an order counts for no more than was asked',
    file: 'src/activities/policy/settle.ts',
    find: 'return isNone(executed) ? [] : [[key, executed]];',
    replacement: 'return isNone(executed) ? [] : [[key, decimal(executed).lt(asked) ? executed : asked]];',
    test: { file: 'test/policy/settle.test.ts', name: 'an overpaid deposit counts by what it paid out' },
  },
  {
    name: 'a create does not wait for a hold that came before it',
    file: 'src/workflows/create/create-order.ts',
    find: 'await condition(() => first.every((one) => !run.holdsAsked.has(one)));',
    replacement: '',
    test: {
      file: 'test/workflows/stops/held-order.server.test.ts',
      name: 'a hold that comes before any worker took the order comes before the create, too',
    },
  },
  {
    name: 'D135: an approval covers any amount of its order',
    file: 'src/contract/policy/rules.ts',
    find: 'one.terms === breach.terms && covers(one.amount, breach.amount)',
    replacement: 'one.terms === breach.terms',
    test: {
      file: 'test/policy/rules.test.ts',
      name: 'rules without sums an approval covers the rule as it was shown, up to the amount that was shown',
    },
  },
  {
    name: 'D136: an account number at another bank is the same payee',
    file: 'src/validation/payee-text.ts',
    find: 'return names.flatMap(',
    replacement: 'return names.slice(names.length).flatMap(',
    test: {
      file: 'test/policy/payees.test.ts',
      name: 'the bank is part of the payee, and names of persons are not',
    },
  },
  {
    name: 'D137: an order without figures makes its payee one paid before',
    file: 'src/activities/policy/settle.ts',
    find: "outcome !== 'completed' && paid === null",
    replacement: "outcome === 'completed' && paid === null",
    test: {
      file: 'test/policy/policy.server.test.ts',
      name: 'rules about payees, approvers and refusals do not take a payee for paid if what he got is unknown',
    },
  },
  {
    name: 'D138: an order has changed because it was looked for after its end',
    file: 'src/client/books/our-orders.ts',
    find: "decided.some(({ action }) => action === 'accept');",
    replacement: 'decided.length >= 0;',
    test: {
      file: 'test/client/book-orders.server.test.ts',
      name: 'a refused order is not missing because the service was silent when it was looked for after its end',
    },
  },
  {
    name: 'D139: an open order is booked as ended, and again at its end',
    file: 'src/client/books/order-lines.ts',
    find: "kind: endedAt ? 'order' : 'open',",
    replacement: "kind: 'order',",
    test: {
      file: 'test/client/book-orders.server.test.ts',
      name: 'an order that is open in the book of one period has its `order` line in that of the next',
    },
  },
  {
    name: 'D142: a result names what the order left before its follow-ups',
    file: 'src/workflows/compensation/compensate.ts',
    find: '{ remainder: leftNow(c, funds) }',
    replacement: '{ remainder: funds && remainders(c, s.left) }',
    test: {
      file: 'test/workflows/compensation/left-after-follow-ups.server.test.ts',
      name: 'a result names what is left after a follow-up that paid a part',
    },
  },
  {
    name: 'D145: an order that changes back is unchanged',
    file: 'src/activities/order/look-up-ended.ts',
    find: 'const was = last ?? reported.shown;',
    replacement: 'const was = reported.shown ?? last;',
    test: {
      file: 'test/workflows/after-end/after-end.server.test.ts',
      name: 'a callback after the end of an order asks again about a status that changes back once the operator has accepted the change',
    },
  },
  {
    name: 'D146: a policy pays the rest of an order that another run created',
    file: 'src/workflows/compensation/compensate.ts',
    find: 'isCreatedHere(run.facts) || !isOrderRun()',
    replacement: 'isCreatedHere(run.facts) || isOrderRun()',
    test: {
      file: 'test/workflows/compensation/decided-elsewhere.server.test.ts',
      name: 'what a person accepted after paying the rest by hand is not paid by the same start in a Temporal that was lost',
    },
  },
  {
    name: 'receivers that take nothing fill the CPU of Temporal with their repeats',
    file: 'src/worker/delivery-slots.ts',
    find: 'failures >= DELIVERIES_AT_ONCE',
    replacement: 'failures < 0',
    test: {
      file: 'test/worker/delivery-slots.server.test.ts',
      name: 'a receiver that takes nothing is tried by one event a second, a person first, and gets all at once when it is back',
    },
  },
];
