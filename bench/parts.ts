import type { Part } from './part.js';
import { batches } from './parts/batches.js';
import { memory } from './parts/memory.js';
import { orders } from './parts/orders.js';

/** All that is measured, in this order. */
export const PARTS: readonly Part[] = [orders, batches, memory];
