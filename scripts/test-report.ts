import { JsonReporter, type SerializedError, type TestModule } from 'vitest/node';
import type { OtherError } from './test-counts.js';

const otherError = (file: string, { message }: SerializedError): OtherError => ({
  file,
  reason: `${`${message}`.split('\n', 1)}`,
});

/** Writes vitest's JSON report, with the errors that belong to no test: unhandled ones, and those of files and of groups. */
export class TestReporter extends JsonReporter {
  #otherErrors: OtherError[] = [];

  override async onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[] = [],
  ): Promise<void> {
    const ofFiles = modules.flatMap((module) =>
      [module, ...module.children.allSuites()].flatMap((one) =>
        one.errors().map((error) => otherError(module.moduleId, error)),
      ),
    );
    const nowhere = unhandled.map((error) => otherError(`${error.VITEST_TEST_PATH ?? ''}`, error));
    this.#otherErrors = [...ofFiles, ...nowhere];
    await super.onTestRunEnd(modules);
  }

  override async writeReport(report: string): Promise<void> {
    await super.writeReport(JSON.stringify({ ...JSON.parse(report), otherErrors: this.#otherErrors }));
  }
}
