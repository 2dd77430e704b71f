/** @module Adds a folder to the engine's cache in one step. */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Age in ms after which a temporary folder counts as left by a killed run. */
const stale = 3_600_000;

/** A folder being filled. */
export interface Filling {
  /** An empty folder for downloads; removed at the end. */
  readonly work: string;
  /** Path of the folder to fill; it does not exist yet. */
  readonly root: string;
}

/**
 * Lets `fill` make a folder and moves it into the cache under the name that it resolves with. A killed or failed run leaves nothing that
 * counts; several runs may add the same folder at the same time. Resolves with the path of the folder.
 */
export async function addToCache(
  cache: string,
  fill: (filling: Filling) => Promise<string>,
): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await removeStale(cache);
  const work = await mkdtemp(join(cache, ".fetching-"));
  try {
    const root = join(work, "root");
    const place = join(cache, await fill({ work, root }));
    await moveInto(root, place, work);
    return place;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Moves a folder to its place atomically; a folder that a concurrent run has just put there is kept. */
async function moveInto(root: string, place: string, work: string): Promise<void> {
  // An existing folder did not work, unless it appeared during this run.
  const placedAt = await stat(place).then(
    (seen) => seen.ctimeMs,
    () => undefined,
  );
  if (placedAt !== undefined && placedAt > (await stat(work)).birthtimeMs) return;
  if (placedAt !== undefined) await rename(place, join(work, "former")).catch(() => undefined);
  await rename(root, place).catch((error: unknown) => {
    if (
      !(error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST"))
    )
      throw error;
  });
}

async function removeStale(cache: string): Promise<void> {
  for (const name of (await readdir(cache)).filter((entry) => entry.startsWith(".fetching-"))) {
    const path = join(cache, name);
    const seen = await stat(path).catch(() => undefined);
    if (seen !== undefined && Date.now() - seen.mtimeMs > stale)
      await rm(path, { recursive: true, force: true });
  }
}
