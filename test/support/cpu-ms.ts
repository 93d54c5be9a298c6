/** Returns the processor time of some work in ms, which other processes do not make longer. */
export function cpuMs(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
