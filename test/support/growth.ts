/** How much longer `work` takes for `large` than for `small`: the least of a few tries each, taken in turn. */
export async function growth<T>(work: (input: T) => unknown, small: T, large: T): Promise<number> {
  const times = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round += 1) {
    times.small = Math.min(times.small, await timeOf(work, small));
    times.large = Math.min(times.large, await timeOf(work, large));
  }
  // What takes next to no time grows by chance, for example by a collection of garbage.
  return times.large / Math.max(times.small, 20);
}

/** In ms of this process's own time, whatever else the machine does. */
async function timeOf<T>(work: (input: T) => unknown, input: T): Promise<number> {
  const before = process.cpuUsage();
  await work(input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
