import type { Part } from './part.js';
import { orders } from './parts/orders.js';

/** All that is measured, in this order. */
export const PARTS: readonly Part[] = [orders];
