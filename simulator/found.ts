/** What makes a story. `acts`: those that happen; undefined: the seed draws them. */
export interface Story {
  seed: number;
  orders: number;
  acts: readonly string[] | undefined;
  /** Part of ids whose events are shown among the lines of the story. */
  about?: string | undefined;
}

/** Faults of the product that the simulator found. They are lived again before all other stories. */
export const FOUND: readonly (Story & { name: string })[] = [
  {
    name: 'a failover forgets a resume, and who knew of it cannot resume',
    ...{ seed: 10, orders: 8, acts: ['failover', 'stops'] },
  },
  {
    name: 'a cancelled chunk of a batch goes round without a rest',
    ...{ seed: 127, orders: 6 },
    acts: 'kills,oldLists,spells,policy,batches,interference,repeats,otherInputs,stops,decisions'.split(','),
  },
  {
    name: 'sums that are read again when a run finds its order, which has ended, count it twice',
    ...{ seed: 2, orders: 30, acts: ['policy'] },
  },
  {
    name: 'Temporal forgets a reconciliation, and whoever waits for it gets an error that is not ours',
    ...{ seed: 154, orders: 12, acts: undefined },
  },
  {
    name: 'a page of known entries ends a list that has no order, and sums lack the rest',
    ...{ seed: 230, orders: 12, acts: undefined },
  },
  {
    name: "sums that a worker with another merchant's key read are believed",
    ...{ seed: 536, orders: 12 },
    acts: 'kills,oldLists,spells,limit,shapes,canary,elsewhere,policy,batches,receipts,repeats,otherInputs'.split(','),
  },
  {
    name: 'a person is still told that the service hides orders, though it shows them again',
    ...{ seed: 238, orders: 12 },
    acts: 'spells,shapes,policy,batches,receipts,interference,repeats,stops'.split(','),
  },
];
