import { type Payload, str, u8 } from '@temporalio/common';

/**
 * Why the codec hands a payload on without its content. 'foreign': whoever wrote it lacks the keys, or wrote it for another
 * workflow or activity. 'unreadable': it may be ours, under a key that is not here.
 */
export type RefusedKind = 'foreign' | 'unreadable';

/** Failure type of an activity or a child that was answered by something without the payload keys. */
export const FOREIGN_ANSWER = 'ForeignAnswer';

/** Failure type of a workflow that was started by something without the payload keys. That run sent nothing. */
export const FOREIGN_START = 'ForeignStart';

/** No JSON has it, and every copy of this module knows it: the SDK loads a worker's converters by `require`. */
const REFUSED = Symbol.for('payment-orders.refused');

/** What a worker's code reads in the place of a value that was refused. */
export class Refused {
  readonly [REFUSED] = true;

  constructor(
    readonly kind: RefusedKind,
    readonly why: string,
  ) {}
}

/** Returns true for such a value. */
export const isRefused = (value: unknown): value is Refused =>
  typeof value === 'object' && value !== null && REFUSED in value;

const ENCODING = 'binary/refused';
const KIND = 'refused-kind';

/** What stands for a refused payload between the codec and the converters; only a codec makes it. */
export const refusedPayload = (kind: RefusedKind, why: string): Payload => ({
  metadata: { encoding: u8(ENCODING), [KIND]: u8(kind) },
  data: u8(why),
});

/** What a payload was refused for; undefined for every other payload. */
export function refusedIn({ metadata, data }: Payload): Refused | undefined {
  if (!metadata?.encoding || str(metadata.encoding) !== ENCODING) return undefined;
  const kind = metadata[KIND] && str(metadata[KIND]) === 'unreadable' ? 'unreadable' : 'foreign';
  return new Refused(kind, data ? str(data) : '');
}
