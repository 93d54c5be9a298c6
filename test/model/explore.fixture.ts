/** One thing that happens, in words, and what the world is after it. */
export interface Step<World> {
  event: string;
  world: World;
}

/** What is explored, and where that ends. */
interface Exploring<World> {
  starts: Step<World>[];
  stepsOf: (world: World) => Step<World>[];
  /** The same for states that are one. */
  keyOf: (world: World) => string;
  /** Says in words what is wrong with a step. */
  wrong: (world: World, before: World) => string | undefined;
  /** Nothing more happens because of what is looked at, not because of the run. */
  isBound: (world: World) => boolean;
  /** So many states at most. */
  most: number;
  within?: (world: World) => boolean;
  /** Sees every state. */
  see?: (world: World) => void;
}

interface Explored {
  states: number;
  depth: number;
  seconds: number;
  /** The shortest sequence of events that breaks an invariant. */
  broken?: { rule: string; events: string[] };
}

/** States from which nothing leads to an end, or to where exploring ends. */
function stuck(before: ReadonlyMap<string, string[]>, ends: readonly string[]): string | undefined {
  const reached = new Set(ends);
  for (const key of reached) for (const from of before.get(key) ?? []) reached.add(from);
  return [...before.keys()].find((key) => !reached.has(key));
}

/** Explores every reachable state breadth-first, and says how it went under its name. */
export function explore<World>(name: string, exploring: Exploring<World>): Explored {
  const { starts, stepsOf, keyOf, wrong, isBound, most, within = () => true, see = () => {} } = exploring;
  const startedAtMs = performance.now();
  const paths = new Map<string, { from?: string; event: string }>();
  let level = starts.map(({ world }) => ({ key: keyOf(world), world }));
  for (const { event, world } of starts) paths.set(keyOf(world), { event });
  const wordsTo = (key: string | undefined): string[] => {
    const path = key === undefined ? undefined : paths.get(key);
    return path ? [...wordsTo(path.from), path.event] : [];
  };
  const before = new Map<string, string[]>(level.map(({ key }) => [key, []]));
  const ends: string[] = [];
  let depth = 0;
  let broken: Explored['broken'];
  const follow = (from: string, state: World): typeof level => {
    see(state);
    if (isBound(state)) ends.push(from);
    return stepsOf(state).flatMap(({ event, world }) => {
      const key = keyOf(world);
      if (!within(world)) {
        ends.push(from);
        return [];
      }
      const froms = before.get(key);
      if (froms) froms.push(from);
      else before.set(key, [from]);
      if (paths.has(key)) return [];
      paths.set(key, { from, event });
      const rule = wrong(world, state);
      if (rule) broken ??= { rule, events: wordsTo(key) };
      return [{ key, world }];
    });
  };
  while (level.length > 0 && paths.size < most && !broken) {
    level = level.flatMap(({ key, world }) => (broken ? [] : follow(key, world)));
    depth += 1;
  }
  if (!broken) {
    const key = stuck(before, [...ends, ...level.map((one) => one.key)]);
    if (key !== undefined) broken = { rule: 'nothing leads to an end', events: wordsTo(key) };
  }
  const explored = { states: paths.size, depth, seconds: (performance.now() - startedAtMs) / 1_000 };
  tell(name, { ...explored, ...(broken && { broken }) });
  return { ...explored, ...(broken && { broken }) };
}

function tell(name: string, { states, depth, seconds, broken }: Explored): void {
  const found = broken ? `\n  ${broken.rule}: ${broken.events.join(' → ')}` : ', no invariant broken';
  process.stderr.write(`${name}: ${states} states, depth ${depth}, ${seconds.toFixed(1)} s${found}\n`);
}
