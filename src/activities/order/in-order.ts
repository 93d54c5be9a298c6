/** Maps items with up to `concurrency` of them under way; the results come in the order of the items. */
export async function* mapInOrder<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  for await (const item of items) {
    const result = map(item);
    // Awaited below in its turn; an error that comes before that must not count as one that nobody handles.
    result.catch(() => undefined);
    underWay.push(result);
    const [first] = underWay;
    if (!first || underWay.length < concurrency) continue;
    yield await first;
    underWay.shift();
  }
  for (const result of underWay) yield await result;
}
