import { InvalidInputError } from '../client/errors.js';
import type { FormatChecks } from '../validation/format-checks.js';
import type { StarterIo } from './report.js';

/**
 * Runs a check of an input. Where it finds nothing but broken rules that are ours, the account's workers are asked whether
 * they refuse (PAYMENT_FORMAT_CHECKS); where nobody answers, they do. Throws InvalidInputError.
 */
export async function checkUnlessWarned<T extends { account?: string }>(
  io: StarterIo,
  check: (formatChecks: FormatChecks) => T,
): Promise<T> {
  try {
    return check('refuse');
  } catch (refused) {
    if (!(refused instanceof InvalidInputError)) throw refused;
    const lenient = attempt(() => check('warn'));
    if (!lenient || (await settingOf(io, lenient.account)) !== 'warn') throw refused;
    return lenient;
  }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

async function settingOf({ connect }: StarterIo, account?: string): Promise<FormatChecks> {
  const orders = await connect().catch(() => undefined);
  if (!orders) return 'refuse';
  return orders.formatChecks(account).finally(() => orders.close());
}
