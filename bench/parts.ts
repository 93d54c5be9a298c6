import type { Part } from './part.js';
import { batches } from './parts/batches.js';
import { doors } from './parts/doors.js';
import { growth } from './parts/growth.js';
import { memory } from './parts/memory.js';
import { orders } from './parts/orders.js';
import { start } from './parts/start.js';
import { waiting } from './parts/waiting.js';

/** All that is measured, in this order. */
export const PARTS: readonly Part[] = [orders, batches, waiting, growth, memory, start, doors];
