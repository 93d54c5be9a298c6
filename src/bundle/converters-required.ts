import { encodedFailures } from '../temporal.js';

export { payloadConverter } from './converters.js';

/** Failure converter of activities and their clients where plain failures are refused. */
export const failureConverter = encodedFailures(true);
