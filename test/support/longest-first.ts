import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, by what their tests wait for: begun last, one of them alone would make the run longer. */
const LONGEST = [
  'scheduled-batch',
  'received-callbacks',
  'processes',
  'unknown-order',
  'starts-and-decisions',
  'unreachable',
];

/** Projects whose tests wait for a server come first, so that short tests fill the end. */
const PROJECTS = ['reliability', 'nightly', 'temporal', 'sandbox', 'unit'];

/** Place of a file in the run: small numbers come first. */
function rank({ moduleId, project }: TestSpecification): number {
  const name = moduleId.replace(/.*\/|(\.server|\.nightly)?\.test\.ts$/g, '');
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
