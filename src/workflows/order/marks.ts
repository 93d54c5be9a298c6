import { METADATA_KEY_FORMAT, METADATA_VALUE_FORMAT, REFERENCE_FORMAT } from '../../contract/names.js';
import type { RunOptions } from '../../contract/order/input-and-result.js';
import type { CallerMarks } from '../../contract/order/messages.js';
import { holdsPrivate } from '../../contract/wallets.js';
import { isKeyword } from '../keywords.js';
import type { OrderRun } from './state.js';

/** Part of a run that has the caller's marks. */
export type Marked = Pick<OrderRun, 'input' | 'failure' | 'answeredIn'>;

/** Returns the caller's reference and metadata. Leaves out what is private or was refused. */
export function marksOf({ input, failure, answeredIn }: Marked): CallerMarks {
  const { reference, metadata }: RunOptions = Object(input);
  const isRefused = (name: string): boolean =>
    failure?.details?.flat().some((error) => `${Object(error).field}`.split('.')[0] === name) === true;
  // An unchecked one may be the wallet of its order.
  const isShown = isKeyword(reference, answeredIn ? REFERENCE_FORMAT : undefined) && REFERENCE_FORMAT.test(reference);
  return {
    ...(isShown && !isRefused('reference') && { reference }),
    ...(isMetadata(metadata) && !isRefused('metadata') && { metadata }),
  };
}

const isHarmless = (text: unknown, format: RegExp): boolean =>
  typeof text === 'string' && format.test(text) && !holdsPrivate(text);

const isMetadata = (given: unknown): given is Record<string, string> =>
  typeof given === 'object' &&
  given !== null &&
  Object.entries(given).every(
    ([key, value]) => isHarmless(key, METADATA_KEY_FORMAT) && isHarmless(value, METADATA_VALUE_FORMAT),
  );
