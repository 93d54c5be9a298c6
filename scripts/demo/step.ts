import yoctoSpinner from 'yocto-spinner';

const SIGN_OF_LIFE_MS = 10_000;

/** Runs one long step so that a person sees it working: a spinner on a terminal, plain lines elsewhere. */
export async function step<T>(title: string, run: (log: (line: string) => void) => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;
  if (!process.stderr.isTTY) return plainStep(title, run, seconds);
  const spinner = yoctoSpinner({ text: title }).start();
  try {
    const result = await run((line) => {
      spinner.text = `${title}: ${line}`;
    });
    spinner.success(`${title} (${seconds()})`);
    return result;
  } catch (error) {
    spinner.error(title);
    throw error;
  }
}

async function plainStep<T>(
  title: string,
  run: (log: (line: string) => void) => Promise<T>,
  seconds: () => string,
): Promise<T> {
  let lastLineAt = Date.now();
  const write = (line: string) => {
    lastLineAt = Date.now();
    process.stderr.write(`${line}\n`);
  };
  // Only where the step itself has said nothing for a while.
  const alive = setInterval(() => {
    if (Date.now() - lastLineAt >= SIGN_OF_LIFE_MS) write(`${title}: still working, ${seconds()}`);
  }, 1_000);
  write(`${title} …`);
  try {
    const result = await run((line) => write(`${title}: ${line}`));
    write(`${title}: done (${seconds()})`);
    return result;
  } finally {
    clearInterval(alive);
  }
}
