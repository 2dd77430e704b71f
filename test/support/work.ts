import { Session } from "node:inspector/promises";

/** Counts from here on: V8 counts the blocks of those functions only that run for the first time while it counts. */
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/**
 * How much `work` does, the same on every machine, however busy: the blocks of JavaScript that run, of the program and of its libraries, as
 * V8 counts them for coverage, and the characters and elements that searches pass. Other built-in functions count nothing.
 */
export async function workOf(work: () => unknown): Promise<number> {
  await session.post("Profiler.takePreciseCoverage");
  const searches = countSearches();
  try {
    await work();
  } finally {
    searches.end();
  }
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ranges = result.flatMap(({ functions }) => functions.flatMap((each) => each.ranges));
  return ranges.reduce((sum, { count }) => sum + count, searches.passed());
}

/** How many times as much `work` does for `large` as for `small`. */
export async function growth<T>(work: (input: T) => unknown, small: T, large: T): Promise<number> {
  // What is set up once counts for neither.
  await work(small);
  const least = await workOf(() => work(small));
  return (await workOf(() => work(large))) / least;
}

/** Puts searches that count in the place of the built-in ones, until `end`. */
function countSearches(): { readonly passed: () => number; readonly end: () => void } {
  let passed = 0;
  const { indexOf, split } = String.prototype;
  const { exec } = RegExp.prototype;
  String.prototype.indexOf = function (sought, from = 0): number {
    const at = indexOf.call(this, sought, from);
    passed += Math.max(0, (at < 0 ? this.length : at) - from);
    return at;
  };
  Reflect.set(String.prototype, "split", function (this: string, ...given: readonly unknown[]): unknown {
    passed += this.length;
    return Reflect.apply(split, this, given);
  });
  // What replaces, matches and tests calls it as well.
  RegExp.prototype.exec = function (text): RegExpExecArray | null {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const found = exec.call(this, text);
    const failed = this.sticky ? from : text.length;
    passed += Math.max(0, (found === null ? failed : found.index + found[0].length) - from);
    return found;
  };
  const end = (): void => {
    Object.assign(String.prototype, { indexOf, split });
    RegExp.prototype.exec = exec;
  };
  return { passed: () => passed, end };
}
