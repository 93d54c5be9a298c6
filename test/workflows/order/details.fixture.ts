import type { Lab } from '../../support/lab.js';

/** What the Temporal UI shows of a workflow. */
export async function detailsOf(lab: Lab, { workflowId }: { workflowId: string }): Promise<string> {
  const handle = lab.temporal.client.workflow.getHandle(workflowId);
  return (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

/** What the details hold to be pasted: the update's name and its argument, as they stand there. */
export const pasteableIn = (details: string): { update: string; json: string }[] =>
  [...details.matchAll(/^(?:\*\*|`)([a-z-]+)(?:\*\*|`)[^\n]*\n```json\n(.*?)\n```/gms)].map(
    ([, update = '', json = '']) => ({ update, json }),
  );

/** Sends it as the Temporal UI does: any JSON, to any update. */
export const paste = (lab: Lab, { workflowId }: { workflowId: string }, update: string, json: string) =>
  lab.temporal.client.workflow.getHandle(workflowId).executeUpdate(update, { args: [JSON.parse(json)] });

/** The text with what only a person can say in the place of what stands there for it. */
export const filledIn = (json: string): string =>
  json.replace('<your name>', 'ben').replace('<why>', 'as agreed with the service');
