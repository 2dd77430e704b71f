import { afterAll, vi } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

// Registered before the hooks of the file, and so run after them: the next file may run in the same process.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  removeTemporaryFolders();
});
