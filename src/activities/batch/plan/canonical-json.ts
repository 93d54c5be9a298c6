import { hash } from 'node:crypto';

/** JSON of a plain value with sorted keys and without absent fields: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}

/** Hash (hex sha256) of a value's canonical JSON. */
export const digestOf = (value: unknown): string => hash('sha256', canonicalJson(value));
