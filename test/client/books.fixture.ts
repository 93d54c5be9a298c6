import type { BookLine, EndLine, OrderLine, SumLine } from '../../src/contract/books/book.js';

/** The lines of a book, by kind. */
export const bookOf = async (lines: AsyncIterable<BookLine>) => {
  const all: BookLine[] = [];
  for await (const line of lines) all.push(line);
  return {
    all,
    orders: all.filter((line): line is OrderLine => ['order', 'open', 'part', 'late'].includes(line.kind)),
    sums: all.filter((line): line is SumLine => line.kind === 'sum'),
    end: all.at(-1) as EndLine,
  };
};
