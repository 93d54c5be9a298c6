/**
 * `npm run screenshots [-- name …]`: the pictures of `docs/finding.md`. Brings about every way to be stuck, takes a picture of each page in
 * the Temporal UI, then does there what the page says and sees that it goes on. Needs Chromium (`CHROMIUM`, `/usr/bin/chromium`).
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { searchAttribute } from '../src/contract/names.js';
import { openInstallation } from './replay/installation.js';
import { openStuckPlace, STUCK, type Stuck, type StuckPlace, stuckEnv } from './screenshots/stuck.js';
import { STUCK_LATER } from './screenshots/stuck-later.js';
import { TemporalUi } from './screenshots/ui.js';

const PICTURES = fileURLToPath(new URL('../docs/operating', import.meta.url));
const ATTENTION_AFTER_MS = 5_000;
const WITHIN_MS = 60_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const reasonOf = async (client: Client, workflowId: string): Promise<string | undefined> => {
  const { typedSearchAttributes } = await client.workflow.getHandle(workflowId).describe();
  return typedSearchAttributes.get(searchAttribute.attentionReason);
};

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`not within ${WITHIN_MS / 1000} s: ${what}`);
    await sleep(200);
  }
}

/** The text as a person pastes it: with a name and a reason of their own. */
const filledIn = (json: string): string =>
  json.replace('<your name>', 'bob').replace('<why>', 'as agreed with the service');

/** Does what the page says, and waits until nobody is wanted for that any more. */
async function goOn(place: StuckPlace, ui: TemporalUi, { code, way }: Stuck, workflowId: string): Promise<void> {
  if ('mend' in way) {
    await way.mend(place);
  } else {
    const { runId } = await place.client.workflow.getHandle(workflowId).describe();
    const found = (await ui.showDetails({ workflowId, runId })).find(({ choice }) => choice === way.choice);
    if (!found) throw new Error(`the page of ${workflowId} holds no ${way.choice} to be pasted`);
    await ui.paste(way.update, filledIn(found.json));
  }
  await until(`${workflowId} goes on`, async () => (await reasonOf(place.client, workflowId)) !== code);
}

/** All, or those that the command line names. */
const named = process.argv.slice(2);
const chosen = [...STUCK_LATER, ...STUCK].filter(({ name }) => named.length === 0 || named.includes(name));

const batchDir = await mkdtemp(join(tmpdir(), 'screenshots-'));
const installation = await openInstallation(say, await stuckEnv(batchDir), {
  ui: true,
  attentionAfterMs: ATTENTION_AFTER_MS,
});
const place = await openStuckPlace(installation, batchDir);
const ui = await TemporalUi.open(place.uiUrl ?? '', place.client.options.namespace);
try {
  await mkdir(PICTURES, { recursive: true });
  const stuck = await Promise.all(chosen.map(async (one) => ({ one, workflowId: await one.start(place) })));
  for (const { one, workflowId } of stuck)
    await until(`${workflowId} is ${one.code}`, async () => (await reasonOf(place.client, workflowId)) === one.code);
  await ui.showList('PaymentNeedsAttention = true AND ExecutionStatus = "Running"', stuck.length);
  if (named.length === 0) await ui.picture(join(PICTURES, 'list.png'));
  for (const { one, workflowId } of stuck) {
    const { runId } = await place.client.workflow.getHandle(workflowId).describe();
    await ui.showDetails({ workflowId, runId });
    await ui.picture(join(PICTURES, `${one.name}.png`));
    await goOn(place, ui, one, workflowId);
    say(`✔ ${one.name}`);
  }
} catch (error) {
  // Closing may take minutes.
  say(`✘ ${error}`);
  throw error;
} finally {
  await ui.close();
  await place.close();
  await rm(batchDir, { recursive: true });
}
