import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, by what their tests wait for: begun last, one of them alone would make the run longer. */
const LONGEST = [
  'bulk-resets',
  'another-account',
  'unserved-account',
  'refused-and-again',
  'scheduled-batch',
  'account-of-earlier-run',
  'stale-follow-up',
  'deposit-address',
  'encryption-at-rest',
  'encryption-keys',
  'compensation-doubts',
  'batch-starter',
  'processes',
  'refused-creates',
  'unresolved-orders',
  'received-callbacks',
  'starter',
  'unreachable',
  'unknown-order',
  'address-reset',
];

/** Projects whose tests wait for a server come first, so that short tests fill the end. */
const PROJECTS = ['reliability', 'temporal', 'sandbox', 'unit'];

/** Place of a file in the run: small numbers come first. */
function rank({ moduleId, project }: TestSpecification): number {
  const name = moduleId.replace(/.*\/|(\.server)?\.test\.ts$/g, '');
  const place = LONGEST.indexOf(name);
  return PROJECTS.indexOf(project.name) * 1_000 + (place < 0 ? LONGEST.length : place);
}

/** Begins the longest test files first, and tests of one project after the other: a process serves one project only. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
