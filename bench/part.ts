import type { Options } from './options.js';
import type { Product } from './product.js';
import type { Stand } from './stand.js';
import type { Table } from './table.js';

/** What a part works with. */
export interface Bench {
  stand: Stand;
  options: Options;
  /** Another build of the product, measured in the same rounds. */
  other?: Product;
  say: (line: string) => void;
}

/** Something that is measured by itself. */
export interface Part {
  name: string;
  /** What it measures, for `--help`. */
  about: string;
  measure(bench: Bench): Promise<Table[]>;
}

/** The builds that are compared, ours first. */
export const productsOf = ({ stand, other }: Bench): Product[] => [stand.own, ...(other ? [other] : [])];
