/**
 * Makes the SDK download one of its servers: `<cli|test-server> <folder>`. A process of its own, because the download cannot
 * be cancelled and would otherwise leave a native SDK runtime behind in its caller.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir] = process.argv.slice(2);
const server = { executable: { type: 'cached-download' as const, downloadDir } };
const environment =
  kind === 'cli'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
