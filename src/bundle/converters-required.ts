import { encodedFailures } from '../temporal.js';

export { payloadConverter } from './converters.js';

/** Failure converter that refuses plain failures. */
export const failureConverter = encodedFailures(true);
