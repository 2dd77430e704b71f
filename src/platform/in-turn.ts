const last = new Map<string, Promise<unknown>>();

/** Runs the works of one key one after another, in the order they were asked for; a failed one does not stop the next. */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
  last.set(key, turn);
  try {
    return await turn;
  } finally {
    if (last.get(key) === turn) last.delete(key);
  }
}
