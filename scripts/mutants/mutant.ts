/** One deliberate mistake in our own code, and the test that has to notice it. */
export interface Mutant {
  /** What is broken. */
  name: string;
  /** Source file, from the repository's root. */
  file: string;
  /** Text that the file holds exactly once. */
  find: string;
  replacement: string;
  /** File and full name (groups and title, separated by blanks) of the test that must fail. */
  test: { file: string; name: string };
}

/** The file's text with the mistake in it. Throws when the text to replace is not there exactly once. */
export function applyMutant({ name, file, find, replacement }: Mutant, source: string): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`mutant "${name}": its text occurs ${found} times in ${file}, not once`);
  return source.split(find).join(replacement);
}
