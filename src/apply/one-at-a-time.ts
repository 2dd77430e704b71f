/** Lets work of one key run one after the other, and work of different keys side by side. */
export function oneAtATime(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    tails.set(
      key,
      result.catch(() => undefined),
    );
    return result;
  };
}
