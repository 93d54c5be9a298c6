import type { SettingsChange } from '../../../sandbox/index.js';
import type { ActivityDeps } from '../../../src/activities/index.js';
import type { BatchInput, BatchPlan } from '../../../src/contract/batch/batch.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import { folderWith, newFolder, PAYOUT_HEADER } from '../../support/batch-files.js';
import { type AttemptInfo, openActivities } from '../activity-lab.fixture.js';

/** A card number that passes every check. */
export const CARD = '4111111111111111';
/** A valid payout. */
export const ROW: WithdrawRequest = { order_id: 'a', currency: 'usd', network: 'card', amount: '10', wallet: CARD };

/** Plans a file with these lines under the header of payouts. */
export async function planner(
  lines: readonly string[],
  {
    settings,
    caps,
    header = PAYOUT_HEADER,
  }: { settings?: SettingsChange; header?: string } & Pick<ActivityDeps, 'caps'> = {},
) {
  const batchDir = folderWith('rows.csv', [header, ...lines, ''].join('\n'));
  const reportDir = newFolder();
  const lab = await openActivities(settings, { directories: { batchDir, reportDir }, caps });
  const plan = (input: Partial<BatchInput> = {}, info?: AttemptInfo): Promise<BatchPlan> => {
    const whole = { file: { path: 'rows.csv' }, startedBy: 'ann', ...input };
    return lab.run('planBatch', { account: 'default', input: whole }, info);
  };
  return { ...lab, batchDir, reportDir, plan };
}
