import { EncodedFailures } from '../contract/encoded-failures.js';

/** For workers that refuse what is plain: a failure that does not pass the codec is nobody's word. */
export const failureConverter = new EncodedFailures(true);
