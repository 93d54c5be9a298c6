import type { SettingsChange } from '../sandbox/index.js';
import { TERMS, type Terms } from '../sandbox/rates.js';
import type { ServiceAdmins } from './service-admin.js';

type Payer = NonNullable<Terms['feeFrom']>['payer'];

const otherPayer = (payer: Payer): Payer => (payer === 'merchant' ? 'client' : 'merchant');

/** Every commission paid by the one who does not pay it at first. */
const SWAPPED: SettingsChange['pairs'] = Object.fromEntries(
  [...TERMS].map(([name, { feeFrom, feeTo }]) => [
    name,
    {
      ...(feeFrom && { payerFrom: otherPayer(feeFrom.payer) }),
      ...(feeTo && { payerTo: otherPayer(feeTo.payer) }),
    },
  ]),
);

/** Who pays the commissions of the service's pairs. */
export class Payers {
  #swapped = false;

  constructor(private readonly service: ServiceAdmins) {}

  /** Has them paid by the other side from now on; waits for the next time where the service is just down. */
  async swap(): Promise<void> {
    this.#swapped = !this.#swapped;
    await this.service.set({ pairs: this.#swapped ? SWAPPED : {} }).catch(() => undefined);
  }
}
