import { createHash } from 'node:crypto';

/** Keys that everybody can read: of our examples, of RFC 8032, and what people try first. */
const PUBLISHED = [
  '9f2c41d07a6be85310c4fd92ab7e6d1853c0a9f417be62d8',
  'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  'MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=',
  'MCowBQYDK2VwAyEA/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=',
  ...['', 'admin', 'api-key', 'apikey', 'changeme', 'default', 'key', 'password', 'secret', 'test', 'token'],
  ...['123456', '12345678', '1234567890', 'password1', 'payment-orders', '<64 hex digits>'],
];

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** SHA-256 of each, also with the line break that an `echo` adds. */
const HASHES = new Set(PUBLISHED.flatMap((key) => [sha256Of(key), sha256Of(`${key}\n`)]));

/** Reason for refusing a published key. */
export const IS_PUBLISHED = 'is a key that everybody can read, such as that of an example: make one of your own';

/** Returns true for a published key. */
export const isPublished = (key: string): boolean => HASHES.has(sha256Of(key));

/** Returns true for the SHA-256 of a published key, in hex. */
export const isHashOfPublished = (sha256: string): boolean => HASHES.has(sha256);
