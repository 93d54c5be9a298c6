import type { OrderCheck } from '../../shapes/read-schemas.js';

export type { CurrencyAmount, LeavingAmount, OrderCheck, OrderFindings } from '../../shapes/read-schemas.js';

/** State of an order's id. `fields` differ; `reason`: why a start would send nothing. */
export interface IdCheck<State extends string> extends Omit<NonNullable<OrderCheck['id']>, 'state'> {
  state: State | 'unknown';
}
