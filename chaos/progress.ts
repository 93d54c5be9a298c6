import yoctoSpinner from 'yocto-spinner';

const PLAIN_INTERVAL_MS = 10_000;
const SPINNER_INTERVAL_MS = 1_000;

/** Shows that a step is alive: a spinner on a terminal, a line every 10 s elsewhere. `state` is asked each time. */
export async function withProgress<T>(title: string, state: () => Promise<string>, run: () => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const line = async () => {
    const shown = await state().catch(() => 'Temporal is down');
    return `${title} ${Math.round((Date.now() - startedAt) / 1000)} s${shown && `: ${shown}`}`;
  };
  const spinner = process.stderr.isTTY ? yoctoSpinner({ text: title }).start() : undefined;
  const show = (text: string) => {
    if (spinner) spinner.text = text;
    else process.stderr.write(`${text}\n`);
  };
  const timer = setInterval(() => void line().then(show), spinner ? SPINNER_INTERVAL_MS : PLAIN_INTERVAL_MS);
  try {
    const result = await run();
    clearInterval(timer);
    const last = await line();
    if (spinner) spinner.success(last);
    else show(last);
    return result;
  } catch (error) {
    spinner?.error(title);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
