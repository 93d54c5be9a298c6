import { MalformedResponseError } from './errors.js';
import { DEFAULT_PAGE_SIZE } from './requests.js';
import type { Page } from './types.js';

/**
 * Reads pages until one is not full. New entries shift later ones to the next page, so an entry may come twice: only its
 * first appearance is kept. A full page without anything new means that the service ignores `page`; going on would never
 * end and stopping would lose entries, so that is a MalformedResponseError.
 */
export async function* allPages<T, Q extends { limit?: number; page?: number }>(
  query: Q,
  list: (query: Q) => Promise<Page<T>>,
  idOf: (item: T) => string,
): AsyncGenerator<Page<T>> {
  const seen = new Set<string>();
  const limit = query.limit ?? DEFAULT_PAGE_SIZE;
  for (let number = query.page ?? 1; ; number += 1) {
    const page = await list({ ...query, limit, page: number });
    const fresh = page.items.filter((item) => !seen.has(idOf(item)));
    for (const item of fresh) seen.add(idOf(item));
    const full = page.total >= limit;
    if (full && number !== (query.page ?? 1) && fresh.length === 0) {
      throw new MalformedResponseError([{ field: 'data', reason: 'a full page brought nothing new' }]);
    }
    yield { ...page, items: fresh };
    if (!full) return;
  }
}
