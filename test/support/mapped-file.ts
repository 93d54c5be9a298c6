import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/**
 * A process that maps a file shared and makes its pages dirty; from then on it writes to it without any time of the file
 * changing. Node cannot map files. It ends with its input, or after two minutes.
 */
const MAPPER = `
import mmap, signal, sys
signal.alarm(120)
with open(sys.argv[1], 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED)
for page in range(0, len(mapped), mmap.PAGESIZE):
    mapped[page] = mapped[page]
print('mapped', flush=True)
for line in sys.stdin:
    mapped[:] = bytes.fromhex(line)
    print('written', flush=True)
`;

/** Writes other content of the same length to a file that was mapped; the file keeps its times. */
export type WriteMapped = (content: string) => Promise<void>;

/** Maps a file until the test ends. */
export async function mapFile(file: string): Promise<WriteMapped> {
  const mapper = spawn('python3', ['-c', MAPPER, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    const ended = once(mapper, 'exit');
    mapper.stdin.end();
    await ended;
  });
  const answers = createInterface(mapper.stdout)[Symbol.asyncIterator]();
  const answered = async (expected: string): Promise<void> => {
    const { value } = await answers.next();
    if (value !== expected) throw new Error(`the file could not be ${expected} (python3 maps it)`);
  };
  await answered('mapped');
  return async (content) => {
    mapper.stdin.write(`${Buffer.from(content).toString('hex')}\n`);
    await answered('written');
  };
}
