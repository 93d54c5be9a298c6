import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Failure converter of workers that encrypt payloads: messages and stack traces, which may tell amounts, go into a payload
 * and thereby through the codec. Types of failures stay readable.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
